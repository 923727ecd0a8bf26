import type { Counter, Histogram, Metrics } from '@dormouse/ports';
import type { Frame } from '@dormouse/runtime';
import { expect, it } from 'vitest';
import { createMeasureLag } from './stream-lag.ts';

const event = (at: number): Frame => ({
  frame: 'event',
  event: { position: 1, at: new Date(at).toISOString(), type: 'title_set' } as Extract<
    Frame,
    { frame: 'event' }
  >['event'],
});

function measured() {
  const lags: number[] = [];
  let lagged = 0;
  const histogram: Histogram = { record: (value) => void lags.push(value) };
  const counter: Counter = { add: (count) => void (lagged += count) };
  const metrics: Metrics = { histogram: () => histogram, counter: () => counter, gauge: () => {} };
  const clock = { at: 1_000_000, now: () => clock.at };
  return { clock, lags, lagged: () => lagged, lag: createMeasureLag(metrics, clock)() };
}

it('L1 what was committed before the stream was opened has no lag', () => {
  const { clock, lag, lags } = measured();
  lag.written(event(clock.at - 3_600_000));
  lag.written(event(clock.at));
  clock.at += 5_000;
  lag.written(event(clock.at - 1_500));
  lag.written({ frame: 'end' });
  expect(lags).toEqual([1.5]);
});

it('a commit of a process whose clock is ahead has none', () => {
  const { clock, lag, lags } = measured();
  lag.written(event(clock.at + 20));
  expect(lags).toEqual([0]);
});

it('a stream whose reader is too slow counts once', () => {
  const { lag, lagged } = measured();
  lag.lagged();
  expect(lagged()).toBe(1);
});
