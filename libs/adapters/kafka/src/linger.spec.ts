import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Linger } from './linger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  ['nothing came', 0, 0, 0],
  ['a few came', 5, 0, 0],
  ['a linger came', 6, 0, 6],
  ['a linger came a moment ago', 6, 40, 6],
  ['a linger came some time ago', 6, 60, 0],
])('%s: waits as long as it pays', async (_, records, agoMs, waitMs) => {
  const linger = new Linger();
  linger.batch(records);
  await vi.advanceTimersByTimeAsync(agoMs);
  const before = performance.now();
  const rest = linger.wait();
  await vi.runAllTimersAsync();
  await rest;
  expect(performance.now() - before).toBe(waitMs);
});

it('who comes alone ends the linger', async () => {
  const linger = new Linger();
  linger.batch(10);
  linger.batch(1);
  await linger.wait();
  expect(vi.getTimerCount()).toBe(0);
});
