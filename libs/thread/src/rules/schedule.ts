// Messages that a clock sends: cron lines with a time zone, and a rule for missed times.
import { text } from '../content.ts';
import type { Draft } from '../draft.ts';
import type { Schedule, ScheduleRequest, UnscheduleRequest } from '../input.ts';
import { threadLimits } from '../policy.ts';
import { own, type ThreadSchedule, type Timer } from '../thread.ts';
import { setScheduleTimer } from './call.ts';
import { refuseRequest } from './refusal.ts';
import { beginsTurn, wake } from './wake.ts';

/** A shorter delay is a busy machine, not a missed time. */
const graceMs = 60_000;
/** A schedule with a shorter interval than this is a loop. */
const intervalMsMin = 60_000;
/** Missed times are counted up to this number. */
const missedCountedMax = 1_000;

export function setSchedule(draft: Draft, input: ScheduleRequest): void {
  const { scheduleId, schedule } = input;
  const { now } = draft.moment;
  const nextAfter = (after: number): number | null => draft.moment.nextTime(schedule.cron, schedule.timeZone, after);
  const next = nextAfter(now);
  if (next === null || next - now > threadLimits.sleepMsMax)
    return refuseRequest(draft, input, 'INVALID_BODY', 'this cron line never comes in this time zone');
  if (comesTooOften(nextAfter, next))
    return refuseRequest(draft, input, 'INVALID_BODY', 'a schedule comes once a minute at most');
  if (Object.keys(draft.thread.schedules).length >= threadLimits.schedulesMax)
    return refuseRequest(draft, input, 'LIMIT_REACHED', `a thread has at most ${threadLimits.schedulesMax} schedules`);
  draft.emit({ type: 'ScheduleSet', scheduleId, schedule });
  setScheduleTimer(draft, scheduleId, next);
}

/** The first time of a cron line after a time; null for none. */
export type NextAfter = (after: number) => number | null;

/**
 * Whether the line that comes at `next` may come twice within a minute: a cron line has the same seconds in every
 * minute in which it occurs, so two times of one minute show its interval. The whole minute is searched: `next` may be
 * its last time.
 */
export function comesTooOften(nextAfter: NextAfter, next: number): boolean {
  const first = nextAfter(next - (next % intervalMsMin) - 1_000);
  const second = first === null ? null : nextAfter(first);
  return first !== null && second !== null && second - first < intervalMsMin;
}

export function removeSchedule(draft: Draft, input: UnscheduleRequest): void {
  const { scheduleId } = input;
  if (own(draft.thread.schedules, scheduleId) === undefined)
    return refuseRequest(draft, input, 'NOTHING_TO_STOP', 'this thread has no such schedule');
  draft.emit({ type: 'ScheduleRemoved', scheduleId });
}

/** What is made of the times of a schedule that have come. */
export interface DueTimes {
  /** The last of them. */
  readonly scheduledFor: number;
  /** How many came before it; counted up to a limit. */
  readonly missed: number;
  /** By its rule for missed times it leads to nothing. */
  readonly skipped: boolean;
  /** The first time that is still to come; null for none. */
  readonly next: number | null;
}

/** `due` has come, perhaps long ago, and perhaps others after it. */
export function timesUpTo(nextAfter: NextAfter, rule: Schedule['missed'], due: number, now: number): DueTimes {
  let scheduledFor = due;
  let missed = 0;
  let next = nextAfter(due);
  while (next !== null && next <= now && missed < missedCountedMax) {
    scheduledFor = next;
    missed += 1;
    next = nextAfter(scheduledFor);
  }
  if (next !== null && next <= now) next = nextAfter(now);
  return { scheduledFor, missed, skipped: rule === 'skip' && now - scheduledFor > graceMs, next };
}

/** One of its times has come: at most one message, and the next time lies in the future. */
export function scheduleCame(draft: Draft, schedule: ThreadSchedule, timer: Timer): void {
  const { scheduleId, cron, timeZone, message } = schedule;
  const nextAfter = (after: number): number | null => draft.moment.nextTime(cron, timeZone, after);
  const times = timesUpTo(nextAfter, schedule.missed, timer.due, draft.moment.now);
  const { scheduledFor, missed, skipped, next } = times;
  const came = { scheduleId, scheduledFor, missed, skipped, content: [text(message)] };
  draft.emit({ type: 'ScheduleCame', ...came }, skipped ? undefined : beginsTurn(draft));
  if (next === null) draft.emit({ type: 'ScheduleRemoved', scheduleId });
  else setScheduleTimer(draft, scheduleId, next);
  wake(draft);
}
