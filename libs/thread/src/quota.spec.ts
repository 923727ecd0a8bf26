// What the quotas of a tenant change in the decisions of its threads.
import { describe, expect, it } from 'vitest';
import type { TenantQuota } from './moment.ts';
import {
  answered,
  call,
  given,
  happened,
  idle,
  play,
  retry,
  said,
  startOfTime,
  subscribed,
  type Timed,
} from './spec/scene.ts';

/** Idle, with one subscription. */
const watching = () => [...idle(), said('m1'), answered('', call('weather')), subscribed(), answered('ok')];

const at = startOfTime + 1_000_000;
const budget = { budget: 'tokens_per_day_tenant', used: 7, limit: 5 };
const spent: TenantQuota = { spent: () => budget, isFull: () => false };
const full = (of: 'threads' | 'subscriptions'): TenantQuota => ({ spent: () => null, isFull: (asked) => asked === of });
const under = (quota: TenantQuota, input: Timed['input'], after = 0): Timed => ({ at: at + after, input, quota });

describe('a tenant whose budget of the day is used up', () => {
  it('is asked nothing more: the budget is in the log, and what came is kept', () => {
    const { events, owes, thread } = given(...idle()).when(under(spent, said('m1')));
    expect(events.map(({ type }) => type)).toEqual(['MessageAccepted', 'BudgetExceeded']);
    expect(events.at(-1)).toMatchObject(budget);
    expect([owes, thread.stalled]).toEqual([[], true]);
  });

  it('gets an answer recorded that was being given', () => {
    const { types } = given(...idle(), said('m1')).when(under(spent, answered('done')));
    expect(types).toEqual(['CompletionRecorded']);
  });

  it('goes on with a retry once there is a budget again, and not before', () => {
    const stalled = [...idle(), under(spent, said('m1'))];
    expect(given(...stalled).when(under(spent, retry(), 1)).types).toEqual(['BudgetExceeded']);
    expect(given(...stalled).when({ at: at + 1, input: retry() }).owes).toEqual(['RequestCompletion']);
  });

  it('a storm of events costs it no completion', () => {
    const storm = Array.from({ length: 40 }, (_, nth) =>
      under(spent, happened(0, `e${nth}`, { associative: true }), nth),
    );
    const scene = play(...watching(), ...storm);
    const late = scene.events.slice(play(...watching()).events.length).map(({ type }) => type);
    expect(late.filter((type) => type === 'SubscriptionEventReceived')).toHaveLength(40);
    expect(late).not.toContain('CompletionRequested');
    expect(late).toContain('BudgetExceeded');
  });
});

describe('a tenant that has as many as it may', () => {
  it('opens no further thread by a call, and keeps those that it has', () => {
    const { events } = given(...idle(), said('m1')).when(
      under(full('threads'), answered('', call('spawn_thread', { instructions: 'go' }))),
    );
    expect(JSON.stringify(events)).toContain('as many open threads as it may');
    expect(events.map(({ type }) => type)).not.toContain('ChildSpawned');
  });

  it('opens no further subscription: the call ends with an error, and its tool server is notified', () => {
    const { events, owes } = given(...idle(), said('m1'), answered('', call('weather'))).when(
      under(full('subscriptions'), subscribed()),
    );
    expect(events.find(({ type }) => type === 'ToolCallSettled')).toMatchObject({ outcome: 'error' });
    expect([events.some(({ type }) => type === 'SubscriptionOpened'), owes.includes('SendCancelNotices')]).toEqual([
      false,
      true,
    ]);
  });
});
