// fetch that retries where a retry is safe and may help.
//
// Invariants:
//   T1. Every POST carries an idempotency key, the same in every attempt: asked twice, done once.
//   T2. Retried: no answer, 503, 429, and "still running" for a key this client has sent before. Nothing else.
//   T3. The server's `Retry-After` is obeyed; the whole takes at most `totalMsMax` before the last attempt.
import { ConnectionProblem } from './api-problem.ts';
import { freshKey } from './fresh-key.ts';

export interface RetrySettings {
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
  readonly totalMsMax: number;
}

export const retrySettings: RetrySettings = { firstPauseMs: 200, pauseMsMax: 5_000, totalMsMax: 15_000 };

export function retryingFetch(
  send: (request: Request) => Promise<Response>,
  settings: RetrySettings,
  baseUrl: string,
): (request: Request) => Promise<Response> {
  return async (given) => {
    const request = withIdempotencyKey(given);
    const until = Date.now() + settings.totalMsMax;
    for (
      let attempt = 1, pauseMs = settings.firstPauseMs;
      ;
      attempt += 1, pauseMs = Math.min(pauseMs * 2, settings.pauseMsMax)
    ) {
      const outcome = await attemptOnce(send, request);
      const waitMs = outcome instanceof Response ? await pauseAfter(outcome, attempt, pauseMs) : jittered(pauseMs);
      if (waitMs === null || Date.now() + waitMs > until) return settle(outcome, baseUrl);
      await pause(waitMs, request.signal);
    }
  };
}

function withIdempotencyKey(request: Request): Request {
  if (request.method !== 'POST' || request.headers.has('idempotency-key')) return request;
  const keyed = request.clone();
  keyed.headers.set('idempotency-key', freshKey()); // (T1)
  return keyed;
}

async function attemptOnce(
  send: (request: Request) => Promise<Response>,
  request: Request,
): Promise<Response | TypeError> {
  try {
    return await send(request.clone());
  } catch (error) {
    if (error instanceof TypeError && !request.signal.aborted) return error; // what fetch throws when there is no answer
    throw error;
  }
}

/** How long to wait before the retry; null when this answer is final. (T2) */
async function pauseAfter(response: Response, attempt: number, pauseMs: number): Promise<number | null> {
  if (response.status === 503 || response.status === 429) return retryAfterMs(response) ?? jittered(pauseMs); // (T3)
  if (response.status !== 409 || attempt === 1) return null;
  return /"IDEMPOTENCY_IN_PROGRESS"/.test(await response.clone().text()) ? jittered(pauseMs) : null;
}

function settle(outcome: Response | TypeError, baseUrl: string): Response {
  if (outcome instanceof Response) return outcome;
  throw new ConnectionProblem(baseUrl, `does not answer (${reasonOf(outcome)})`, outcome);
}

/** fetch says "fetch failed"; the reason is its cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string')
    return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}

function retryAfterMs(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null;
}

export const jittered = (ms: number): number => ms * (0.5 + Math.random() / 2);

/** Resolves after `ms`; rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    if (signal?.aborted === true) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
  });
}
