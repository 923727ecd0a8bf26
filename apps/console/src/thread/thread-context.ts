// What the parts of a thread's screen share: the thread, the position that is shown, the selection.
import { createContext, use } from 'react';
import type { Schemas } from '@dormouse/client';
import type { ThreadSearch } from '../search.ts';
import type { LiveState, LiveThread } from './log/live-thread.ts';

export type Tab = NonNullable<ThreadSearch['tab']>;

export interface ThreadView {
  /** As of `at`, if there is one. */
  readonly thread: Schemas['Thread'];
  readonly live: LiveThread;
  readonly state: LiveState;
  /** Positions up to this one are shown. */
  readonly length: number;
  readonly at: number | undefined;
  readonly selected: number | undefined;
  readonly tab: Tab;
  readonly change: (change: ThreadSearch, options?: { readonly replace?: boolean }) => void;
}

export const ThreadContext = createContext<ThreadView | null>(null);

export function useThreadView(): ThreadView {
  const view = use(ThreadContext);
  if (view === null) throw new Error('no thread is open here');
  return view;
}
