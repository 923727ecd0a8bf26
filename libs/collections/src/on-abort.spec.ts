import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { onAbort } from './on-abort.ts';

it('O1 many wait with one listener; all that are left are called, once', () => {
  const stop = new AbortController();
  const called: number[] = [];
  const leave = Array.from({ length: 100 }, (_, index) => onAbort(stop.signal, () => called.push(index)));
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
  for (const each of leave.slice(2)) each();
  stop.abort();
  stop.abort();
  expect(called).toEqual([0, 1]);
});

it('each signal calls its own', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const called: string[] = [];
  onAbort(one.signal, () => called.push('one'));
  onAbort(other.signal, () => called.push('other'));
  other.abort();
  expect(called).toEqual(['other']);
});
