// How a thread looks from outside: its status and what it waits for.
import { openCalls, type Thread } from './thread.ts';

export interface WaitingOn {
  readonly kind: 'tool_call' | 'approval';
  readonly id: string;
  readonly toolServer?: string;
  readonly operation?: string;
  readonly since: number;
  readonly deadline?: number;
}

export type OpenStatus = 'opening' | 'closed' | 'thinking' | 'waiting' | 'idle';

/** In the API's order of precedence (`parked` is not the thread's own business). */
export function statusOf(thread: Thread): OpenStatus {
  if (thread.status === 'unopened' || thread.loading !== null) return 'opening';
  if (thread.status === 'closed') return 'closed';
  if (thread.completion !== null) return 'thinking';
  return waitingOn(thread).length > 0 ? 'waiting' : 'idle';
}

export function waitingOn(thread: Thread): readonly WaitingOn[] {
  return openCalls(thread).map((call): WaitingOn => {
    const deadline = call.timerId === null ? undefined : thread.timers[call.timerId]?.due;
    const about = {
      ...(call.toolServer === null ? {} : { toolServer: call.toolServer }),
      operation: call.operation,
      since: call.since,
      ...(deadline === undefined ? {} : { deadline }),
    };
    return call.waiting.for === 'approval'
      ? { kind: 'approval', id: call.waiting.choiceId, ...about }
      : { kind: 'tool_call', id: call.toolCallId, ...about };
  });
}

/** True when nothing more will happen by itself: the turn is over, or it waits for a person. */
export function isAtRest(thread: Thread): boolean {
  return (
    thread.completion === null &&
    thread.loading === null &&
    openCalls(thread).every((call) => call.waiting.for === 'approval' || call.detached)
  );
}
