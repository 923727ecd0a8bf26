// The prompt of one completion, by reference over its lane's messages: read only when the model reads, never copied.
//
// Invariants:
//   P1. A prompt is the first `length` messages of the transcript, for ever: what is appended later is not in it. I-15
//   P2. Messages that are no longer in memory are folded from the log again, in pages; a read that fails throws. R54
//   P3. References to large payloads are resolved here, so that a model sees text and images, never a hash.
import { type Blobs, Fault, type Prompt, type Stores, type ThreadKey } from '@dormouse/ports';
import {
  type Content,
  type ContentItem,
  emptyTail,
  GrowingLists,
  hasReference,
  type ModelMessage,
} from '@dormouse/thread';
import { openCommit } from '../../log/envelope.ts';
import { commitsFrom, foldTranscript, type Folds } from '../state/thread-state.ts';
import type { TranscriptWindow } from '../state/transcript-window.ts';

export interface PromptSources extends Pick<Stores, 'log' | 'blobs'> {
  readonly folds: Pick<Folds, 'extendTranscript'>;
  readonly settings: { readonly loadPageCommits: number };
}

/** One after the other. (P1) */
export function joinedPrompts(before: Prompt, own: Prompt): Prompt {
  const last = async (count: number): Promise<readonly ModelMessage[]> =>
    count <= own.length ? own.last(count) : [...(await before.last(count - own.length)), ...(await own.all())];
  const length = before.length + own.length;
  return { length, last, all: () => last(length) };
}

/** Of messages in memory. */
export function promptOfMessages(sources: PromptSources, key: ThreadKey, messages: readonly ModelMessage[]): Prompt {
  const { length } = messages;
  const last = (count: number): Promise<readonly ModelMessage[]> =>
    withPayloads(sources.blobs, key, messages.slice(Math.max(0, length - count)));
  return { length, last, all: () => last(length) };
}

export function promptOf(sources: PromptSources, key: ThreadKey, window: TranscriptWindow, length: number): Prompt {
  async function from(ordinal: number): Promise<readonly ModelMessage[]> {
    const messages = window.slice(ordinal, length) ?? (await readMessages(sources, key, window, length)).slice(ordinal);
    return messages.some(hasReference) ? withPayloads(sources.blobs, key, messages) : messages;
  }
  return { length, last: (count) => from(Math.max(0, length - count)), all: () => from(0) };
}

/** Folds the transcript from the first commit on, as far as this prompt needs, and puts the older part back. (P2) */
async function readMessages(
  sources: PromptSources,
  key: ThreadKey,
  window: TranscriptWindow,
  length: number,
): Promise<readonly ModelMessage[]> {
  const messages: ModelMessage[] = [];
  const lists = new GrowingLists();
  let tail = emptyTail;
  for await (const commit of commitsFrom(sources, key, 0)) {
    if (messages.length >= length) break;
    const step = foldTranscript(sources.folds, tail, openCommit(commit).events, lists);
    tail = step.tail;
    for (const message of step.messages) messages.push(message);
  }
  if (messages.length < length) throw new Fault('STATE_UNAVAILABLE', `the log of ${key.thread} ends before the prompt`);
  window.restore(messages.slice(0, window.from));
  return messages.slice(0, length);
}

async function withPayloads(
  blobs: Blobs,
  key: ThreadKey,
  messages: readonly ModelMessage[],
): Promise<readonly ModelMessage[]> {
  const resolved: ModelMessage[] = [];
  for (const message of messages)
    resolved.push(hasReference(message) ? await resolveMessage(blobs, key, message) : message);
  return resolved;
}

async function resolveMessage(blobs: Blobs, key: ThreadKey, message: ModelMessage): Promise<ModelMessage> {
  switch (message.role) {
    case 'user':
      return { ...message, content: await resolveContent(blobs, key, message.content) };
    case 'assistant':
      return message;
    case 'tool': {
      const resolved = message.results.map(async (result) => ({
        ...result,
        content: await resolveContent(blobs, key, result.content),
      }));
      return { ...message, results: await Promise.all(resolved) };
    }
  }
}

async function resolveContent(blobs: Blobs, key: ThreadKey, content: Content): Promise<Content> {
  return Promise.all(content.map((item) => resolveItem(blobs, key, item)));
}

async function resolveItem(blobs: Blobs, key: ThreadKey, item: ContentItem): Promise<ContentItem> {
  if (!('blob' in item) || item.blob === undefined) return item;
  const stored = await blobs.get(key.tenant, item.blob, key.thread);
  if (stored === null) throw new Fault('STATE_UNAVAILABLE', `payload ${item.blob} is missing`);
  const bytes = Buffer.from(stored.bytes.buffer, stored.bytes.byteOffset, stored.bytes.byteLength);
  return item.type === 'text'
    ? { type: 'text', text: bytes.toString('utf8') }
    : { type: 'image', mediaType: item.mediaType, data: bytes.toString('base64') };
}
