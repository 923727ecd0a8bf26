// What one attempt of a completion has said so far, part by part. Owns the sums, their bounds and the deltas' places.
//
// Invariants:
//   S1. Everything kept of an answer is counted: its words, its arguments, the ids and names of its calls, the calls.
//   S2. A provider's id of a call and the name of a tool are bounded here, and so is what they add to the store.
import { type Delta, ModelFault, type ModelPart } from '@dormouse/ports';
import { idCharactersMax, nameCharactersMax } from '@dormouse/protocol';
import { threadLimits } from '@dormouse/thread';

export interface RawCall {
  readonly providerCallId: string;
  readonly operation: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}

export class PartialAnswer {
  /** 1, 2, 3, …; 0 before the first. */
  attempt: number;
  text = '';
  reasoning = '';
  readonly calls: RawCall[] = [];
  finish: Omit<Extract<ModelPart, { readonly part: 'finish' }>, 'part'> | null = null;
  /** Wall clock, milliseconds; null before the first part. */
  firstPartAt: number | null = null;
  characters = 0;
  /** Parts received, of any kind. */
  parts = 0;
  #toolInputs: Map<number, string> | null = null;
  /** Characters of arguments that were streamed and whose call has not come yet: they are counted once. */
  #streamedAhead = 0;

  constructor(attempt: number) {
    this.attempt = attempt;
  }

  /** Adds a part; answers the delta to show, or null when nothing of it is shown. */
  add(completionId: string, part: ModelPart): Delta | null {
    this.parts += 1;
    switch (part.part) {
      case 'text':
        this.text += part.text;
        return this.#delta(completionId, 'text', 0, this.text.length - part.text.length, part.text);
      case 'reasoning':
        this.reasoning += part.text;
        return this.#delta(completionId, 'reasoning', 0, this.reasoning.length - part.text.length, part.text);
      case 'tool_input':
        this.#streamedAhead += part.text.length;
        return this.#delta(
          completionId,
          'tool_input',
          part.index,
          this.#toolInputOffset(part.index, part.text),
          part.text,
        );
      case 'tool_call':
        this.calls.push(boundedCall(part));
        this.characters += part.providerCallId.length + part.operation.length;
        this.#countOnce(part.arguments.length);
        return null;
      case 'finish':
        this.finish = part;
        return null;
    }
  }

  /** Why reading stops here, or null. (S1) */
  excess(charactersMax: number): ModelFault | null {
    const { callsPerAnswerMax } = threadLimits;
    if (this.calls.length > callsPerAnswerMax || (this.#toolInputs?.size ?? 0) > callsPerAnswerMax)
      return excess('TOO_MANY_CALLS', `the model asked for more than ${callsPerAnswerMax} calls at once`);
    return this.characters > charactersMax
      ? excess('MODEL_FAILED', `the completion is larger than ${charactersMax} characters`)
      : null;
  }

  /** Everything so far, under the next number: it replaces whatever was shown, here or by another process. */
  sayAgain(completionId: string): readonly Delta[] {
    this.attempt += 1;
    const { attempt } = this;
    const whole = (kind: Delta['kind'], index: number, text: string): Delta[] =>
      text === '' ? [] : [{ completionId, attempt, offset: 0, kind, index, text }];
    return [
      ...whole('reasoning', 0, this.reasoning),
      ...whole('text', 0, this.text),
      ...[...(this.#toolInputs ?? [])].flatMap(([index, text]) => whole('tool_input', index, text)),
    ];
  }

  #delta(completionId: string, kind: Delta['kind'], index: number, offset: number, text: string): Delta | null {
    this.characters += text.length;
    return text === '' ? null : { completionId, attempt: this.attempt, offset, kind, index, text };
  }

  #countOnce(length: number): void {
    const known = Math.min(length, this.#streamedAhead);
    this.#streamedAhead -= known;
    this.characters += length - known;
  }

  #toolInputOffset(index: number, text: string): number {
    this.#toolInputs ??= new Map();
    const before = this.#toolInputs.get(index) ?? '';
    this.#toolInputs.set(index, before + text);
    return before.length;
  }
}

const excess = (code: ModelFault['code'], detail: string): ModelFault =>
  new ModelFault({ code, detail, retryable: false });

/** An id that no invocation can carry becomes empty; a name that is too long is cut, and stays invalid. (S2) R13 */
const boundedCall = ({ providerCallId, operation, arguments: text }: RawCall): RawCall => ({
  providerCallId: providerCallId.length <= idCharactersMax && providerCallId.isWellFormed() ? providerCallId : '',
  operation: (operation.length <= nameCharactersMax
    ? operation
    : `${operation.slice(0, nameCharactersMax)}…`
  ).toWellFormed(),
  arguments: text,
});
