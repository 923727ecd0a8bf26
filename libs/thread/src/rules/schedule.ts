// Messages that a clock sends: cron lines with a time zone, and a rule for missed times.
import { text } from '../content.ts';
import type { Decision } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { ScheduleRequest, UnscheduleRequest } from '../input.ts';
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

export function setSchedule(draft: Draft, input: ScheduleRequest): Decision {
  const { scheduleId, schedule } = input;
  const { now } = draft.moment;
  const next = draft.moment.nextTime(schedule.cron, schedule.timeZone, now);
  if (next === null || next - now > threadLimits.sleepMsMax)
    return refuseRequest(draft, input, 'INVALID_BODY', 'this cron line never comes in this time zone');
  if (comesTooOften(draft, input, next))
    return refuseRequest(draft, input, 'INVALID_BODY', 'a schedule comes once a minute at most');
  if (Object.keys(draft.thread.schedules).length >= threadLimits.schedulesMax)
    return refuseRequest(draft, input, 'LIMIT_REACHED', `a thread has at most ${threadLimits.schedulesMax} schedules`);
  draft.emit({ type: 'ScheduleSet', scheduleId, schedule });
  setScheduleTimer(draft, scheduleId, next);
  return draft.decided();
}

/**
 * A cron line has the same seconds in every minute in which it occurs, so two times of one minute show its interval.
 * The whole minute is searched: `next` may be its last time.
 */
function comesTooOften(draft: Draft, { schedule: { cron, timeZone } }: ScheduleRequest, next: number): boolean {
  const first = draft.moment.nextTime(cron, timeZone, next - (next % intervalMsMin) - 1_000);
  const second = first === null ? null : draft.moment.nextTime(cron, timeZone, first);
  return first !== null && second !== null && second - first < intervalMsMin;
}

export function removeSchedule(draft: Draft, input: UnscheduleRequest): Decision {
  const { scheduleId } = input;
  if (own(draft.thread.schedules, scheduleId) === undefined)
    return refuseRequest(draft, input, 'NOTHING_TO_STOP', 'this thread has no such schedule');
  draft.emit({ type: 'ScheduleRemoved', scheduleId });
  return draft.decided();
}

/** One of its times has come, perhaps long ago: at most one message, and the next time lies in the future. */
export function scheduleCame(draft: Draft, schedule: ThreadSchedule, timer: Timer): void {
  const { scheduleId, cron, timeZone, missed: rule, message } = schedule;
  const { now } = draft.moment;
  let last = timer.due;
  let missed = 0;
  let next = draft.moment.nextTime(cron, timeZone, last);
  while (next !== null && next <= now && missed < missedCountedMax) {
    last = next;
    missed += 1;
    next = draft.moment.nextTime(cron, timeZone, last);
  }
  if (next !== null && next <= now) next = draft.moment.nextTime(cron, timeZone, now);
  const skipped = rule === 'skip' && now - last > graceMs;
  const came = { scheduleId, scheduledFor: last, missed, skipped, content: [text(message)] };
  draft.emit({ type: 'ScheduleCame', ...came }, skipped ? undefined : beginsTurn(draft));
  if (next === null) draft.emit({ type: 'ScheduleRemoved', scheduleId });
  else setScheduleTimer(draft, scheduleId, next);
  wake(draft);
}
