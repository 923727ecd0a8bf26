// Delivers a result to its callback URL. Owns the request, byte by byte, and when to try again.
//
// Invariants:
//   R1. The URL is opaque: host, path and query are used as they were given, nothing is normalised. T17
//   R2. Every attempt has the same body. T15
//   R3. Tried again after a 5xx, a timeout or a broken connection, with growing pauses; never after a 4xx. T15 T16
//   R4. The URL is a secret: it is in no log line and no error. T32
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

export interface DeliverySettings {
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
  readonly totalMsMax: number;
  readonly timeoutMs: number;
}

export const deliverySettings: DeliverySettings = {
  firstPauseMs: 500,
  pauseMsMax: 30_000,
  totalMsMax: 900_000,
  timeoutMs: 10_000,
};

/** `accepted` with 2xx; `refused` with anything that asking again would not change. */
export type DeliveryOutcome =
  | { readonly delivered: 'accepted' | 'refused'; readonly status: number }
  | { readonly delivered: 'given_up'; readonly reason: string };

export async function deliverResult(
  callbackUrl: string,
  body: string,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const until = Date.now() + settings.totalMsMax;
  for (let pauseMs = settings.firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, settings.pauseMsMax)) {
    const answer = await post(callbackUrl, body, settings.timeoutMs, signal);
    if (typeof answer === 'number' && answer < 500)
      return { delivered: answer >= 200 && answer < 300 ? 'accepted' : 'refused', status: answer };
    const reason = typeof answer === 'number' ? `status ${answer}` : answer;
    if (signal.aborted || Date.now() + pauseMs > until) return { delivered: 'given_up', reason };
    await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {}); // (R3), with jitter; an abort ends it
  }
}

/** The status, or in a word why there is none. */
function post(callbackUrl: string, body: string, timeoutMs: number, signal: AbortSignal): Promise<number | string> {
  const target = splitUrl(callbackUrl);
  if (target === null) return Promise.resolve(400); // not a URL: as good as refused
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      host: target.authority,
    };
    const options = {
      host: target.host,
      port: target.port,
      path: target.path,
      method: 'POST',
      headers,
      signal,
      timeout: timeoutMs,
    };
    const request = (target.secure ? httpsRequest : httpRequest)(options, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? 'no status'));
    });
    request.on('timeout', () => request.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    request.on('error', (error) => resolve('code' in error ? String(error.code) : error.name)); // (R4) a code, not a message
    request.end(body);
  });
}

interface Target {
  readonly secure: boolean;
  readonly authority: string;
  readonly host: string;
  readonly port: string;
  /** Path and query exactly as given. (R1) */
  readonly path: string;
}

function splitUrl(url: string): Target | null {
  const [, scheme, authority, rest = ''] = /^(https?):\/\/([^/?#]+)([^#]*)/i.exec(url) ?? [];
  const parsed = URL.parse(url);
  if (scheme === undefined || authority === undefined || parsed === null || /[^\x21-\x7e]/.test(rest)) return null;
  const secure = scheme.toLowerCase() === 'https';
  return {
    secure,
    authority,
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port || (secure ? '443' : '80'),
    path: rest.startsWith('/') ? rest : `/${rest}`,
  };
}
