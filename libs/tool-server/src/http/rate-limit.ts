/**
 * Owns: a token bucket. Not here: what happens to a refused request. T23
 * By hand, for the reason at the runtime's port of rate limits: packages count in fixed windows.
 */
export interface RateLimit {
  /** Takes one token; when there is none, returns the milliseconds until there is one again. */
  readonly take: () => { readonly ok: true } | { readonly ok: false; readonly afterMs: number };
}

/** `perSecond` in the long run, `burst` at once. */
export function createRateLimit(perSecond: number, burst: number): RateLimit {
  let tokens = burst;
  let at = performance.now();
  return {
    take() {
      const now = performance.now();
      tokens = Math.min(burst, tokens + ((now - at) / 1_000) * perSecond);
      at = now;
      if (tokens < 1) return { ok: false, afterMs: Math.ceil(((1 - tokens) / perSecond) * 1_000) };
      tokens -= 1;
      return { ok: true };
    },
  };
}
