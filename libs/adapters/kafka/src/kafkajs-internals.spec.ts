// The patches, on the classes of the kafkajs that is installed.
import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { methodOf } from './kafkajs-internals.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;

const require = createRequire(import.meta.url);
const prototypeOf = (path: string): Readonly<Record<string, Method>> =>
  (require(`kafkajs/src/${path}`) as { readonly prototype: Record<string, Method> }).prototype;
const queue = prototypeOf('network/requestQueue');
const group = prototypeOf('consumer/consumerGroup');
const offsets = prototypeOf('consumer/offsetManager');

it('P1 a method that is another one is not patched', () => {
  expect(() => methodOf({ fetch: async () => [] }, 'fetch')).toThrow(/patches must be looked at/);
  expect(() => methodOf({}, 'heartbeat')).toThrow(/patches must be looked at/);
});

describe('P2 the request queue', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['keeps no timer while nothing is pending', [], 0],
    ['looks again while something is', ['a request'], 1],
  ])('%s', (_what, pending, timers) => {
    queue['scheduleCheckPendingRequests']?.call({ throttledUntil: -1, pending, throttleCheckTimeoutId: null });
    expect(vi.getTimerCount()).toBe(timers);
  });
});

it('P3 a coordinator that has gone is looked up again', async () => {
  const found = { isConnected: () => true };
  const manager = {
    groupId: 'processors',
    coordinator: { isConnected: () => false },
    cluster: { findGroupCoordinator: vi.fn(async () => found) },
  };
  expect(await offsets['getCoordinator']?.call(manager)).toBe(found);
  expect(await offsets['getCoordinator']?.call(manager)).toBe(found);
  expect(manager.cluster.findGroupCoordinator).toHaveBeenCalledOnce();
});

it('P3 P4 P5 those of a membership are in place', () => {
  for (const name of ['heartbeat', 'fetch', 'joinAndSync'])
    expect(() => methodOf(group, name), `${name} is still the one of kafkajs`).toThrow(/patches must be looked at/);
});
