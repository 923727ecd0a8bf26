// Turns due timers into inputs. One loop per process looks at the earliest due time; no thread has a timer of its own, so a
// hundred thousand sleepers cost one query per poll.
//
// Invariants:
//   D1. A firing is published before its timer is dropped: it may come twice, under one input id, never not at all.
//   D2. A firing that cannot be decided now holds up no other: each is on its way by itself, at most `timersFiringMax`.
//   D3. A nearer timer wakes the loop; a clock that jumps is noticed within `timerPollMs`.
import { type Clock, type DueTimer, Fault, type InputBus, type Logger, type Timers } from '@dormouse/ports';
import { inputIds } from '@dormouse/thread';
import type { ProcessorProtocol } from './protocol.ts';

export interface DueTimersDeps {
  readonly timers: Timers;
  readonly inputs: InputBus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly protocol: Pick<ProcessorProtocol, 'fireTimer'>;
  readonly settings: { readonly timerPollMs: number; readonly timersFiringMax: number };
}

export interface DueTimersLoop {
  start(): void;
  /** A timer was set that may be the nearest. */
  wakeBy(due: number): void;
  /** Stops looking; firings on their way go on by themselves. */
  stop(): Promise<void>;
}

export function createDueTimers(deps: DueTimersDeps): DueTimersLoop {
  const { timers, clock, settings } = deps;
  const firing = new Set<string>();
  let sleepingUntil = Number.NEGATIVE_INFINITY;
  let wake = new AbortController();
  let backlog = false;
  let stopped = false;
  let failing: string | null = null;
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!stopped) {
      const until = await look();
      if (stopped) return;
      sleepingUntil = until;
      wake = new AbortController();
      await clock.sleep(Math.max(0, until - clock.now()), wake.signal);
      sleepingUntil = Number.NEGATIVE_INFINITY;
    }
  }

  /** Fires what is due; answers when to look again. */
  async function look(): Promise<number> {
    const pollAt = clock.now() + settings.timerPollMs;
    try {
      const next = await timers.next();
      failing = null;
      if (next === null || next > clock.now()) return Math.min(pollAt, next ?? pollAt); // (D3)
      const fired = await fireDue();
      return fired > 0 && firing.size < settings.timersFiringMax ? clock.now() : pollAt;
    } catch (error) {
      report(error);
      return pollAt;
    }
  }

  async function fireDue(): Promise<number> {
    const wanted = settings.timersFiringMax + firing.size;
    const due = await timers.due(clock.now(), wanted);
    backlog = due.length === wanted;
    let fired = 0;
    for (const timer of due) {
      if (firing.size >= settings.timersFiringMax) break; // (D2)
      if (firing.has(nameOf(timer))) continue;
      fired += 1;
      void fire(timer);
    }
    return fired;
  }

  async function fire(timer: DueTimer): Promise<void> {
    const { tenant, thread, timerId, due } = timer;
    firing.add(nameOf(timer));
    try {
      await deps.protocol.fireTimer(
        () => deps.inputs.publish({ tenant, thread }, { kind: 'TimerFiring', id: inputIds.timer(timerId), timerId, scheduledFor: due }),
        () => timers.drop([timer]),
      ); // (D1)
    } catch (error) {
      report(error); // still stored: the next poll finds it again
    } finally {
      firing.delete(nameOf(timer));
      if (backlog && firing.size === 0) wake.abort();
    }
  }

  function report(error: unknown): void {
    const code = error instanceof Fault ? error.code : String(error);
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
