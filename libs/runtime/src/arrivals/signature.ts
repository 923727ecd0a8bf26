// Whether a delivery was signed with the secret of its source, by the scheme of its kind. Pure: the time is given.
//
// Invariants:
//   G1. Every byte of the body, and every character that the signature covers, is judged as it came: another spelling
//       of a good signature is a bad one.
//   G2. Signatures are compared in constant time; a comparison ends early only for another length, which is public.
//   G3. A scheme that signs a time refuses one that is further away than `toleranceS`, in either direction.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SourceKind } from '@dormouse/ports';
import { unreachable } from '@dormouse/thread';
import { Webhook } from 'standardwebhooks';

/** Headers as Node has them: names in lower case. */
export type DeliveryHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface SignedDelivery {
  readonly headers: DeliveryHeaders;
  readonly body: Uint8Array;
}

const toleranceS = 300;
const signaturesMax = 20;

/** The value of a header that came once; null otherwise. */
export function headerOf(headers: DeliveryHeaders, name: string): string | null {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'string' ? value : null;
}

/** `now`: milliseconds since the epoch, by the wall clock. */
export function isSigned(kind: SourceKind, secret: string, delivery: SignedDelivery, now: number): boolean {
  switch (kind) {
    case 'github':
      return isSignedByGithub(secret, delivery);
    case 'stripe':
      return isSignedByStripe(secret, delivery, now);
    case 'slack':
      return isSignedBySlack(secret, delivery, now);
    case 'standard':
      return isSignedByStandard(secret, delivery, now);
    default:
      return unreachable(kind);
  }
}

/** Why deliveries of this kind can never be signed with this secret; null when they can. */
export function secretProblem(kind: SourceKind, secret: string): string | null {
  if (kind !== 'standard') return null;
  try {
    new Webhook(secret);
    return null;
  } catch {
    return 'is no secret of Standard Webhooks: `whsec_` and base64';
  }
}

function isSignedByGithub(secret: string, { headers, body }: SignedDelivery): boolean {
  return isSame(headerOf(headers, 'x-hub-signature-256'), `sha256=${macOf(secret, body)}`);
}

/** `t=1700000000,v1=…,v1=…`: of several signatures, one for each secret during its rotation, one has to be good. */
function isSignedByStripe(secret: string, { headers, body }: SignedDelivery, now: number): boolean {
  const parts = (headerOf(headers, 'stripe-signature') ?? '').split(',').map((part) => part.split('='));
  const valuesOf = (name: string): readonly string[] =>
    parts.flatMap(([key, value, ...rest]) => (key === name && value !== undefined && rest.length === 0 ? [value] : []));
  const [time, ...others] = valuesOf('t');
  if (time === undefined || others.length > 0 || !isNear(time, now)) return false;
  const expected = macOf(secret, `${time}.`, body);
  return isAnySame(valuesOf('v1'), expected);
}

function isSignedBySlack(secret: string, { headers, body }: SignedDelivery, now: number): boolean {
  const time = headerOf(headers, 'x-slack-request-timestamp');
  if (time === null || !isNear(time, now)) return false;
  return isSame(headerOf(headers, 'x-slack-signature'), `v0=${macOf(secret, `v0:${time}:`, body)}`);
}

function isSignedByStandard(secret: string, { headers, body }: SignedDelivery, now: number): boolean {
  const id = headerOf(headers, 'webhook-id');
  const time = headerOf(headers, 'webhook-timestamp');
  const text = textOf(body);
  if (id === null || id === '' || time === null || !isNear(time, now) || text === null) return false;
  if (secretProblem('standard', secret) !== null) return false;
  const expected = new Webhook(secret).sign(id, new Date(Number(time) * 1_000), text);
  return isAnySame((headerOf(headers, 'webhook-signature') ?? '').split(' '), expected);
}

/** Hex. */
function macOf(secret: string, ...parts: readonly (string | Uint8Array)[]): string {
  const mac = createHmac('sha256', secret);
  for (const part of parts) mac.update(part);
  return mac.digest('hex');
}

/** (G2) */
function isSame(given: string | null, expected: string): boolean {
  const [left, right] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const isAnySame = (given: readonly string[], expected: string): boolean =>
  given.slice(0, signaturesMax).filter((each) => isSame(each, expected)).length > 0;

/** Whole seconds since the epoch in their one spelling. (G1, G3) */
const isNear = (seconds: string, now: number): boolean =>
  /^[1-9]\d{0,11}$/.test(seconds) && Math.abs(now / 1_000 - Number(seconds)) <= toleranceS;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null for bytes that are no UTF-8: read leniently, two bodies would be one text. (G1) */
export function textOf(body: Uint8Array): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}
