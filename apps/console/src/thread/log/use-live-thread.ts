// A live thread for React: one per thread that a screen shows, followed while it is shown.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { createLiveThread, type LiveState, type LiveThread } from './live-thread.ts';
import type { EventLog } from './event-log.ts';

/** `position` is the thread's when it was first read; later ones come with the stream. */
export function useLiveThread(thread: string, position: number): LiveThread {
  // oxlint-disable-next-line react/exhaustive-deps -- a new position is no new thread
  const live = useMemo(() => createLiveThread(thread, position), [thread]);
  useEffect(() => live.start(), [live]);
  return live;
}

export const useLiveState = (live: LiveThread): LiveState => useSyncExternalStore(live.subscribe, () => live.state);

/** Renders again with every change of the log. */
export function useLogVersion(log: EventLog): number {
  return useSyncExternalStore(log.subscribe, () => log.version);
}
