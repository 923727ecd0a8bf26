// One message of the AI SDK's stream, from what happens in a thread: pure, and the same chunks whether the events are
// old or come as they happen. Owns neither where a message begins in the log nor how chunks are sent.
//
// Invariants:
//   C1. The first chunk is `start` with the message's id, the last one `finish` or `error`; nothing follows.
//   C2. A message is the answer to one turn: the completion of another turn ends it. What follows an approval continues
//       the message of the approval.
//   C3. Text that was streamed and text that is recorded are one: what is missing is added, and where they differ the
//       step is shown again from its beginning.
//   C4. A tool's output is preceded by its input in the same response, wherever that begins: a client knows no other
//       call, but for those of its own request.
//   C5. The message ends when its thread is at rest: idle, closed, or waiting for a person or a time; never while a
//       call runs at a tool server.
//   C6. Text is streamed only of the completion that runs. What comes after its record is void: to show the step again
//       would take the calls away that follow the record.
import type { Delta } from '@dormouse/ports';
import type { ApiEvent } from '../../ingress-gateway/read/events.ts';
import type { ThreadMark, Watched } from '../watched.ts';
import { answerIdOf, type Chunk, type ChunkFinishReason } from './chunk.ts';

export interface MessageBeginning {
  /** The user's message whose decision begins the answer; null to begin at once. */
  readonly awaits: string | null;
  /** The id of a message that goes on; null for that of the first completion's turn. */
  readonly messageId: string | null;
  /** Its turn; null for that of the first completion. */
  readonly turnId: string | null;
  /** Calls that the client has already in this message. */
  readonly calls: readonly string[];
}

/** A step: one completion and its calls. */
interface Step {
  readonly completionId: string;
  attempt: number;
  text: string;
  reasoning: string;
  open: 'text' | 'reasoning' | null;
  /** Something that was streamed is missing here: the rest comes with the record. */
  hasGap: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

export class AiSdkEncoder {
  readonly #awaits: string | null;
  readonly #calls: Set<string>;
  /** Of calls before the response, by id. */
  readonly #earlier = new Map<string, Fields>();
  readonly #choices = new Map<string, object>();
  readonly #approvals = new Set<string>();
  #messageId: string | null;
  #turnId: string | null;
  #begun: boolean;
  #queued = false;
  #started = false;
  #over = false;
  #step: Step | null = null;
  /** The completion that runs. */
  #running: string | null = null;
  #finishReason: ChunkFinishReason = 'stop';
  #position = 0;

  constructor({ awaits, messageId, turnId, calls }: MessageBeginning) {
    this.#awaits = awaits;
    this.#messageId = messageId;
    this.#turnId = turnId;
    this.#calls = new Set(calls);
    this.#begun = awaits === null;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Takes an event of the message that is before the response. */
  pass(event: ApiEvent): void {
    this.#follow(event);
    if (event.type === 'tool_call_requested') this.#earlier.set(String(event['tool_call_id']), event);
  }

  take(frame: Watched): readonly Chunk[] {
    if (this.#over) return [];
    switch (frame.frame) {
      case 'event':
        return [...this.#event(frame.event)];
      case 'delta':
        return this.#begun && frame.data.kind !== 'slot' && frame.data.kind !== 'tool_input'
          ? [...this.#delta(frame.data)]
          : [];
      case 'choice':
        return this.#begun && frame.data.threadId !== undefined ? [...this.#choiceBelow(frame.json)] : [];
      case 'oauth':
        if (!this.#begun) return [];
        return [...this.#start(), { type: 'data-oauth', id: frame.data.toolCallId, data: frame.json }];
      case 'mark':
        return [...this.#mark(frame)];
    }
  }

  /** (C6) */
  #follow(event: ApiEvent): void {
    const { type, completion_id: completionId } = event as Fields;
    if (type === 'completion_requested') this.#running = String(completionId);
    if (type === 'completion_recorded' || type === 'completion_failed') this.#running = null;
  }

  *#event(event: ApiEvent): Generator<Chunk> {
    this.#follow(event);
    if (!this.#begun) return yield* this.#await(event);
    const fields = event as Fields;
    const { tool_call_id: callId } = fields;
    const id = typeof callId === 'string' ? callId : '';
    if (event.type === 'completion_requested' && this.#isOfAnotherTurn(fields)) return yield* this.#finish(); // (C2)
    this.#position = event.position;
    switch (event.type) {
      case 'completion_requested':
        this.#turnId ??= String(fields['turn_id']);
        return yield* this.#startStep(String(fields['completion_id']));
      case 'completion_recorded':
        return yield* this.#record(fields);
      case 'completion_failed':
        return yield* this.#fail(`${String(fields['code'])}: ${String(fields['detail'])}`);
      case 'budget_exceeded':
        return fields['budget'] === 'repeated_call'
          ? undefined
          : yield* this.#fail(`BUDGET_EXCEEDED: ${String(fields['budget'])}`);
      case 'tool_call_requested':
        return yield* this.#call(id, fields);
      case 'tool_call_settled':
        return yield* this.#settle(id, fields);
      case 'choice_requested':
        return yield* this.#ask(id, fields);
      case 'choice_settled':
        return yield* this.#answer(fields);
      case 'turn_interrupted':
        this.#finishReason = 'other';
        return yield* [...this.#start(), { type: 'abort' } as const];
      default:
        return undefined;
    }
  }

  /** Until the message that is answered has been decided. */
  *#await(event: ApiEvent): Generator<Chunk> {
    if ((event as Fields)['message_id'] !== this.#awaits) return;
    if (event.type === 'message_queued') this.#queued = true;
    if (event.type === 'message_accepted') this.#begun = true;
    if (event.type === 'message_refused')
      yield* this.#fail(`${String((event as Fields)['code'])}: ${String((event as Fields)['detail'])}`);
    this.#position = event.position;
  }

  #isOfAnotherTurn(fields: Fields): boolean {
    return this.#turnId !== null && fields['turn_id'] !== this.#turnId;
  }

  *#start(): Generator<Chunk> {
    if (this.#started) return;
    this.#started = true;
    this.#messageId ??= answerIdOf(this.#turnId ?? this.#awaits ?? '');
    yield { type: 'start', messageId: this.#messageId };
  }

  *#startStep(completionId: string): Generator<Chunk> {
    yield* this.#start();
    if (this.#step?.completionId === completionId) return;
    yield* this.#finishStep();
    this.#step = { completionId, attempt: 0, text: '', reasoning: '', open: null, hasGap: false };
    yield { type: 'start-step' };
  }

  *#finishStep(): Generator<Chunk> {
    if (this.#step === null) return;
    yield* this.#close(this.#step);
    this.#step = null;
    yield { type: 'finish-step' };
  }

  *#delta({ completionId, attempt, offset, kind, text }: Delta): Generator<Chunk> {
    if (completionId !== this.#running) return; // (C6)
    yield* this.#startStep(completionId);
    const step = this.#step;
    if (step === null || (kind !== 'text' && kind !== 'reasoning') || attempt < step.attempt) return;
    if (attempt > step.attempt) yield* this.#reset(step, attempt);
    if (offset > step[kind].length) step.hasGap = true;
    const fresh = text.slice(step[kind].length - offset);
    const isInOrder = kind === 'text' || step.text === '';
    if (!step.hasGap && isInOrder && fresh !== '') yield* this.#show(step, kind, fresh);
    else if (fresh !== '') step.hasGap = true;
  }

  /** (C3) */
  *#reset(step: Step, attempt: number): Generator<Chunk> {
    if (step.text + step.reasoning !== '') yield { type: 'reset-step' };
    Object.assign(step, { attempt, text: '', reasoning: '', open: null, hasGap: false });
  }

  *#show(step: Step, kind: 'text' | 'reasoning', text: string): Generator<Chunk> {
    const id = `${step.completionId}:${kind}`;
    if (step.open !== kind) {
      yield* this.#close(step);
      step.open = kind;
      yield { type: `${kind}-start`, id };
    }
    step[kind] += text;
    yield { type: `${kind}-delta`, id, delta: text };
  }

  *#close(step: Step): Generator<Chunk> {
    if (step.open !== null) yield { type: `${step.open}-end`, id: `${step.completionId}:${step.open}` };
    step.open = null;
  }

  /** (C3) */
  *#record(fields: Fields): Generator<Chunk> {
    const { text = '', reasoning = '' } = fields['message'] as { readonly text?: string; readonly reasoning?: string };
    yield* this.#startStep(String(fields['completion_id']));
    const step = this.#step;
    if (step === null) return;
    const goesOn = text.startsWith(step.text) && reasoning.startsWith(step.reasoning);
    const isInOrder = step.text === '' || step.reasoning.length === reasoning.length;
    if (!goesOn || !isInOrder) yield* this.#reset(step, step.attempt);
    for (const [kind, whole] of [
      ['reasoning', reasoning],
      ['text', text],
    ] as const)
      if (whole.length > step[kind].length) yield* this.#show(step, kind, whole.slice(step[kind].length));
    yield* this.#close(step);
    this.#finishReason = finishReasons[String(fields['finish_reason'])] ?? 'other';
  }

  *#call(toolCallId: string, fields: Fields): Generator<Chunk> {
    yield* this.#start();
    this.#calls.add(toolCallId);
    const { operation: toolName, arguments: input } = fields;
    yield {
      ...{ type: 'tool-input-available', toolCallId, toolName: String(toolName), input },
      ...{ dynamic: true, providerExecuted: true },
    };
  }

  /** (C4) */
  *#known(toolCallId: string): Generator<Chunk> {
    if (this.#calls.has(toolCallId)) return;
    yield* this.#call(toolCallId, this.#earlier.get(toolCallId) ?? { operation: 'earlier_call', arguments: {} });
  }

  *#settle(toolCallId: string, fields: Fields): Generator<Chunk> {
    yield* this.#start();
    yield* this.#known(toolCallId);
    const { outcome, content } = fields;
    if (outcome === 'denied') return yield { type: 'tool-output-denied', toolCallId };
    if (outcome === 'result')
      return yield { type: 'tool-output-available', toolCallId, output: outputOf(content), dynamic: true };
    const errorText = textOf(content).replace(/^Error: /, '');
    return yield { type: 'tool-output-error', toolCallId, errorText, dynamic: true };
  }

  *#ask(toolCallId: string, fields: Fields): Generator<Chunk> {
    const id = String(fields['choice_id']);
    yield* this.#start();
    if (fields['kind'] === 'approval') {
      yield* this.#known(toolCallId);
      this.#approvals.add(id);
      return yield { type: 'tool-approval-request', approvalId: id, toolCallId };
    }
    const { prompt, choices, default: standard, expires_at } = fields;
    const data = { id, kind: 'tool', tool_call_id: toolCallId, prompt, choices, default: standard, expires_at };
    this.#choices.set(id, data);
    return yield { type: 'data-choice', id, data };
  }

  *#answer(fields: Fields): Generator<Chunk> {
    const { choice_id: choiceId, decision, selected, by, reason } = fields;
    const id = String(choiceId);
    yield* this.#start();
    const asked = this.#choices.get(id);
    if (asked !== undefined) yield { type: 'data-choice', id, data: { ...asked, settled: { selected, by } } };
    if (!this.#approvals.has(id)) return;
    const approved = decision === 'allow' || decision === 'allow_for_thread';
    const why = typeof reason === 'string' ? { reason } : {};
    yield { type: 'tool-approval-response', approvalId: id, approved, ...why };
  }

  *#choiceBelow(json: object): Generator<Chunk> {
    yield* this.#start();
    yield { type: 'data-choice', id: String((json as Fields)['id']), data: json };
  }

  /** (C5) */
  *#mark({ data: { atRest, waitingOn } }: ThreadMark): Generator<Chunk> {
    if (!atRest || (!this.#begun && !this.#queued)) return;
    yield* this.#start();
    yield* this.#finishStep();
    if (waitingOn.length > 0) yield { type: 'data-waiting', data: waitingOn, transient: true };
    yield* this.#finish();
  }

  *#finish(): Generator<Chunk> {
    yield* this.#start();
    yield* this.#finishStep();
    this.#over = true;
    yield { type: 'finish', finishReason: this.#finishReason, messageMetadata: { position: this.#position } };
  }

  *#fail(errorText: string): Generator<Chunk> {
    yield* this.#start();
    yield* this.#finishStep();
    this.#over = true;
    yield { type: 'error', errorText };
  }
}

const finishReasons: Readonly<Record<string, ChunkFinishReason>> = {
  ...{ stop: 'stop', length: 'length', error: 'error', other: 'other' },
  ...{ tool_calls: 'tool-calls', content_filter: 'content-filter' },
};

type Items = readonly { readonly type: string; readonly text?: string }[];

const textOf = (content: unknown): string => (content as Items).map(({ text = '' }) => text).join('\n');

/** The text of a result that is nothing else; all items of any other. */
const outputOf = (content: unknown): unknown =>
  (content as Items).every(({ type }) => type === 'text') ? textOf(content) : content;
