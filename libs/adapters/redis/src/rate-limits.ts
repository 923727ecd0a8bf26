// Rates that all processes count together, one key per tenant and bucket. Port: ports/world/rate-limits.ts. Without
// Redis each process counts alone (rate-limits B3). By hand: rate-limiter-flexible counts in fixed windows; the port is
// a token bucket that says the exact wait.
//
// Invariants:
//   T1. A refusal holds until the time that it names: until then Redis would refuse too, and is not asked. A storm of
//       one tenant costs Redis as much as its limit allows, not as much as it sends. A limit that was changed is asked.
import { createBoundedMap } from '@dormouse/collections';
import { localRateLimits, type RateLimit, type RateLimits, type RateVerdict } from '@dormouse/ports';
import type { RedisLink } from './redis-link.ts';

/**
 * The step of `takeCell`, on the server's clock so that no two processes disagree about the time.
 * KEYS[1]: arrival in microseconds. ARGV: microseconds each, burst. Answers allowed, remaining, milliseconds to wait.
 */
const script = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local each = tonumber(ARGV[1])
local burst = tonumber(ARGV[2])
local arrival = tonumber(redis.call('GET', KEYS[1]) or now)
local following = math.max(arrival, now) + each
local early = following - now - burst * each
if early > 0 then return {0, 0, math.ceil(early / 1000)} end
redis.call('SET', KEYS[1], string.format('%.0f', following), 'PX', math.ceil((following - now) / 1000) + 1000)
return {1, math.floor(-early / each + 0.000001), 0}
`;

interface Refusal extends RateLimit {
  /** As `performance.now()` counts. */
  readonly until: number;
}

const refusalsMax = 10_000;

export function createRateLimits(link: RedisLink, prefix: string): RateLimits {
  const alone = localRateLimits(() => performance.now());
  const refusals = createBoundedMap<Refusal>(refusalsMax);

  /** (T1) */
  function refusedNow(key: string, { perSecond, burst }: RateLimit): RateVerdict | null {
    const refusal = refusals.get(key);
    if (refusal === undefined || refusal.perSecond !== perSecond || refusal.burst !== burst) return null;
    const retryAfterMs = Math.ceil(refusal.until - performance.now());
    return retryAfterMs > 0 ? { allowed: false, remaining: 0, retryAfterMs } : null;
  }

  function answered(key: string, limit: RateLimit, verdict: RateVerdict): RateVerdict {
    if (!verdict.allowed) refusals.set(key, { ...limit, until: performance.now() + verdict.retryAfterMs });
    return verdict;
  }

  return {
    take: async (tenant, bucket, limit) => {
      const key = `${prefix}${tenant}:rate:${bucket}`;
      const refusal = refusedNow(key, limit);
      if (refusal !== null) return refusal;
      const answer = await link.ask<unknown>(
        (client) => client.eval(script, 1, key, String(1_000_000 / limit.perSecond), String(limit.burst)),
        null,
      );
      const verdict = verdictOf(answer);
      return verdict === null ? alone.take(tenant, bucket, limit) : answered(key, limit, verdict);
    },
  };
}

function verdictOf(answer: unknown): RateVerdict | null {
  if (!Array.isArray(answer)) return null;
  const [allowed, remaining, retryAfterMs] = answer.map(Number);
  if (allowed === undefined || remaining === undefined || retryAfterMs === undefined) return null;
  return { allowed: allowed === 1, remaining, retryAfterMs };
}
