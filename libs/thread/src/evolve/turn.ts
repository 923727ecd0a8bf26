// Turns: what begins one, what counts towards its limits, and what the model has not seen yet.
import { threadLimits } from '../policy.ts';
import type { Thread } from '../thread.ts';

/** Another turn: its completions are counted anew, and what had stalled the last one is over. */
export function inTurn(thread: Thread, turnId: string, at: number): Partial<Thread> {
  if (turnId === thread.turnId) return {};
  return { turnId, completionsInWake: 0, countSince: at, stalled: false, repeated: { key: '', times: 0 } };
}

/** A turn that the family begins goes on with the count: two threads that answer each other must come to an end. */
export function inOwnTurn(thread: Thread, turnId: string, at: number): Partial<Thread> {
  if (turnId === thread.turnId) return {};
  const { completionsInWake, countSince, lastError } = thread;
  const fresh = inTurn(thread, turnId, at);
  if (at - countSince >= threadLimits.ownTurnsWindowMs) return fresh;
  const stalled = thread.stalled && lastError?.code === 'BUDGET_EXCEEDED';
  return { ...fresh, completionsInWake, countSince, stalled };
}

/** An arrival that no call waited for; the model sees it with the next completion. (thread T6) */
export function arrived(thread: Thread, turnId: string, at: number): Thread {
  return { ...thread, unseen: thread.unseen + 1, arrivals: thread.arrivals + 1, ...inTurn(thread, turnId, at) };
}

/** The same of a parent, a child, or the thread's own sleep. */
export function arrivedFromFamily(thread: Thread, turnId: string, at: number): Thread {
  return { ...thread, unseen: thread.unseen + 1, arrivals: thread.arrivals + 1, ...inOwnTurn(thread, turnId, at) };
}
