// What becomes of a family of threads next, as a function of its rows: the pure part of retention.
//
// Invariants:
//   F1. A family goes as a whole, and only while every thread of it rests: idle or closed, with no event since `before`.
//       A thread that was woken, or that another family begins with, keeps all of them.
//   F2. A thread is marked before it is closed, and closed and marked for `leavingMs` before it is removed. A mark in
//       the future is of a clock that was set back: it is set anew.
import type { RestingThread } from '@dormouse/ports';

/** Longer than any process remembers that a thread exists, and than what was sent to it before takes to be decided. */
export const leavingMs = 600_000;

/** A thread of the family, and when it last did anything of its own: being closed by retention is not. */
export interface FamilyThread extends RestingThread {
  readonly restingSince: number;
}

export type FamilyStep = 'stay' | 'unmark' | 'mark' | 'end' | 'wait' | 'remove';

/** Times in milliseconds since the epoch. `isNeeded`: another family begins with the history of one of its threads. */
export function familyStep(
  threads: readonly FamilyThread[],
  { before, now, isNeeded }: { readonly before: number; readonly now: number; readonly isNeeded: boolean },
): FamilyStep {
  if (threads.length === 0) return 'stay';
  if (isNeeded || !threads.every((thread) => rests(thread, before)))
    return threads.some(({ leavingAt }) => leavingAt !== null) ? 'unmark' : 'stay'; // (F1)
  if (threads.some(({ leavingAt }) => leavingAt === null || leavingAt > now)) return 'mark'; // (F2)
  if (threads.some(({ status }) => status !== 'closed')) return 'end';
  const lastAt = Math.max(...threads.map(({ leavingAt, updatedAt }) => Math.max(leavingAt ?? 0, updatedAt)));
  return now - lastAt >= leavingMs ? 'remove' : 'wait';
}

const rests = ({ status, restingSince }: FamilyThread, before: number): boolean =>
  (status === 'idle' || status === 'closed') && restingSince < before;
