// A thread in a React component: what is said, live, and what a person can do.
//
// Invariants:
//   U1. Components that show the same thread of the same client share one connection, which ends with the last of them.
//       Strict mode, a component that suspends beside them, and a new render open no second one. (thread-store T1)
//   U2. Another thread, or another client, is another store: nothing of the one before is shown.
import { use, useSyncExternalStore } from 'react';
import type { Client } from '../client.ts';
import { type ThreadActions, type ThreadSnapshot, threadStoreOf } from './thread-store.ts';

export type { Connection, OpenChoice, OpenLogin, ThreadMessage } from './thread-state.ts';
export type { ChoiceAnswer, ThreadActions, ThreadSnapshot } from './thread-store.ts';

export interface UseThreadOptions {
  /** Made once, not in each render; with a thread token in a page. */
  readonly client: Client;
  readonly threadId: string;
  /** Suspends until the thread is here, and throws what keeps it from being read. Default: false, see `isLoading`. */
  readonly suspense?: boolean;
}

export type ThreadHandle = ThreadSnapshot & ThreadActions;

export function useThread({ client, threadId, suspense = false }: UseThreadOptions): ThreadHandle {
  const store = threadStoreOf(client, threadId); // (U1, U2)
  const snapshot = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
  if (suspense && snapshot.isLoading) use(store.loaded());
  return { ...snapshot, ...store.actions };
}
