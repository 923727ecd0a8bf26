// The patches, on the classes of the installed kafkajs.
import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { capFetchVersions, methodOf } from './kafkajs-internals.ts';

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

it('P12 no fetch is sent that a follower answers, and other versions of kafkajs are not patched', () => {
  const requests = require('kafkajs/src/protocol/requests/fetch') as { readonly versions: string[] };
  expect(requests.versions.map(Number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(() => capFetchVersions({ versions: ['11', '12'] })).toThrow(/look at its patch/);
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

it('P6 a fetch lingers after many records of its own broker, and of no other', async () => {
  vi.useFakeTimers();
  try {
    const asked: string[] = [];
    const messages = (count: number) => Array.from({ length: count }, (_, nth) => ({ offset: String(nth) }));
    const brings: Readonly<Record<string, number>> = { busy: 6, quiet: 1 };
    const findBroker = async ({ nodeId }: { readonly nodeId: string }) => ({
      fetch: async () => {
        asked.push(nodeId);
        const partitions = [{ partition: 0, highWatermark: '9', messages: messages(brings[nodeId] ?? 0) }];
        return { responses: [{ topicName: 'inputs', partitions }] };
      },
    });
    const topicPartitions = [{ topic: 'inputs', partitions: [0] }];
    const membership = {
      cluster: { refreshMetadataIfNecessary: async () => {}, findBroker },
      subscriptionState: { assigned: () => topicPartitions, isPaused: () => false },
      offsetManager: { committedOffsets: () => ({ inputs: { 0: '0' } }), nextOffset: () => '0' },
      seekOffset: { has: () => false },
      preferredReadReplicasPerTopicPartition: {},
      checkForStaleAssignment: () => {},
      filterPartitionsByNode: () => topicPartitions,
      seekOffsets: async () => {},
      getActiveTopicPartitions: () => ({ inputs: new Set([0]) }),
    };
    const fetchFrom = (broker: string) => group['fetch']?.call(membership, broker);
    await Promise.all([fetchFrom('busy'), fetchFrom('quiet')]);
    const second = [fetchFrom('busy'), fetchFrom('quiet')];
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(['busy', 'quiet', 'quiet']);
    await vi.advanceTimersByTimeAsync(6);
    await Promise.all(second);
    expect(asked).toEqual(['busy', 'quiet', 'quiet', 'busy']);
  } finally {
    vi.useRealTimers();
  }
});
