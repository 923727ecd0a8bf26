// Whole messages for a page that opens a chat: the chunks of its answers, put together as a client would.
import type { ApiEvent } from '../../ingress-gateway/read/events.ts';
import type { ThreadMark } from '../watched.ts';
import { answerIdOf, type Chunk } from './chunk.ts';
import { AiSdkEncoder } from './encoder.ts';

type Part = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
  readonly metadata?: object;
}

/** An answer that is being put together. */
class Answer {
  readonly encoder: AiSdkEncoder;
  readonly #parts: Part[];
  #id: string;
  #metadata: object | null = null;

  /** `before`: the answer to the same turn so far, whose last completion failed. */
  constructor(turnId: string, before: readonly Part[] = []) {
    this.#id = answerIdOf(turnId);
    this.#parts = [...before];
    const calls = before.flatMap(({ toolCallId }) => (typeof toolCallId === 'string' ? [toolCallId] : []));
    this.encoder = new AiSdkEncoder({ awaits: null, messageId: this.#id, turnId, calls });
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  get message(): UiMessage {
    const about = { id: this.#id, role: 'assistant', parts: this.#parts } as const;
    return this.#metadata === null ? about : { ...about, metadata: this.#metadata };
  }

  add(chunk: Chunk): void {
    switch (chunk.type) {
      case 'start':
        this.#id = chunk.messageId;
        return;
      case 'start-step':
        this.#parts.push({ type: 'step-start' });
        return;
      case 'text-start':
        this.#parts.push({ type: 'text', text: '', state: 'streaming' });
        return;
      case 'reasoning-start':
        this.#parts.push({ type: 'reasoning', id: chunk.id, text: '', state: 'streaming' });
        return;
      case 'text-delta':
      case 'reasoning-delta':
        return this.#change(chunk.type.slice(0, -'-delta'.length), (part) => ({
          text: `${String(part['text'])}${chunk.delta}`,
        }));
      case 'text-end':
      case 'reasoning-end':
        return this.#change(chunk.type.slice(0, -'-end'.length), () => ({ state: 'done' }));
      case 'tool-input-available': {
        const { toolCallId, toolName, input } = chunk;
        const about = { toolName, toolCallId, state: 'input-available', input, providerExecuted: true };
        this.#parts.push({ type: 'dynamic-tool', ...about });
        return;
      }
      case 'tool-approval-request':
        return this.#call(chunk.toolCallId, { state: 'approval-requested', approval: { id: chunk.approvalId } });
      case 'tool-approval-response': {
        const { approvalId: id, approved, reason } = chunk;
        const part = this.#parts.find(({ approval }) => (approval as { readonly id?: string } | undefined)?.id === id);
        const approval = { id, approved, ...(reason === undefined ? {} : { reason }) };
        return this.#call(String(part?.['toolCallId']), { state: 'approval-responded', approval });
      }
      case 'tool-output-available':
        return this.#call(chunk.toolCallId, { state: 'output-available', output: chunk.output });
      case 'tool-output-error':
        return this.#call(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
      case 'tool-output-denied':
        return this.#call(chunk.toolCallId, { state: 'output-denied' });
      case 'data-choice':
      case 'data-oauth': {
        const { type, id, data } = chunk;
        const at = this.#parts.findIndex((part) => part.type === type && part['id'] === id);
        this.#parts.splice(at < 0 ? this.#parts.length : at, 1, { type, id, data });
        return;
      }
      case 'finish':
        this.#metadata = chunk.messageMetadata;
        return;
      case 'reset-step': // no event brings one: only what was streamed is shown again
      case 'finish-step':
      case 'data-waiting':
      case 'abort':
      case 'error':
    }
  }

  #change(type: string, change: (part: Part) => object): void {
    const at = this.#parts.findLastIndex((part) => part.type === type);
    const part = this.#parts[at];
    if (part !== undefined) this.#parts[at] = { ...part, ...change(part) };
  }

  #call(toolCallId: string, changed: object): void {
    const at = this.#parts.findLastIndex((part) => part['toolCallId'] === toolCallId);
    const part = this.#parts[at];
    if (part !== undefined) this.#parts[at] = { ...part, ...changed };
  }
}

/** Puts messages together, event by event, and keeps the newest `messagesMax`. */
export class UiHistory {
  readonly #messagesMax: number;
  readonly #blobUrl: (sha256: string) => string;
  #messages: UiMessage[] = [];
  #answer: Answer | null = null;

  constructor(messagesMax: number, blobUrl: (sha256: string) => string) {
    this.#messagesMax = messagesMax;
    this.#blobUrl = blobUrl;
  }

  take(event: ApiEvent): void {
    if (event.type === 'message_accepted') {
      this.#endAnswer();
      const { message_id: id, content } = event as Readonly<Record<string, unknown>>;
      this.#push({ id: String(id), role: 'user', parts: this.#userParts(content) });
      return;
    }
    if (event.type === 'completion_requested' && this.#answer?.encoder.isOver === true) this.#endAnswer(); // it failed
    this.#answer ??= this.#answerTo(event);
    this.#add(this.#answer, event);
    if (!this.#answer.encoder.isOver || event.type !== 'completion_requested') return;
    this.#endAnswer();
    this.#answer = this.#answerTo(event);
    this.#add(this.#answer, event);
  }

  #answerTo(event: ApiEvent): Answer {
    const turnId = String(event['turn_id']);
    const last = this.#messages.at(-1);
    if (last?.id !== answerIdOf(turnId)) return new Answer(turnId);
    this.#messages.pop();
    return new Answer(turnId, last.parts);
  }

  /** `mark`: the thread as it is now; the last answer is complete if it is at rest. */
  messages(mark: ThreadMark): readonly UiMessage[] {
    if (this.#answer?.isEmpty === false) for (const chunk of this.#answer.encoder.take(mark)) this.#answer.add(chunk);
    this.#endAnswer();
    return this.#messages.slice(-this.#messagesMax);
  }

  #add(answer: Answer, event: ApiEvent): void {
    for (const chunk of answer.encoder.take({ frame: 'event', event })) answer.add(chunk);
  }

  #endAnswer(): void {
    if (this.#answer?.isEmpty === false) this.#push(this.#answer.message);
    this.#answer = null;
  }

  #push(message: UiMessage): void {
    this.#messages.push(message);
    if (this.#messages.length > 2 * this.#messagesMax) this.#messages = this.#messages.slice(-this.#messagesMax);
  }

  #userParts(content: unknown): readonly Part[] {
    return (content as readonly Readonly<Record<string, unknown>>[]).map((item): Part => {
      if (item['type'] === 'text') return { type: 'text', text: String(item['text']), state: 'done' };
      const mediaType = String(item['media_type']);
      const { blob, data } = item;
      const url = typeof data === 'string' ? `data:${mediaType};base64,${data}` : this.#blobUrl(String(blob));
      return { type: 'file', mediaType, url };
    });
  }
}
