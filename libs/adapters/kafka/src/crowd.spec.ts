import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Crowd } from './crowd.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  ['nothing came', 0, 0, 0],
  ['a few came', 5, 0, 0],
  ['a crowd came', 6, 0, 6],
  ['a crowd came a moment ago', 6, 40, 6],
  ['a crowd came some time ago', 6, 60, 0],
])('%s: waits as long as it pays', async (_, records, agoMs, waitMs) => {
  const crowd = new Crowd();
  crowd.came(records);
  await vi.advanceTimersByTimeAsync(agoMs);
  const before = performance.now();
  const rest = crowd.rest();
  await vi.runAllTimersAsync();
  await rest;
  expect(performance.now() - before).toBe(waitMs);
});

it('who comes alone ends the crowd', async () => {
  const crowd = new Crowd();
  crowd.came(10);
  crowd.came(1);
  await crowd.rest();
  expect(vi.getTimerCount()).toBe(0);
});
