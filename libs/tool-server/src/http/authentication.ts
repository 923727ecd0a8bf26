/**
 * Owns: whether a request comes from a runtime that knows a configured secret. Invocations and notices alike. T33 T38
 *
 * A1. Any one configured secret is enough: that is how secrets are rotated.
 * A2. Comparisons take the same time for every wrong answer.
 * A3. A signature covers id, time and the exact bytes of the body, and is good for five minutes (Standard Webhooks).
 *     The package signs text, so a body that is not UTF-8 has no signature: decoding would make two bodies one text.
 * A4. A request that its headers already refute is refused before its body is read.
 */
import { isUtf8 } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

const toleranceSeconds = 300;

/** Secrets that a runtime may present; none means that every caller is accepted. */
export interface AuthenticationOptions {
  /** `Authorization: Bearer …` */
  readonly bearer?: string | readonly string[];
  /** Standard Webhooks: `whsec_` and base64, or the key itself. */
  readonly hmac?: string | readonly string[];
  /** Says that a server without secrets is meant to be open, also on an address that other machines reach. */
  readonly open?: boolean;
}

export interface Authentication {
  readonly isRequired: boolean;
  readonly secrets: readonly string[];
  /** Whether these headers may belong to a request that is accepted, whatever its body. (A4) */
  readonly mayAccept: (headers: IncomingHttpHeaders) => boolean;
  readonly accepts: (headers: IncomingHttpHeaders, body: Buffer) => boolean;
}

export function createAuthentication(options: AuthenticationOptions = {}): Authentication {
  const bearers = [options.bearer ?? []].flat();
  const keys = [options.hmac ?? []].flat();
  if ([...bearers, ...keys].some((secret) => secret === '')) throw new RangeError('a secret must not be empty');
  const webhooks = keys.map(webhookOf);
  const isRequired = bearers.length + keys.length > 0;
  const acceptsBearer = ({ authorization = '' }: IncomingHttpHeaders): boolean =>
    bearers.filter((secret) => isSame(authorization, `Bearer ${secret}`)).length > 0;
  return {
    isRequired,
    secrets: [...bearers, ...keys],
    mayAccept: (headers) => !isRequired || acceptsBearer(headers) || (keys.length > 0 && signatureOf(headers) !== null),
    accepts: (headers, body) =>
      !isRequired || acceptsBearer(headers) || webhooks.some((each) => isSigned(headers, body, each)),
  };
}

type Signature = Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>;

/** The signature data in the headers; null when there is none, or its time is over. (A3) */
function signatureOf(headers: IncomingHttpHeaders): Signature | null {
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headers[name]);
  if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') return null;
  if (!/^\d{1,12}$/.test(time) || Math.abs(Date.now() / 1_000 - Number(time)) > toleranceSeconds) return null;
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures };
}

/** (A2) (A3) */
function isSigned(headers: IncomingHttpHeaders, body: Buffer, webhook: Webhook): boolean {
  const signature = signatureOf(headers);
  if (signature === null || !isUtf8(body)) return false;
  try {
    webhook.verify(body, signature, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

function webhookOf(secret: string): Webhook {
  const isEncoded = /^whsec_(?=.{4})[A-Za-z0-9+/]+={0,2}$/.test(secret);
  return isEncoded ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: 'raw' });
}

/** (A2) */
export function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
