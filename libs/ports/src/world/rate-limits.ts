// How fast a tenant may go. A limit protects other tenants, as no guarantee: without a shared count a process decides.
// By hand: rate-limiter-flexible counts in fixed windows; this is a token bucket that says exactly how long to wait.
//
// Contract (contracts/rate-limits.contract.ts):
//   B1. Over any time at most `burst` and then `perSecond` are allowed, per tenant and bucket; tenants share nothing.
//   B2. A refusal says how long to wait; after that time one is allowed.
//   B3. It never fails: where the shared count is away, each process counts alone.
import type { TenantId } from '@dormouse/thread';
import { createBoundedMap } from '@dormouse/collections';

export interface RateLimit {
  readonly perSecond: number;
  /** How many are allowed at once after a pause. */
  readonly burst: number;
}

export interface RateVerdict {
  readonly allowed: boolean;
  /** What is left of the burst after this one. */
  readonly remaining: number;
  /** Milliseconds until one is allowed again; 0 when this one was. */
  readonly retryAfterMs: number;
}

export interface RateLimits {
  take(tenant: TenantId, bucket: string, limit: RateLimit): Promise<RateVerdict>;
}

/**
 * One step of the generic cell rate algorithm (ITU-T I.371): `arrival` is the stored theoretical arrival time, in
 * milliseconds. `keep` is the value to store now; null when nothing was taken.
 */
function takeCell(
  arrival: number,
  now: number,
  { perSecond, burst }: RateLimit,
): RateVerdict & { readonly keep: number | null } {
  const each = 1_000 / perSecond;
  const next = Math.max(arrival, now) + each;
  const early = next - now - burst * each;
  if (early > 0) return { allowed: false, remaining: 0, retryAfterMs: Math.ceil(early), keep: null };
  return { allowed: true, remaining: Math.floor(-early / each + 1e-9), retryAfterMs: 0, keep: next };
}

/** Counts inside one process; the oldest count is forgotten first. */
export function localRateLimits(now: () => number, keysMax = 10_000): RateLimits {
  const arrivals = createBoundedMap<number>(keysMax);
  return {
    take: (tenant, bucket, limit) => {
      const key = `${tenant} ${bucket}`;
      const { keep, ...verdict } = takeCell(arrivals.get(key) ?? 0, now(), limit);
      if (keep !== null) arrivals.set(key, keep);
      return Promise.resolve(verdict);
    },
  };
}
