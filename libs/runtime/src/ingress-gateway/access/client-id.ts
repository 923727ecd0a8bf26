// Ids of what clients send: of inputs, messages, requests, threads and registrations.
//
// Invariants:
//   K1. With an idempotency key the id is a function of (tenant, method, path, key) alone: the same request sent again,
//       to any process and at any time, is the same input, and the log dedups it for ever.
//   K2. Without one the id is ULID-like: ten characters of time, sixteen of randomness; it sorts by time.
//   K3. The public ids of one request (`msg_`, `req_`, `thr_`) carry the same 26 characters as its input id `c:`.
import { hash } from 'node:crypto';
import type { Clock, Entropy, TenantId } from '@dormouse/ports';
import { ulid } from '../../log/ulid.ts';

/** Where a request came in, and under which key, if any. */
export interface RequestOrigin {
  readonly tenant: TenantId;
  readonly method: string;
  /** The path without its query. */
  readonly path: string;
  readonly idempotencyKey: string | null;
}

export type PublicPrefix =
  'msg' | 'req' | 'thr' | 'agt' | 'tsv' | 'key' | 'ses' | 'cod' | 'sch' | 'tok' | 'whk' | 'dlv' | 'src' | 'lnk' | 'ers';

/** The 26 characters that name one request. */
export type RequestName = string;

export type MintRequestName = (origin: RequestOrigin) => RequestName;

export const inputIdOf = (name: RequestName): string => `c:${name}`;
export const publicId = (prefix: PublicPrefix, name: RequestName): string => `${prefix}_${name}`;

export function requestNames(deps: { readonly clock: Clock; readonly entropy: Entropy }): MintRequestName {
  return (origin) => {
    if (origin.idempotencyKey === null) return timeSortedName(deps.clock.now(), deps.entropy.nonce()); // (K2)
    const { tenant, method, path, idempotencyKey } = origin;
    return nameOfText(JSON.stringify([tenant, method, path, idempotencyKey])); // (K1)
  };
}

/** The same name for the same text, for ever. */
export const nameOfText = (text: string): RequestName => base32(Buffer.from(sha256(text), 'binary'), 26);

/** A ULID-like name from a time and a fresh nonce. */
export const timeSortedName = (now: number, nonce: string): string => ulid(now, sha256(nonce));

/** As text, a character per byte: faster than as a buffer. */
const sha256 = (text: string): string => hash('sha256', text, 'binary');

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function base32(bytes: Uint8Array, length: number): string {
  let bits = 0;
  let value = 0;
  let text = '';
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((value >>> bits) & 31);
      if (text.length === length) return text;
    }
  }
  return text;
}
