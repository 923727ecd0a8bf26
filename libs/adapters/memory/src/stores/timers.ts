// Durable timers in memory. Setting again changes nothing: the first due time stays.
import type { DueTimer, Timers } from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import { nameOf } from '../log/thread-log.ts';

export type TimerStore = Map<string, DueTimer>;

export function createTimers(timers: TimerStore, passage: Passage): Timers {
  const rowOf = (timer: DueTimer): string => `${nameOf(timer)}:${timer.timerId}`;
  const about = (some: readonly DueTimer[]): string => some.map((timer) => timer.timerId).join(',');
  return {
    set: (some) =>
      passage.write('timers.set', about(some), () => {
        for (const timer of some) if (!timers.has(rowOf(timer))) timers.set(rowOf(timer), timer);
      }),
    due: (now, limit, without = []) =>
      passage.read('timers.due', '', () =>
        [...timers.values()]
          .filter((timer) => timer.due <= now && !without.includes(timer.tenant))
          .sort((left, right) => left.due - right.due)
          .slice(0, limit),
      ),
    next: () =>
      passage.read('timers.next', '', () =>
        timers.size === 0 ? null : Math.min(...[...timers.values()].map((timer) => timer.due)),
      ),
    drop: (some) =>
      passage.write('timers.drop', about(some), () => {
        for (const timer of some) timers.delete(rowOf(timer));
      }),
  };
}
