import type { Logger } from '@dormouse/ports';
import type { Admin } from 'kafkajs';
import { expect, it, vi } from 'vitest';
import { copiesOf } from './topics.ts';

const adminOf = (brokers: number): Admin =>
  ({ describeCluster: async () => ({ brokers: Array.from({ length: brokers }) }) }) as unknown as Admin;
const plan = { partitions: 12, retentionMs: 1 };

it.each([
  [1, null, 1, true],
  [2, null, 2, false],
  [3, null, 3, false],
  [5, null, 3, false],
  [5, 2, 2, false],
  [5, 1, 1, true],
] as const)(
  '%i brokers, %s copies asked for: %i are made, and one is warned of',
  async (brokers, asked, made, warned) => {
    const warn = vi.fn<Logger['warn']>();
    const logger: Logger = { info: () => {}, warn, error: () => {} };
    expect(await copiesOf(adminOf(brokers), { ...plan, replication: asked }, logger)).toBe(made);
    expect(warn.mock.calls.map(([event]) => event)).toEqual(warned ? ['topics_have_one_copy'] : []);
  },
);
