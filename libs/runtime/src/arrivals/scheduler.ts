// Fires the schedules of tenants: at each of their times a thread is woken or opened, once.
//
// Invariants:
//   F1. Which time fires is decided once: by the one replacement of the schedule that takes it, whatever the clocks of
//       other processes say. From then on it is in the schedule until its message is there.
//   F2. A firing is a delivery, whose id follows from the schedule and the time: several processes, and a process that
//       dies and begins again, bring one message. (delivery D1)
//   F3. At most one firing at a time, and the next time lies in the future: a clock that jumps over many times, or a
//       process that was away, leads to one late message, or to none; the others are counted as skipped.
//   F4. A clock that goes back fires nothing again: the next time stays where it was.
//   F5. A tenant that is not active fires nothing; its schedules are looked at again later, and take no room meanwhile.
//   F6. Of a look a tenant has no more than it leaves for others: however many of its schedules are due, those of the
//       others fire. (shared-room)
//   F7. Many schedules of one second fire soon: `stepsAtOnceMax` at a time, and look after look while there are more.
//       A schedule that skips missed times is not late because others fire, too.
import { createSharedRoom } from '@dormouse/collections';
import { type Clock, Fault, type Logger, type Schedules, type TenantSchedule, type TenantId } from '@dormouse/ports';
import { timesUpTo } from '@dormouse/thread';
import { faultCode } from '../fault-code.ts';
import { nameOfText } from '../ingress-gateway/access/client-id.ts';
import { createRepeatedService } from '../repeated-service.ts';
import type { Service } from '../service.ts';
import type { TenantRecords } from '../tenants/tenant-records.ts';
import { nextTime } from '../thread-processor/rules/next-time.ts';
import type { Deliver } from './delivery.ts';
import { rendered } from './template.ts';

export interface SchedulerDeps {
  readonly schedules: Schedules;
  readonly records: Pick<TenantRecords, 'isActive'>;
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly logger: Logger;
}

const lookEveryMs = 1_000;
/** In one look. */
const lookedAtMax = 200;
/** A firing mostly waits for stores. (F7) */
const stepsAtOnceMax = 16;
const heldLookMs = 5_000;
const refusedLookMs = 60_000;

export function createScheduler({ schedules, records, deliver, clock, logger }: SchedulerDeps): Service {
  const stopped = new AbortController();

  /** Whether something was done, and there may be more. (F7) */
  async function look(): Promise<boolean> {
    const room = createSharedRoom(lookedAtMax);
    const lookedAt = new Set<string>();
    const without = new Set<TenantId>();
    let done = 0;
    for (let isMore = true; isMore;) {
      const due = await schedules.due(clock.now(), lookedAtMax, [...without]);
      const known = without.size;
      const entered: TenantSchedule[] = [];
      for (const schedule of due) {
        const { tenant, id } = schedule;
        if (lookedAt.has(id)) continue; // it has failed
        if (!room.hasRoom(tenant)) {
          without.add(tenant); // (F6)
          continue;
        }
        room.enter(tenant);
        lookedAt.add(id);
        entered.push(schedule);
      }
      done += await stepAll(entered);
      if (stopped.signal.aborted) return false;
      isMore = room.taken < lookedAtMax && due.length === lookedAtMax && without.size > known; // what is hidden behind it
    }
    return done > 0 && (without.size > 0 || room.taken >= lookedAtMax);
  }

  /** How many of them were taken a step further. */
  async function stepAll(entered: readonly TenantSchedule[]): Promise<number> {
    const left = entered.values();
    let done = 0;
    async function stepOn(): Promise<void> {
      for (const schedule of left) {
        if (stopped.signal.aborted) return;
        try {
          await step(schedule);
          done += 1;
        } catch (error) {
          failing(schedule, error);
        }
      }
    }
    await Promise.all(Array.from({ length: stepsAtOnceMax }, stepOn));
    return done;
  }

  async function step(schedule: TenantSchedule): Promise<void> {
    const now = clock.now();
    if (!(await records.isActive(schedule.tenant)))
      return void (await schedules.replace({ ...schedule, lookAt: now + heldLookMs }, schedule)); // (F5)
    const taken = schedule.firing === null ? await take(schedule, now) : schedule;
    if (taken !== null) await fire(taken);
  }

  /** The schedule with its firing; null where there is nothing to fire, or another process takes it. (F1, F3) */
  async function take(schedule: TenantSchedule, now: number): Promise<TenantSchedule | null> {
    const { tenant, name, cron, timeZone, nextAt } = schedule;
    if (nextAt === null || nextAt > now)
      return (await schedules.replace({ ...schedule, lookAt: nextAt }, schedule), null);
    const nextAfter = (after: number): number | null => nextTime(cron, timeZone, after);
    const { scheduledFor, missed, skipped, next } = timesUpTo(nextAfter, schedule.missed, nextAt, now);
    const taken: TenantSchedule = {
      ...schedule,
      ...{ nextAt: next, lookAt: skipped ? next : now, firing: skipped ? null : { scheduledFor, missed } },
      skipped: schedule.skipped + missed + (skipped ? 1 : 0),
    };
    if (!(await schedules.replace(taken, schedule))) return null;
    if (missed > 0 || skipped) logger.info('schedule_missed', { tenant, schedule: name, missed, skipped });
    return skipped ? null : taken;
  }

  /** (F2) */
  async function fire(schedule: TenantSchedule): Promise<void> {
    const { tenant, id, name, agent, externalId, firing } = schedule;
    if (firing === null) return;
    const { scheduledFor, missed } = firing;
    const told = { name, scheduled_for: new Date(scheduledFor).toISOString(), missed };
    const delivered = await deliver({
      ...{ tenant, agent, externalId, name: nameOfText(JSON.stringify(['schedule', tenant, id, scheduledFor])) },
      text: rendered(schedule.message, told),
      from: { schedule: { name, scheduledFor, missed } },
    });
    if (!delivered.ok) return again(schedule, delivered.refusal.code);
    const done = { firing: null, lookAt: schedule.nextAt, lastFiredAt: clock.now(), lastScheduledFor: scheduledFor };
    await schedules.replace({ ...schedule, ...done, fired: schedule.fired + 1 }, schedule);
  }

  /** Its agent is missing, or a quota is used up: the firing stays. */
  async function again(schedule: TenantSchedule, code: string): Promise<void> {
    failing(schedule, new Fault(code, code));
    await schedules.replace({ ...schedule, lookAt: clock.now() + refusedLookMs }, schedule);
  }

  function failing({ tenant, name }: TenantSchedule, error: unknown): void {
    logger.warn('schedule_failing', { tenant, schedule: name, code: faultCode(error) });
  }

  async function lookSafely(): Promise<void> {
    try {
      while (await look()) if (stopped.signal.aborted) return;
    } catch (error) {
      logger.warn('schedules_failing', { code: faultCode(error) });
    }
  }

  return createRepeatedService({ clock, stopped, everyMs: lookEveryMs }, lookSafely);
}
