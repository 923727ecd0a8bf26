// The events of one thread that this page has, by position: loaded in chunks where a reader looks, grown by the stream.
//
// Invariants:
//   E1. A chunk holds the events of `chunkSize` positions, without a gap from its first one on; it is replaced, never
//       changed, when it grows.
//   E2. A chunk is asked for once at a time; a failed request may be asked again.
//   E3. Memory is bounded: beyond `chunksMax`, the chunks that were loaded first are dropped, never the last.
import { isEvent, type ThreadEvent } from '@dormouse/client';
import { createListeners, type Listeners } from '../../api/listeners.ts';

export const chunkSize = 200;
const chunksMax = 150;

/** What is known of a tool call from the events that are here. */
export interface CallRecord {
  readonly requested?: ThreadEvent;
  readonly settled?: ThreadEvent;
  readonly choice?: ThreadEvent;
  readonly choiceSettled?: ThreadEvent;
}

export interface EventLog {
  /** The last position that is known. */
  readonly length: number;
  /** Changes with every change: what readers compare. */
  readonly version: number;
  readonly event: (position: number) => ThreadEvent | undefined;
  readonly chunk: (index: number) => readonly ThreadEvent[] | undefined;
  readonly call: (toolCallId: string) => CallRecord;
  /** Loads a chunk that is missing; resolves when it is here. */
  readonly want: (index: number) => Promise<void>;
  readonly append: (event: ThreadEvent) => void;
  readonly subscribe: Listeners['subscribe'];
}

export type LoadPage = (after: number, limit: number) => Promise<readonly ThreadEvent[]>;

export const chunkOf = (position: number): number => Math.floor((position - 1) / chunkSize);

export function createEventLog(load: LoadPage, knownLength: number): EventLog {
  const chunks = new Map<number, readonly ThreadEvent[]>();
  const asked = new Map<number, Promise<void>>();
  const calls = new Map<string, CallRecord>();
  const choices = new Map<string, string>();
  const listeners = createListeners();
  let length = knownLength;
  let version = 0;

  const changed = (): void => {
    version += 1;
    listeners.call();
  };

  const put = (index: number, events: readonly ThreadEvent[]): void => {
    chunks.delete(index);
    chunks.set(index, events);
    for (const old of chunks.keys()) {
      if (chunks.size <= chunksMax) break; // (E3)
      if (old !== index && old !== chunkOf(length)) chunks.delete(old);
    }
  };

  const note = (event: ThreadEvent): void => {
    const id = callIdOf(event, choices);
    if (id === undefined) return;
    const field = fieldOf(event);
    if (field !== undefined) calls.set(id, { ...calls.get(id), [field]: event });
  };

  const fetched = async (index: number): Promise<void> => {
    const have = chunks.get(index) ?? [];
    const after = index * chunkSize + have.length;
    const page = await load(after, chunkSize - have.length);
    const now = chunks.get(index) ?? [];
    const fresh = page.slice(now.length - have.length); // the stream may have brought some meanwhile
    put(index, [...now, ...fresh]);
    for (const event of fresh) note(event);
    length = Math.max(length, fresh.at(-1)?.position ?? 0);
  };

  return {
    get length() {
      return length;
    },
    get version() {
      return version;
    },
    event: (position) => chunks.get(chunkOf(position))?.[(position - 1) % chunkSize],
    chunk: (index) => chunks.get(index),
    call: (toolCallId) => calls.get(toolCallId) ?? {},
    want(index) {
      const isWhole = (chunks.get(index)?.length ?? 0) >= Math.min(chunkSize, length - index * chunkSize);
      if (isWhole && chunks.has(index)) return Promise.resolve();
      const running = asked.get(index); // (E2)
      if (running !== undefined) return running;
      const begun = fetched(index).finally(() => {
        asked.delete(index);
        changed();
      });
      asked.set(index, begun);
      return begun;
    },
    append(event) {
      const index = chunkOf(event.position);
      const events = chunks.get(index) ?? [];
      const place = (event.position - 1) % chunkSize;
      length = Math.max(length, event.position);
      if (place === events.length) {
        put(index, [...events, event]); // (E1)
        note(event);
      }
      changed();
    },
    subscribe: listeners.subscribe,
  };
}

/** A choice's answer names the choice; which call it was about is known from the question. */
function callIdOf(event: ThreadEvent, choices: Map<string, string>): string | undefined {
  if (isEvent(event, 'choice_requested')) {
    choices.set(event.choice_id, event.tool_call_id);
    return event.tool_call_id;
  }
  if (isEvent(event, 'choice_settled')) return choices.get(event.choice_id);
  return typeof event['tool_call_id'] === 'string' ? event['tool_call_id'] : undefined;
}

function fieldOf({ type }: ThreadEvent): keyof CallRecord | undefined {
  switch (type) {
    case 'tool_call_requested':
      return 'requested';
    case 'tool_call_settled':
      return 'settled';
    case 'choice_requested':
      return 'choice';
    case 'choice_settled':
      return 'choiceSettled';
    default:
      return undefined;
  }
}
