// Short messages about what was done or refused: a list that forgets by itself.
import { useSyncExternalStore } from 'react';
import { createListeners } from '../api/listeners.ts';

export interface Notice {
  readonly id: number;
  readonly kind: 'done' | 'error';
  readonly text: string;
}

const shownMs = { done: 4_000, error: 12_000 } as const;
const noticesMax = 4;
let notices: readonly Notice[] = [];
let nextId = 1;
const listeners = createListeners();

export function say(kind: Notice['kind'], text: string): void {
  const notice = { id: (nextId += 1), kind, text };
  show([...notices, notice].slice(-noticesMax));
  setTimeout(() => dismiss(notice.id), shownMs[kind]);
}

export const dismiss = (id: number): void => show(notices.filter((notice) => notice.id !== id));

export const useNotices = (): readonly Notice[] => useSyncExternalStore(listeners.subscribe, () => notices);

function show(next: readonly Notice[]): void {
  notices = next;
  listeners.call();
}
