/**
 * Owns: questions that wait for a person, and the route where their answers arrive.
 *
 * C1. `response_url` is ours, random, and good for one answer; whoever posts it again is told that all is well. T43
 * C2. A question ends in a valid index, or in an error for the handler: bad answer, no answer, call over. T43
 */
import { randomBytes } from 'node:crypto';
import { parseChoiceAnswer } from '@dormouse/protocol';
import type { Choice, Question } from './tool.ts';
import { ToolError } from './tool-output.ts';

const timeoutMsDefault = 7_200_000;
const answeredRememberedMax = 10_000;

export const choicePath = '/choice/';

export interface Choices {
  /** `send` gets the path of the answer. @throws ToolError (C2), RangeError for a question that cannot be asked */
  readonly ask: (
    callId: string,
    question: Question,
    signal: AbortSignal,
    send: (path: string) => void,
  ) => Promise<Choice>;
  /** The status for who posted an answer. */
  readonly answer: (path: string, json: unknown) => number;
}

export function createChoices(): Choices {
  const open = new Map<string, { readonly callId: string; readonly take: (selected: unknown) => void }>();
  const answered = new Set<string>();

  function close(path: string): void {
    open.delete(path);
    answered.add(path);
    const [oldest] = answered;
    if (answered.size > answeredRememberedMax && oldest !== undefined) answered.delete(oldest);
  }

  return {
    async ask(callId, question, signal, send) {
      checkQuestion(question);
      const path = `${choicePath}${randomBytes(24).toString('base64url')}`; // (C1)
      let timer: NodeJS.Timeout | undefined;
      let stop = (): void => {};
      try {
        return await new Promise<Choice>((resolve, reject) => {
          stop = () => reject(new ToolError('the call ended before its question was answered.'));
          timer = setTimeout(
            () => reject(new ToolError('the question was not answered in time. Call again to ask it again.')),
            question.timeoutMs ?? timeoutMsDefault,
          );
          const take = (selected: unknown): void => {
            const label = typeof selected === 'number' ? question.choices[selected] : undefined;
            if (label === undefined)
              reject(new ToolError('the answer was none of the choices. Call again to ask again.'));
            else resolve({ index: Number(selected), label });
          };
          open.set(path, { callId, take });
          signal.addEventListener('abort', stop, { once: true });
          if (signal.aborted) stop();
          else send(path);
        });
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        close(path);
      }
    },
    answer(path, json) {
      const question = open.get(path);
      if (question === undefined) return answered.has(path) ? 200 : 404; // (C1)
      const parsed = parseChoiceAnswer(json);
      if (parsed.ok && parsed.answer.id !== question.callId) return 403;
      question.take(parsed.ok ? parsed.answer.selected : undefined); // (C2)
      close(path);
      return 200;
    },
  };
}

/** Defects that `encodeCallback` would find too, told in the words of who asks. */
function checkQuestion({ choices, default: fallback }: Question): void {
  if (choices.length === 0) throw new RangeError('a question needs at least one choice');
  if (choices[fallback] === undefined) throw new RangeError('the default must be the index of a choice');
}
