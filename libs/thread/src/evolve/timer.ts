// Timers: of the thread, of a call, of a schedule.
import type { Event } from '../event.ts';
import { own, type Thread, type Timer } from '../thread.ts';
import { changeCall } from './changed-call.ts';
import { arrivedFromFamily } from './turn.ts';

export function setTimer(thread: Thread, event: Event<'TimerSet'>): Thread {
  const { timerId, due, reason, toolCallId = null, scheduleId = null } = event;
  const timer: Timer = { timerId, due, reason, toolCallId, scheduleId, since: thread.updatedAt };
  const set = { ...thread, timers: { ...thread.timers, [timerId]: timer } };
  if (toolCallId !== null)
    return changeCall(set, toolCallId, (call) =>
      reason === 'tool_timeout' ? { ...call, timerId } : { ...call, personTimerId: timerId },
    );
  const schedule = scheduleId === null ? undefined : own(thread.schedules, scheduleId);
  if (schedule !== undefined)
    return { ...set, schedules: { ...thread.schedules, [schedule.scheduleId]: { ...schedule, timerId } } };
  // The turn ends with the sleep: what its round brought is seen when the thread wakes, what arrived meanwhile wakes
  // it.
  return reason === 'sleep' ? { ...set, unseen: thread.arrivals } : set;
}

export function fireTimer(thread: Thread, event: Event<'TimerFired'>, at: number): Thread {
  const timer = own(thread.timers, event.timerId);
  const without = withoutTimer(thread, event.timerId);
  if (timer?.reason === 'sleep') return arrivedFromFamily(without, event.turnId, at);
  if (timer?.reason === 'event_rate') return { ...without, merged: 0 };
  return without;
}

export function withoutReasons(timers: Thread['timers'], reasons: readonly Timer['reason'][]): Thread['timers'] {
  const kept = Object.values(timers).filter((timer) => !reasons.includes(timer.reason));
  return kept.length === Object.keys(timers).length
    ? timers
    : Object.fromEntries(kept.map((timer) => [timer.timerId, timer]));
}

/** The timer goes, from the call or schedule that it belongs to, too. */
export function withoutTimer(thread: Thread, timerId: string): Thread {
  const { [timerId]: gone, ...timers } = thread.timers;
  if (gone === undefined) return thread;
  const { toolCallId, scheduleId } = gone;
  const schedule = scheduleId === null ? undefined : own(thread.schedules, scheduleId);
  const without = { ...thread, timers };
  if (schedule !== undefined)
    return { ...without, schedules: { ...thread.schedules, [schedule.scheduleId]: { ...schedule, timerId: null } } };
  if (toolCallId === null) return without;
  return changeCall(without, toolCallId, (call) => ({
    ...call,
    timerId: call.timerId === timerId ? null : call.timerId,
    personTimerId: call.personTimerId === timerId ? null : call.personTimerId,
  }));
}
