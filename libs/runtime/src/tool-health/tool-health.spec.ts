import { tenantId, type ActivityCounts, type ActivityRow, type BreakerState } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { bucketOf } from './time-buckets.ts';
import { healthOf, healthSince } from './tool-health.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const now = 1_764_000_030_000; // half a minute into its minute
const minute = 1_764_000_000_000;
const running = { paused: false };

interface Seen {
  readonly acks?: readonly number[];
  readonly callbacks?: readonly number[];
  readonly errors?: ActivityCounts['errors'];
  readonly breaker?: BreakerState | null;
  readonly writtenAt?: number;
  readonly reporter?: string;
}

const countsOf = (times: readonly number[] = []): Record<string, number> =>
  times.reduce<Record<string, number>>(
    (all, time) => ({ ...all, [bucketOf(time)]: (all[bucketOf(time)] ?? 0) + 1 }),
    {},
  );

const row = (minutesAgo: number, seen: Seen): ActivityRow => ({
  ...{
    tenant: tenantId('acme'),
    toolServerId: 'tsv_1',
    reporter: seen.reporter ?? 'one',
    from: minute - minutesAgo * minuteMs,
  },
  counts: { acks: countsOf(seen.acks), callbacks: countsOf(seen.callbacks), errors: seen.errors ?? {} },
  breaker: seen.breaker ?? null,
  writtenAt: seen.writtenAt ?? now,
});

const health = (rows: readonly ActivityRow[], server = running) =>
  healthOf(server, { rows, discoveredAt: null }, null, now);

describe('health', () => {
  it('H2 H3 of a server that was never called is unknown, with nulls', () => {
    const none = { p50: null, p99: null };
    const errors = { '5xx': 0, resets: 0, timeouts: 0, '4xx': 0 };
    expect(health([])).toEqual({
      ...{ state: 'unknown', discoveryAgeS: null, ackMs: none, callbackMs: none, breaker: 'closed' },
      errors: { '5m': 0, '1h': 0, '24h': 0 },
      errorsByClass: { '5m': errors, '1h': errors, '24h': errors },
      oldestOpenCall: null,
    });
  });

  it('has the age of the last discovery, the oldest call, and says when a person paused it', () => {
    const oldest = { toolServer: 'mail', toolCallId: 'call_1', since: 5 };
    const known = { rows: [row(0, { errors: { resets: 9 }, breaker: 'open' })], discoveredAt: now - 90_400 };
    expect(healthOf({ paused: true }, known, oldest, now)).toMatchObject({
      ...{ state: 'paused', breaker: 'open', discoveryAgeS: 90, oldestOpenCall: 'call_1' },
    });
  });

  it('adds up what several processes saw', () => {
    const seen = health([
      row(0, { reporter: 'a', acks: [10, 10], errors: { '5xx': 1 } }),
      row(0, { reporter: 'b', acks: [10, 5_000], errors: { '5xx': 2, '4xx': 4 } }),
      row(0, { reporter: 'c', callbacks: [60_000] }),
    ]);
    expect(seen.errors['5m']).toBe(7);
    expect(seen.errorsByClass['5m']).toEqual({ '5xx': 3, resets: 0, timeouts: 0, '4xx': 4 });
    expect(seen.ackMs.p50).toBeCloseTo(10, 0);
    expect(seen.ackMs.p99).toBeGreaterThan(4_700);
    expect(seen.callbackMs.p50).toBeGreaterThan(57_000);
  });

  it('H1 counts errors of 5 minutes, an hour and a day, and times of the last hour', () => {
    const at = (minutesAgo: number) => row(minutesAgo, { acks: [minutesAgo], errors: { timeouts: 1 } });
    const rows = [0, 5, 6, 60, 61, 24 * 60, 24 * 60 + 1].map(at);
    const seen = health(rows);
    expect(seen.errors).toEqual({ '5m': 2, '1h': 4, '24h': 6 });
    expect(seen.ackMs.p99).toBeCloseTo(60, -1);
    expect(healthSince(now)).toBe(minute - 24 * hourMs);
  });

  it('H3 fails when more than half of the POSTs failed lately, and recovers', () => {
    const half = row(0, { acks: [1], errors: { '5xx': 1 } });
    expect(health([half]).state).toBe('healthy');
    expect(health([half, row(1, { errors: { '4xx': 1 } })]).state).toBe('failing');
    const bad = row(30, { errors: { resets: 100 } });
    expect(health([bad]).state).toBe('failing');
    expect(health([bad, row(2, { acks: [1] })]).state).toBe('healthy');
    expect(health([row(20 * 60, { acks: [1] })]).state).toBe('healthy');
    expect(health([row(20 * 60, { callbacks: [1] })]).state).toBe('unknown');
  });

  it('H4 shows the worst breaker of the dispatchers that live', () => {
    const of = (reporter: string, breaker: BreakerState, writtenAt = now, minutesAgo = 0) =>
      row(minutesAgo, { reporter, breaker, writtenAt, acks: [1] });
    expect(health([of('a', 'closed'), of('b', 'half_open')])).toMatchObject({ breaker: 'half_open', state: 'failing' });
    expect(health([of('a', 'open'), of('b', 'half_open')]).breaker).toBe('open');
    expect(health([of('a', 'open', now - 31_000), of('b', 'closed')])).toMatchObject({
      ...{ breaker: 'closed', state: 'healthy' },
    });
    // The newer minute counts, also where both were written together.
    const closed = of('a', 'closed');
    const open = of('a', 'open', now, 1);
    expect([health([closed, open]).breaker, health([open, closed]).breaker]).toEqual(['closed', 'closed']);
  });
});
