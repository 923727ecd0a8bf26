/**
 * Owns: one POST of one body to one callback URL, byte by byte, and what its answer means.
 * Not here: retries (`outbox.ts`).
 *
 * P1. The URL is opaque: host, path and query are sent as given; nothing is normalised. T17
 * P2. The URL is a secret: it appears in no error and no log line. T32
 * P3. Redirects are not followed: only the given address is trusted, not one that its answer names.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

const requestsPerHostMax = 32;
const retryAfterMsMax = 300_000;

/** `again` after 5xx, a timeout or a broken connection; everything else is final. T15 T16 */
export type DeliveryAnswer =
  | { readonly kind: 'accepted' | 'refused'; readonly status: number }
  | { readonly kind: 'again'; readonly reason: string; readonly status?: number; readonly afterMs?: number };

/** One POST. */
export interface Post {
  readonly callbackUrl: string;
  readonly messageId: string;
  readonly body: string;
  readonly traceparent: string | null;
  readonly signal: AbortSignal;
}

export interface CallbackDelivery {
  readonly post: (post: Post) => Promise<DeliveryAnswer>;
  readonly close: () => void;
}

export function createCallbackDelivery(timeoutMs: number): CallbackDelivery {
  const options = { keepAlive: true, maxSockets: requestsPerHostMax, timeout: 60_000 };
  const [plain, secure] = [new HttpAgent(options), new HttpsAgent(options)];
  return {
    post({ callbackUrl, messageId, body, traceparent, signal }) {
      const target = splitCallbackUrl(callbackUrl);
      if (target === null) return Promise.resolve({ kind: 'refused', status: 0 });
      const { host, port, path } = target;
      const headers = {
        ...headersOf(target, messageId, traceparent),
        'content-length': Buffer.byteLength(body),
        host: target.authority,
      };
      const request = { host, port, path, method: 'POST', headers, signal, agent: target.secure ? secure : plain };
      return send(target.secure ? httpsRequest : httpRequest, request, body, timeoutMs);
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

function send(
  start: typeof httpRequest,
  options: Parameters<typeof httpRequest>[1],
  body: string,
  timeoutMs: number,
): Promise<DeliveryAnswer> {
  return new Promise((resolve) => {
    const request = start(options as URL & typeof options, (response: IncomingMessage) => {
      response.on('error', () => {}); // only the status is used; a body cut short changes nothing
      response.resume();
      resolve(judge(response.statusCode ?? 0, response.headers['retry-after']));
    });
    let timer: NodeJS.Timeout | undefined; // starts when there is a socket: waiting for one is not the peer's fault
    request.on('socket', () => {
      timer = setTimeout(() => request.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })), timeoutMs);
    });
    request.on('close', () => {
      clearTimeout(timer);
      resolve({ kind: 'again', reason: 'the connection ended' });
    });
    request.on('error', (error) =>
      resolve({ kind: 'again', reason: 'code' in error ? String(error.code) : error.name }),
    ); // (P2)
    request.end(body);
  });
}

export const headersOf = (
  { userInfo }: Target,
  messageId: string,
  traceparent: string | null,
): Readonly<Record<string, string>> => ({
  'content-type': 'application/json; charset=utf-8', // T14
  'idempotency-key': messageId,
  ...(traceparent === null ? {} : { traceparent }),
  ...(userInfo === null ? {} : { authorization: `Basic ${userInfo}` }),
});

/** The meaning of an answer with this status and `Retry-After`. */
export function judge(status: number, retryAfter: string | undefined): DeliveryAnswer {
  if (status < 500) return { kind: status >= 200 && status < 300 ? 'accepted' : 'refused', status }; // (P3) T16
  const seconds = Number(retryAfter);
  const afterMs = seconds > 0 ? Math.min(seconds * 1_000, retryAfterMsMax) : undefined;
  return { kind: 'again', reason: `status ${status}`, status, ...(afterMs === undefined ? {} : { afterMs }) };
}

interface Target {
  readonly secure: boolean;
  readonly authority: string;
  /** Base64 of `user:password` where the URL has them. */
  readonly userInfo: string | null;
  readonly host: string;
  readonly port: string;
  /** Path and query exactly as given. (P1) */
  readonly path: string;
}

/** Null for a URL that cannot be POSTed to: not http(s), or with characters that no request line may have. */
export function splitCallbackUrl(url: string): Target | null {
  const [, scheme, authority, rest = ''] = /^(https?):\/\/([^/?#]+)([^#]*)/i.exec(url) ?? [];
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (scheme === undefined || authority === undefined || parsed === null || /[^\x21-\x7e]/.test(rest)) return null;
  const secure = scheme.toLowerCase() === 'https';
  return {
    secure,
    authority: authority.replace(/^.*@/, ''),
    userInfo: userInfoOf(parsed),
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port || (secure ? '443' : '80'),
    path: rest.startsWith('/') ? rest : `/${rest}`,
  };
}

function userInfoOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  return Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
}
