// How a thread looks from outside: its status and what it waits for.
import { type Call, own, type Thread, waitsForPerson } from './thread.ts';

export interface WaitingOn {
  readonly kind: 'tool_call' | 'approval' | 'choice' | 'oauth' | 'timer' | 'slot';
  readonly id: string;
  /** Set for a thread below, whose question this is. */
  readonly threadId?: string;
  readonly toolServer?: string;
  readonly operation?: string;
  readonly since: number;
  readonly deadline?: number;
}

export type OpenStatus = 'opening' | 'closed' | 'thinking' | 'waiting' | 'idle';

/** In the API's order of precedence (`parked` is not decided here). */
export function statusOf(thread: Thread): OpenStatus {
  if (thread.status === 'unopened') return 'opening';
  if (thread.status === 'closed') return 'closed';
  if (thread.loading !== null && thread.completions === 0) return 'opening';
  if (thread.completion !== null) return 'thinking';
  return waitingOn(thread).length > 0 ? 'waiting' : 'idle';
}

/** A completion that is not requested yet, because the limit of running ones is reached. */
export interface SlotWait {
  readonly completionId: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** `slot`: what is known of a wait for a slot; the log does not contain it. */
export function waitingOn(thread: Thread, slot: SlotWait | null = null): readonly WaitingOn[] {
  const calls = thread.calls.map((call) => waitingCall(thread, call));
  return [...waitingSlot(thread, slot), ...calls, ...sleepTimers(thread)];
}

const waitingSlot = ({ completion }: Thread, slot: SlotWait | null): readonly WaitingOn[] =>
  slot === null || completion?.completionId !== slot.completionId
    ? []
    : [{ kind: 'slot', id: slot.completionId, since: slot.since }];

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
