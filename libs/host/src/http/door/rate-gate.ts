// A tenant goes no faster than its share: asked once per request, when the tenant is known. R43
import type { RateLimit, RateLimits, RateVerdict, TenantId } from '@dormouse/ports';
import { HttpProblem } from '../problems/problem.ts';

/** Header names and values of the draft standard: RateLimit-Policy and RateLimit. */
export type RateHeaders = Readonly<Record<string, string>>;

export interface RateGate {
  /** `quota`: the tenant's own requests per second, a bucket of that size. @throws HttpProblem RATE_LIMITED */
  pass(tenant: TenantId, quota?: number): Promise<RateHeaders>;
}

/** A burst of two seconds. */
export const limitOfRate = (perSecond: number): RateLimit | null =>
  perSecond <= 0 ? null : { perSecond, burst: Math.max(1, Math.round(perSecond * 2)) };

const none: RateHeaders = {};

export function createRateGate(limits: RateLimits, limit: RateLimit | null): RateGate {
  return {
    pass: async (tenant, quota) => {
      const own = quota === undefined ? limit : { perSecond: quota, burst: Math.max(1, Math.round(quota)) };
      return own === null ? none : take(limits, tenant, own);
    },
  };
}

async function take(limits: RateLimits, tenant: TenantId, limit: RateLimit): Promise<RateHeaders> {
  const verdict = await limits.take(tenant, 'api', limit);
  const headers = headersOf(limit, verdict);
  if (verdict.allowed) return headers;
  const { retryAfterMs } = verdict;
  throw new HttpProblem('RATE_LIMITED', 'The tenant has used its share for now.', { retryAfterMs, headers });
}

function headersOf({ perSecond, burst }: RateLimit, { remaining, retryAfterMs }: RateVerdict): RateHeaders {
  return {
    'ratelimit-policy': `"tenant";q=${burst};w=${Math.max(1, Math.round(burst / perSecond))}`,
    ratelimit: `"tenant";r=${remaining};t=${Math.ceil(retryAfterMs / 1_000)}`,
  };
}
