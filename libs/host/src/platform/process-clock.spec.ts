import { describe, expect, it } from 'vitest';
import { createProcessClock } from './process-clock.ts';

describe('the clock of a process', () => {
  it('wakes who is due when it is moved, and nobody else', async () => {
    const clock = createProcessClock(() => 1_000);
    const woken: string[] = [];
    const leave = new AbortController();
    void clock.sleep(86_400_000).then(() => woken.push('a day'));
    void clock.sleep(3 * 86_400_000, leave.signal).then(() => woken.push('three days'));
    await clock.advance(2 * 86_400_000);
    expect(woken).toEqual(['a day']);
    expect(clock.now()).toBe(1_000 + 2 * 86_400_000);
    leave.abort();
    await Promise.resolve();
    expect(woken).toEqual(['a day', 'three days']);
  });

  it('never goes back, whatever the machine’s clock does', () => {
    let machine = 5_000;
    const clock = createProcessClock(() => machine);
    expect(clock.now()).toBe(5_000);
    machine = 1_000;
    expect(clock.now()).toBe(5_000);
    machine = 6_000;
    expect(clock.now()).toBe(6_000);
  });

  it('rings an alarm once when it is moved past it, and not one that was stopped', async () => {
    const clock = createProcessClock(() => 1_000);
    const rung: string[] = [];
    const stops = ['one hour', 'stopped'].map((name) => clock.alarm(3_600_000, () => rung.push(name)));
    stops[1]?.();
    await clock.advance(7_200_000);
    await clock.advance(7_200_000);
    stops[0]?.();
    expect(rung).toEqual(['one hour']);
  });

  it('does not ring what another alarm has stopped, neither at once nor later', async () => {
    const clock = createProcessClock();
    const rung: string[] = [];
    const stops: (() => void)[] = [];
    const stopAll = (): void => {
      rung.push('first');
      for (const stop of stops) stop();
    };
    clock.alarm(3_600_000, stopAll);
    for (const ms of [3_600_000, 7_200_010]) stops.push(clock.alarm(ms, () => rung.push(`after ${ms}`)));
    await clock.advance(7_200_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rung).toEqual(['first']);
  });

  it('does not begin a sleep that is over already', async () => {
    await createProcessClock().sleep(1_000_000, AbortSignal.abort());
  });
});
