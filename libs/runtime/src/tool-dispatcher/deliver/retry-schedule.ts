// When to retry: exponential backoff with jitter, the server's `Retry-After`, and an end. RAP transport, Delivery. R5
import type { DispatcherSettings } from '../settings.ts';

type Timing = Pick<DispatcherSettings, 'retryFirstMs' | 'retryMaxMs' | 'retryTotalMs'>;

/**
 * Milliseconds before the next attempt, or null when it would come after the end. Jitter takes up to half off, so that
 * calls that failed together are not retried together; a `Retry-After` is a minimum. `attempts` counts the attempts
 * made (1, 2, …), `elapsedMs` runs from the first.
 */
export function retryDelayMs(
  timing: Timing,
  attempts: number,
  elapsedMs: number,
  retryAfterMs: number | null,
  fraction: number,
): number | null {
  const backoffMs = Math.min(timing.retryMaxMs, timing.retryFirstMs * 2 ** Math.min(attempts - 1, 30));
  const delayMs = Math.max(Math.round(backoffMs * (1 - fraction / 2)), retryAfterMs ?? 0);
  return elapsedMs + delayMs > timing.retryTotalMs ? null : delayMs;
}
