/**
 * Owns: what is kept per thread: its last sign of life, what tools remember of it, which views it shows.
 *
 * H1. Everything of a thread is deleted when it closes, or when it had no sign of life for `threadMsMax` and has no
 *     subscription: closing notices may never arrive. T36 T37
 * H2. A view is cleared only if it was shown: no message for a view that has nothing to show. T44
 */
import { encodeCallback } from '@dormouse/protocol';
import type { CallAddress } from './call-address.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Store } from '../store/store.ts';

/** What a tool remembers of a thread and the threads opened from it, until the root thread closes. JSON values. */
export interface ThreadMemory {
  readonly get: (name: string) => unknown;
  readonly set: (name: string, value: unknown) => void;
  readonly delete: (name: string) => void;
}

export interface ThreadStore {
  readonly seen: (...threadIds: string[]) => void;
  readonly memoryOf: (rootThreadId: string) => ThreadMemory;
  readonly sendView: (address: CallAddress, type: string, content: object, clean: (text: string) => string) => void;
  /** All that is remembered of a family, by name. */
  readonly remembered: (rootThreadId: string) => Readonly<Record<string, unknown>>;
  /** Adds what another server remembered; existing values stay. */
  readonly remember: (rootThreadId: string, memory: Readonly<Record<string, unknown>>) => void;
  readonly drop: (threadId: string) => void;
  /** Threads without a sign of life since `before`. (H1) */
  readonly silentSince: (before: number) => readonly string[];
}

export function createThreadStore(store: Store, outbox: Outbox): ThreadStore {
  const { vault } = store;
  const seen: ThreadStore['seen'] = (...threadIds) => {
    for (const thread of new Set(threadIds)) store.threads.seen(thread, Date.now());
  };
  return {
    seen,
    remembered: (root) =>
      Object.fromEntries(store.memory.of(root).map(({ name, sealed }) => [name, vault.open('memory', sealed)])),
    remember: (root, memory) =>
      store.transaction(() => {
        seen(root);
        for (const [name, value] of Object.entries(memory))
          store.memory.addMissing(root, name, vault.seal('memory', value));
      }),
    memoryOf: (root) => ({
      get(name) {
        const sealed = store.memory.get(root, name);
        return sealed === undefined ? undefined : vault.open('memory', sealed);
      },
      set: (name, value) => store.memory.set(root, name, vault.seal('memory', value)),
      delete: (name) => store.memory.delete(root, name),
    }),
    sendView(address, type, content, clean) {
      const { groupId, callbackUrl, trace } = address;
      const isEmpty = Object.keys(content).length === 0;
      const shown = cleaned(content, clean) as { [name: string]: unknown };
      const body = JSON.stringify(encodeCallback({ type: 'view_update', groupId, viewType: type, content: shown }));
      store.transaction(() => {
        if (isEmpty && !store.views.delete(groupId, type)) return; // (H2)
        if (!isEmpty) store.views.add(groupId, type);
        outbox.add({ callbackUrl, threadId: groupId, body, trace });
      });
    },
    drop(thread) {
      store.memory.deleteOf(thread);
      store.views.deleteOf(thread);
      store.threads.delete(thread);
    },
    silentSince: store.threads.silentSince,
  };
}

/** The same JSON with every text cleaned, except image data. T22 */
export function cleaned(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((member) => cleaned(member, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === 'data' ? member : cleaned(member, clean)]),
  );
}
