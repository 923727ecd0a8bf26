// The health of one tool server, as operators read it. Pure: what processes saw of it in, health out.
//
// Invariants:
//   H1. A window begins with the minute in which it begins: the last 5 minutes are between 5 and 6.
//   H2. A fact that was not measured is null, a count of nothing 0.
//   H3. `unknown`: no POST in 24 hours, and no breaker that holds. `failing`: a breaker holds, or more than half of the
//       POSTs failed in the shortest window that has any. An operator's `paused` goes before both.
//   H4. A breaker holds as long as its dispatcher says so; one that has said nothing for `breakerFreshMs` has ended. Of
//       several dispatchers the worst state counts.
import {
  type ActivityRow,
  type BreakerState,
  type BucketCounts,
  type KnownActivity,
  type OpenCall,
  type PostError,
  postErrors,
  type ToolServer,
} from '@dormouse/ports';
import { addTo, percentile, sumOf } from './time-buckets.ts';

export interface Percentiles {
  /** Milliseconds; null where nothing was measured. */
  readonly p50: number | null;
  readonly p99: number | null;
}

export type ErrorsByClass = Readonly<Record<PostError, number>>;

export const healthWindows = ['5m', '1h', '24h'] as const;
export type HealthWindow = (typeof healthWindows)[number];

export interface ToolHealth {
  readonly state: 'healthy' | 'failing' | 'paused' | 'unknown';
  /** Seconds since a valid manifest was last fetched. */
  readonly discoveryAgeS: number | null;
  /** Of the last hour, like `callbackMs`. */
  readonly ackMs: Percentiles;
  readonly callbackMs: Percentiles;
  readonly errors: Readonly<Record<HealthWindow, number>>;
  readonly errorsByClass: Readonly<Record<HealthWindow, ErrorsByClass>>;
  readonly breaker: BreakerState;
  /** Id of the call. */
  readonly oldestOpenCall: string | null;
}

const minuteMs = 60_000;
const windowMs: Readonly<Record<HealthWindow, number>> = {
  '5m': 5 * minuteMs,
  '1h': 60 * minuteMs,
  '24h': 24 * 60 * minuteMs,
};
/** Three times as long as a dispatcher lets pass until it says again that a breaker holds. */
export const breakerFreshMs = 30_000;

/** From when on rows are wanted. */
export const healthSince = (now: number): number => beginOf('24h', now);

/** `now`: milliseconds since the epoch, as every time here. */
export function healthOf(
  server: Pick<ToolServer, 'paused'>,
  { rows, discoveredAt }: KnownActivity,
  oldest: OpenCall | null,
  now: number,
): ToolHealth {
  const breaker = breakerOf(rows, now);
  const errorsByClass = byWindow((window) => errorsIn(rowsOf(rows, window, now)));
  const hour = rowsOf(rows, '1h', now);
  return {
    state: server.paused ? 'paused' : stateOf(rows, breaker, now),
    discoveryAgeS: discoveredAt === null ? null : Math.max(0, Math.round((now - discoveredAt) / 1_000)),
    ackMs: percentilesOf(hour.map(({ counts }) => counts.acks)),
    callbackMs: percentilesOf(hour.map(({ counts }) => counts.callbacks)),
    errors: byWindow((window) => sumOf(errorsByClass[window])),
    errorsByClass,
    breaker,
    oldestOpenCall: oldest?.toolCallId ?? null,
  };
}

const byWindow = <Fact>(of: (window: HealthWindow) => Fact): Readonly<Record<HealthWindow, Fact>> => ({
  '5m': of('5m'),
  '1h': of('1h'),
  '24h': of('24h'),
});

/** (H1) */
const beginOf = (window: HealthWindow, now: number): number =>
  Math.floor((now - windowMs[window]) / minuteMs) * minuteMs;

const rowsOf = (rows: readonly ActivityRow[], window: HealthWindow, now: number): readonly ActivityRow[] =>
  rows.filter(({ from }) => from >= beginOf(window, now));

function errorsIn(rows: readonly ActivityRow[]): ErrorsByClass {
  const errors: Record<PostError, number> = { '5xx': 0, resets: 0, timeouts: 0, '4xx': 0 };
  for (const { counts } of rows) for (const kind of postErrors) errors[kind] += counts.errors[kind] ?? 0;
  return errors;
}

function percentilesOf(all: readonly BucketCounts[]): Percentiles {
  const sums: Record<string, number> = {};
  for (const counts of all) addTo(sums, counts);
  return { p50: percentile(sums, 0.5), p99: percentile(sums, 0.99) };
}

/** (H3) */
function stateOf(rows: readonly ActivityRow[], breaker: BreakerState, now: number): ToolHealth['state'] {
  if (breaker !== 'closed') return 'failing';
  for (const window of healthWindows) {
    const within = rowsOf(rows, window, now);
    const failed = sumOf(errorsIn(within));
    const posts = failed + within.reduce((sum, { counts }) => sum + sumOf(counts.acks), 0);
    if (posts > 0) return 2 * failed > posts ? 'failing' : 'healthy';
  }
  return 'unknown';
}

const severity: readonly BreakerState[] = ['closed', 'half_open', 'open'];

/** (H4) */
function breakerOf(rows: readonly ActivityRow[], now: number): BreakerState {
  const latest = new Map<string, ActivityRow>();
  for (const row of rows)
    if (row.breaker !== null && row.from >= (latest.get(row.reporter)?.from ?? 0)) latest.set(row.reporter, row);
  let worst: BreakerState = 'closed';
  for (const { breaker, writtenAt } of latest.values())
    if (breaker !== null && now - writtenAt <= breakerFreshMs && severity.indexOf(breaker) > severity.indexOf(worst))
      worst = breaker;
  return worst;
}
