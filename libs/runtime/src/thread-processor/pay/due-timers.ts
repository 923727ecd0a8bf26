// Turns due timers into inputs. One loop per process looks at the earliest due time; no thread has a timer of its own,
// so a hundred thousand sleepers cost one query per poll.
//
// Invariants:
//   D1. A firing is published before its timer is dropped: it may come twice, under one input id, but is never lost.
//   D2. A firing that cannot be decided now delays no other: each is published by itself, at most `timersFiringMax`.
//   D3. A nearer timer wakes the loop; a clock that jumps is noticed within `timerPollMs`.
//   D4. A timer of a tenant that is not active is dropped, and its thread marked: paid again, the thread sets it again,
//       with its time. Left where it is, it would take the room of others. (holding H1)
//   D5. Of those that are being fired a tenant has no more than it leaves room for others: however many timers of one
//       are due, those of the others fire, at most `keptBackPollMs` late meanwhile. (shared-room)
import { createSharedRoom } from '@dormouse/collections';
import { type Clock, type DueTimer, type Logger, type Stores, type TenantId } from '@dormouse/ports';
import { inputIds } from '@dormouse/thread';
import { faultCode } from '../../fault-code.ts';
import type { Holding } from '../../tenants/holding.ts';

export interface DueTimersDeps extends Pick<Stores, 'timers' | 'inputs'> {
  readonly holding: Holding | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: { readonly timerPollMs: number; readonly timersFiringMax: number };
}

export interface DueTimersLoop {
  start(): void;
  /** A timer was set that may be the nearest. */
  readonly wakeBy: (due: number) => void;
  /** Stops looking; firings under way continue. */
  stop(): Promise<void>;
}

/** What is due next is hidden behind what is due and has no room. */
const keptBackPollMs = 100;

export function createDueTimers(deps: DueTimersDeps): DueTimersLoop {
  const { timers, clock, settings } = deps;
  const firing = new Set<string>();
  const room = createSharedRoom(settings.timersFiringMax);
  let sleepingUntil = Number.POSITIVE_INFINITY;
  let wake = new AbortController();
  let stopped = false;
  let failing: string | null = null;
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!stopped) {
      wake = new AbortController(); // aborted while we look: we look again at once
      sleepingUntil = Number.POSITIVE_INFINITY;
      sleepingUntil = await look();
      await clock.sleep(Math.max(0, sleepingUntil - clock.now()), wake.signal);
    }
  }

  /** Fires what is due; answers when to look again. */
  async function look(): Promise<number> {
    const pollAt = clock.now() + settings.timerPollMs;
    try {
      const next = await timers.next();
      if (next !== null && next <= clock.now()) return (await fireDue()) ? clock.now() + keptBackPollMs : pollAt;
      if (next !== null) return Math.min(pollAt, next); // (D3)
      return pollAt;
    } catch (error) {
      report(error);
      return pollAt;
    }
  }

  /** Whether timers of some tenant had no room. */
  async function fireDue(): Promise<boolean> {
    const without = new Set<TenantId>();
    for (let isMore = true; isMore;) {
      const limit = settings.timersFiringMax + firing.size;
      const due = await timers.due(clock.now(), limit, [...without]);
      const known = without.size;
      for (const timer of due) {
        if (room.taken >= settings.timersFiringMax) return true; // (D2)
        if (firing.has(nameOf(timer))) continue;
        if (room.hasRoom(timer.tenant)) void fire(timer);
        else without.add(timer.tenant); // (D5)
      }
      isMore = due.length === limit && without.size > known; // what is hidden behind it
    }
    return without.size > 0;
  }

  async function fire(timer: DueTimer): Promise<void> {
    const { tenant, thread, timerId, due } = timer;
    firing.add(nameOf(timer));
    room.enter(tenant);
    try {
      const input = { kind: 'TimerFiring', id: inputIds.timer(timerId), timerId, scheduledFor: due } as const;
      const isHeld = deps.holding !== null && (await deps.holding.holds({ tenant, thread }));
      if (!isHeld) await deps.inputs.publish({ tenant, thread }, input);
      await timers.drop([timer]); // (D1, D4)
      failing = null;
    } catch (error) {
      report(error); // still stored: the next poll finds it again
    } finally {
      firing.delete(nameOf(timer));
      room.leave(tenant);
      if (failing === null) wake.abort(); // room for another, and the earliest due time may be a later one now
    }
  }

  function report(error: unknown): void {
    const code = faultCode(error);
    if (code !== failing) deps.logger.warn('timers_failing', { code });
    failing = code;
  }

  return {
    start: () => {
      running = run();
    },
    wakeBy: (due) => {
      if (due < sleepingUntil) wake.abort();
    },
    stop: async () => {
      stopped = true;
      wake.abort();
      await running;
    },
  };
}

const nameOf = (timer: DueTimer): string => `${timer.tenant}:${timer.thread}:${timer.timerId}`;
