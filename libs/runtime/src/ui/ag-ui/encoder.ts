// One run of AG-UI 1.0, from what happens in a thread. Pure: the steps of an answer are those of the AI SDK's encoder,
// under the names of this protocol.
//
// Invariants:
//   G1. The first event is RUN_STARTED, the last one RUN_FINISHED or RUN_ERROR; what was started before it has ended.
//   G2. A run that waits for people ends with the outcome `interrupt`, and names every open question of the thread and
//       of those below it; its id is the choice's. Logins are events of their own: they end at their URL.
//   G3. Text of another attempt is a message of its own: this protocol cannot take a message back.
import type { Chunk } from '../ai-sdk/chunk.ts';
import { AiSdkEncoder, type MessageBeginning } from '../ai-sdk/encoder.ts';
import type { Watched } from '../watched.ts';

export interface RunName {
  readonly threadId: string;
  readonly runId: string;
}

export type RunEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

type Fields = Readonly<Record<string, unknown>>;

const approvalAnswer = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' }, arguments: { type: 'object' } },
  required: ['approved'],
};

const choiceAnswer = (choices: unknown): object => ({
  type: 'object',
  properties: {
    selected: { type: 'integer', minimum: 0, ...(Array.isArray(choices) ? { maximum: choices.length - 1 } : {}) },
  },
  required: ['selected'],
});

export class AgUiEncoder {
  readonly #run: RunName;
  readonly #answer: AiSdkEncoder;
  /** Of questions that were shown, by id. */
  readonly #shown = new Map<string, Fields>();
  #begun = false;
  #waiting: readonly Fields[] = [];
  #wasStopped = false;
  #attempts = 0;
  /** The message that is being sent. */
  #open: { readonly kind: 'text' | 'reasoning'; readonly messageId: string } | null = null;

  constructor(run: RunName, beginning: MessageBeginning) {
    this.#run = run;
    this.#answer = new AiSdkEncoder(beginning);
  }

  get isOver(): boolean {
    return this.#answer.isOver;
  }

  take(frame: Watched): readonly RunEvent[] {
    const started = this.#begun ? [] : [startedRun(this.#run)];
    this.#begun = true;
    return [...started, ...this.#answer.take(frame).flatMap((chunk) => [...this.#translate(chunk)])];
  }

  *#translate(chunk: Chunk): Generator<RunEvent> {
    switch (chunk.type) {
      case 'start':
      case 'finish-step':
      case 'start-step':
      case 'tool-approval-response':
        return;
      case 'reset-step': // (G3)
        this.#attempts += 1;
        return yield* this.#close();
      case 'text-start':
        return yield* this.#start('text', chunk.id);
      case 'reasoning-start':
        return yield* this.#start('reasoning', chunk.id);
      case 'text-delta':
      case 'reasoning-delta': {
        const { messageId } = this.#open ?? { messageId: chunk.id };
        const type = chunk.type === 'text-delta' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT';
        return yield { type, messageId, delta: chunk.delta };
      }
      case 'text-end':
      case 'reasoning-end':
        return yield* this.#close();
      case 'tool-input-available': {
        const { toolCallId, toolName: toolCallName, input } = chunk;
        yield* this.#close();
        yield { type: 'TOOL_CALL_START', toolCallId, toolCallName };
        yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(input) };
        return yield { type: 'TOOL_CALL_END', toolCallId };
      }
      case 'tool-output-available': {
        const { output } = chunk;
        return yield resultOf(chunk.toolCallId, typeof output === 'string' ? output : JSON.stringify(output));
      }
      case 'tool-output-error':
        return yield resultOf(chunk.toolCallId, `Error: ${chunk.errorText}`);
      case 'tool-output-denied':
        return yield resultOf(chunk.toolCallId, 'Error: denied');
      case 'tool-approval-request':
        this.#shown.set(chunk.approvalId, { tool_call_id: chunk.toolCallId });
        return;
      case 'data-choice':
        this.#shown.set(String(chunk.id), chunk.data as Fields);
        return;
      case 'data-oauth':
        return yield { type: 'CUSTOM', name: 'oauth', value: chunk.data };
      case 'data-waiting':
        this.#waiting = chunk.data as readonly Fields[];
        return;
      case 'abort':
        this.#wasStopped = true;
        return;
      case 'error':
        yield* this.#close();
        return yield failedRun(chunk.errorText);
      case 'finish':
        yield* this.#close();
        return yield { type: 'RUN_FINISHED', ...this.#run, outcome: this.#outcome() };
    }
  }

  *#start(kind: 'text' | 'reasoning', id: string): Generator<RunEvent> {
    yield* this.#close();
    const messageId = this.#attempts === 0 ? id : `${id}:${this.#attempts + 1}`;
    this.#open = { kind, messageId };
    if (kind === 'text') return yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' };
    yield { type: 'REASONING_START', messageId };
    return yield { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' };
  }

  *#close(): Generator<RunEvent> {
    if (this.#open === null) return;
    const { kind, messageId } = this.#open;
    this.#open = null;
    if (kind === 'text') return yield { type: 'TEXT_MESSAGE_END', messageId };
    yield { type: 'REASONING_MESSAGE_END', messageId };
    return yield { type: 'REASONING_END', messageId };
  }

  /** (G2) */
  #outcome(): object {
    const interrupts = this.#waiting.flatMap((waiting) => this.#interruptOf(waiting));
    if (interrupts.length > 0) return { type: 'interrupt', interrupts };
    return { type: this.#wasStopped ? 'cancelled' : 'success' };
  }

  #interruptOf({ kind, id, operation, deadline: expiresAt }: Fields): readonly object[] {
    if (kind !== 'approval' && kind !== 'choice') return [];
    const { prompt, choices, tool_call_id: toolCallId, thread_id: threadId } = this.#shown.get(String(id)) ?? {};
    return [
      {
        ...{ id, reason: kind, message: prompt ?? `Allow ${String(operation)}?`, expiresAt },
        ...(toolCallId === undefined ? {} : { toolCallId }),
        responseSchema: kind === 'approval' ? approvalAnswer : choiceAnswer(choices),
        metadata: {
          operation,
          ...(choices === undefined ? {} : { choices }),
          ...(threadId === undefined ? {} : { thread_id: threadId }),
        },
      },
    ];
  }
}

export const startedRun = (run: RunName): RunEvent => ({ type: 'RUN_STARTED', ...run });

export const failedRun = (text: string): RunEvent => {
  const code = /^([A-Z_]+): /.exec(text)?.[1];
  return { type: 'RUN_ERROR', message: text, ...(code === undefined ? {} : { code }) };
};

const resultOf = (toolCallId: string, content: string): RunEvent => ({
  ...{ type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}:result`, toolCallId, content, role: 'tool' },
});
