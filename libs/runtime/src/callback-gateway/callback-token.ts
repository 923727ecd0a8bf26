// The token in a callback URL: it permits its bearer to report on one call. Derived from its fields when needed, so a
// repeated POST carries the same URL; never stored, never logged. Not here: whether the call still waits (`decide`).
//
// Invariants:
//   K1. The MAC covers every field, the key's id and the format's version; changing any bit of a token refuses it.
//   K2. Equal fields and an equal time of signing give the same token for as long as the key is not revoked: the key is
//       chosen by the time of the commit, not by what is newest now.
//   K3. A retired key still verifies; a revoked one answers "gone", and only for a token that it really signed.
//   K4. One spelling per token: base64url that decodes to the same bytes in another spelling is refused.
import { storedTenantId, type TenantId } from '@dormouse/ports';
import { timingSafeEqual } from 'node:crypto';
import { type HashKey, hashKeyOf, keyedHash } from '../log/keyed-hash.ts';

export interface CallbackScope {
  readonly tenant: TenantId;
  readonly thread: string;
  readonly toolCallId: string;
  readonly toolServer: string;
  /** Milliseconds since the epoch; null for never. */
  readonly expiresAt: number | null;
}

export interface CallbackKey {
  /** 1 to 255 bytes of UTF-8. */
  readonly id: string;
  /** 32 bytes or more. */
  readonly secret: Uint8Array;
  /** Signs commits from this time on, milliseconds since the epoch. */
  readonly since: number;
  readonly revoked: boolean;
}

export type TokenVerdict =
  | { readonly ok: true; readonly scope: CallbackScope; readonly keyId: string }
  | {
      readonly ok: false;
      readonly status: 401 | 410;
      readonly code: 'UNAUTHENTICATED' | 'CALLBACK_EXPIRED';
      readonly detail: string;
    };

export interface CallbackTokens {
  /** The callback URL for a call that was committed `at` this time. */
  url(scope: CallbackScope, at: number): string;
  verify(token: string, now: number): TokenVerdict;
}

/** A key as it is used: imported once. */
interface ReadyKey extends Omit<CallbackKey, 'secret'> {
  readonly secret: HashKey;
}

/** The content of a token that we signed, and the key. */
interface Signed {
  readonly scope: CallbackScope;
  readonly key: ReadyKey;
}

const formatVersion = 1;
const macBytes = 32;
const expiryBytes = 6;
const tokenCharactersMax = 4_096;
const secretBytesMin = 32;
const purpose = Buffer.from('dormouse callback\n');
/** Of one UTF-16 unit. */
const utf8BytesMax = 3;

/** @throws RangeError when there is no usable key. */
export function createCallbackTokens(options: {
  readonly keys: readonly CallbackKey[];
  /** `https://host[/prefix]` */ readonly publicBase: string;
}): CallbackTokens {
  if (options.keys.some(({ secret }) => secret.length < secretBytesMin))
    throw new RangeError(`a callback key needs ${secretBytesMin} bytes or more`);
  const keys = options.keys
    .toSorted((left, right) => right.since - left.since)
    .map((key): ReadyKey => ({ ...key, secret: hashKeyOf(key.secret) }));
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size !== keys.length) throw new RangeError('two callback keys have one id');
  const usable = keys.filter(({ revoked }) => !revoked);
  const oldest = usable.at(-1);
  if (oldest === undefined) throw new RangeError('there is no callback key that is not revoked');
  const base = options.publicBase.replace(/\/+$/, '');
  return {
    url(scope, at) {
      const key = usable.find(({ since }) => since <= at) ?? oldest; // (K2)
      return `${base}/callback/${sign(scope, key)}`;
    },
    verify(token, now) {
      const signed = authenticate(token, byId);
      return signed === null ? forged : judge(signed, now);
    },
  };
}

function sign(scope: CallbackScope, key: ReadyKey): string {
  const covered = encode(scope, key.id);
  return Buffer.concat([covered.subarray(purpose.length), keyedHash(key.secret, covered)]).toString('base64url');
}

/** Null for a text that none of our keys has signed. */
function authenticate(token: string, keys: ReadonlyMap<string, ReadyKey>): Signed | null {
  if (token.length > tokenCharactersMax) return null;
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length <= macBytes || bytes.toString('base64url') !== token) return null; // (K4)
  const covered = Buffer.concat([purpose, bytes.subarray(0, -macBytes)]);
  const read = decode(covered.subarray(purpose.length));
  const key = read === null ? undefined : keys.get(read.keyId);
  if (read === null || key === undefined) return null;
  const isOurs = timingSafeEqual(keyedHash(key.secret, covered), bytes.subarray(-macBytes)); // (K1)
  return isOurs ? { scope: read.scope, key } : null;
}

function judge({ scope, key }: Signed, now: number): TokenVerdict {
  if (key.revoked) return gone('the key of this callback URL was revoked'); // (K3)
  if (scope.expiresAt !== null && now >= scope.expiresAt) return gone('this callback URL has expired');
  return { ok: true, scope, keyId: key.id };
}

const forged: TokenVerdict = {
  ok: false,
  status: 401,
  code: 'UNAUTHENTICATED',
  detail: 'this callback URL is not one of ours',
};
const gone = (detail: string): TokenVerdict => ({ ok: false, status: 410, code: 'CALLBACK_EXPIRED', detail });

/** What the MAC covers: purpose, version, expiry, then each field after its length: no field runs into the next. */
function encode(scope: CallbackScope, keyId: string): Buffer {
  const fields = [keyId, scope.tenant, scope.thread, scope.toolCallId, scope.toolServer];
  const head = purpose.length + 1 + expiryBytes;
  const bytes = Buffer.allocUnsafe(fields.reduce((size, field) => size + 2 + field.length * utf8BytesMax, head));
  bytes.set(purpose);
  bytes[purpose.length] = formatVersion;
  bytes.writeUIntBE(scope.expiresAt === null ? 0 : scope.expiresAt + 1, purpose.length + 1, expiryBytes);
  let end = head;
  for (const field of fields) {
    const length = bytes.write(field, end + 2, 'utf8');
    bytes.writeUInt16BE(length, end);
    end += 2 + length;
  }
  return bytes.subarray(0, end);
}

function decode(payload: Buffer): { readonly scope: CallbackScope; readonly keyId: string } | null {
  if (payload.length < 1 + expiryBytes || payload[0] !== formatVersion) return null;
  const expiry = payload.readUIntBE(1, expiryBytes);
  const fields: string[] = [];
  for (let offset = 1 + expiryBytes; offset < payload.length;) {
    if (offset + 2 > payload.length) return null;
    const end = offset + 2 + payload.readUInt16BE(offset);
    if (end > payload.length) return null;
    fields.push(payload.toString('utf8', offset + 2, end));
    offset = end;
  }
  if (fields.length !== 5) return null;
  const [keyId, tenant, thread, toolCallId, toolServer] = fields as [string, string, string, string, string];
  const expiresAt = expiry === 0 ? null : expiry - 1;
  return { keyId, scope: { tenant: storedTenantId(tenant), thread, toolCallId, toolServer, expiresAt } };
}
