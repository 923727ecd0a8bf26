/**
 * Owns: the POST to a callback URL by `fetch`, for runtimes whose `node:http` cannot send it (Workers).
 *
 * P1. Host, path and query are sent as `fetch` spells the URL: as given, unless its path has `.` or `..` segments or
 *     characters that a URL has to escape. T17
 * P2. The URL is a secret: it appears in no error and no log line. T32
 * P3. Redirects are not followed.
 */
import { type CallbackDelivery, headersOf, judge, splitCallbackUrl } from './callback-delivery.ts';

export function createFetchDelivery(timeoutMs: number): CallbackDelivery {
  return {
    async post({ callbackUrl, messageId, body, traceparent, signal }) {
      const target = splitCallbackUrl(callbackUrl);
      if (target === null) return { kind: 'refused', status: 0 };
      const url = `${target.secure ? 'https' : 'http'}://${target.authority}${target.path}`;
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: headersOf(target, messageId, traceparent),
          body,
          redirect: 'manual', // (P3)
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        await response.body?.cancel(); // only the status is used
        return judge(response.status, response.headers.get('retry-after') ?? undefined);
      } catch (error) {
        return { kind: 'again', reason: error instanceof Error ? error.name : 'unknown' }; // (P2)
      }
    },
    close() {},
  };
}
