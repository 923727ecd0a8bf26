// How a thread looks from outside: its status and what it waits for.
import { type Call, own, type Thread, waitsForPerson } from './thread.ts';

export interface WaitingOn {
  readonly kind: 'tool_call' | 'approval' | 'choice' | 'oauth' | 'timer';
  readonly id: string;
  readonly toolServer?: string;
  readonly operation?: string;
  readonly since: number;
  readonly deadline?: number;
}

export type OpenStatus = 'opening' | 'closed' | 'thinking' | 'waiting' | 'idle';

/** In the API's order of precedence (`parked` is not the thread's own business). */
export function statusOf(thread: Thread): OpenStatus {
  if (thread.status === 'unopened') return 'opening';
  if (thread.status === 'closed') return 'closed';
  if (thread.loading !== null && thread.completions === 0) return 'opening';
  if (thread.completion !== null) return 'thinking';
  return waitingOn(thread).length > 0 ? 'waiting' : 'idle';
}

export function waitingOn(thread: Thread): readonly WaitingOn[] {
  return [...thread.calls.map((call) => waitingCall(thread, call)), ...sleepTimers(thread)];
}

function sleepTimers(thread: Thread): readonly WaitingOn[] {
  const sleeping = Object.values(thread.timers).filter(({ reason }) => reason === 'sleep');
  return sleeping.map(({ timerId, since, due }) => ({ kind: 'timer', id: timerId, since, deadline: due }));
}

function waitingCall(thread: Thread, call: Call): WaitingOn {
  const timerId = call.personTimerId ?? call.timerId;
  const deadline = timerId === null ? undefined : own(thread.timers, timerId)?.due;
  const about = {
    ...(call.toolServer === null ? {} : { toolServer: call.toolServer }),
    operation: call.operation,
    since: call.since,
    ...(deadline === undefined ? {} : { deadline }),
  };
  switch (call.waiting.for) {
    case 'approval':
    case 'choice':
      return { kind: call.waiting.for, id: call.waiting.choiceId, ...about };
    case 'login':
      return { kind: 'oauth', id: call.toolCallId, ...about };
    case 'result':
      return { kind: 'tool_call', id: call.toolCallId, ...about };
  }
}

/** True when nothing more will happen by itself: the turn is over, or it waits for a person. */
export function isAtRest(thread: Thread): boolean {
  return (
    thread.completion === null &&
    thread.loading === null &&
    thread.calls.every((call) => waitsForPerson(call) || call.detached)
  );
}
