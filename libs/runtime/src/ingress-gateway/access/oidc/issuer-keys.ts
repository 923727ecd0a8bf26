// The keys of an OpenID Connect issuer: found by its discovery document, remembered, and read again.
//
// Invariants:
//   J1. An unknown key id has the keys read again: `readsMax` times in `readsWithinMs` at most, however many tokens
//       name one, once in `failedMs` while the issuer does not answer, and once at a time.
//   J2. Keys older than `freshMs` are read again beside the request that uses them, so that a key which the issuer has
//       withdrawn ends. While the issuer does not answer, the keys of before are good for `staleMsMax`.
//   J3. A key id that cannot be looked up is a fault, never a pass.
//   J4. The discovery document must be of the very issuer that is configured.
import { type Clock, Fault } from '@dormouse/ports';
import type { JSONWebKeySet, JWSHeaderParameters, JWTVerifyGetKey } from 'jose';
import { createLocalJWKSet } from 'jose/jwks/local';

export interface IssuerKeysPorts {
  readonly issuer: string;
  /** A JSON document of the issuer, bounded in size and time. @throws Fault */
  readonly readDocument: ReadDocument;
  readonly clock: Pick<Clock, 'now'>;
}

export type ReadDocument = (url: string) => Promise<unknown>;

const freshMs = 300_000;
const staleMsMax = 86_400_000;
const readsMax = 6;
const readsWithinMs = 60_000;
const failedMs = 1_000;
const keysMax = 256;

interface KnownKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly ids: ReadonlySet<string>;
  readonly readAt: number;
}

/** The result finds the key of a token's header. @throws Fault UNAVAILABLE, and the errors of `jose`. (J3) */
export function createIssuerKeys({ issuer, readDocument, clock }: IssuerKeysPorts): JWTVerifyGetKey {
  const state: { known: KnownKeys | null; failure: Fault | null } = { known: null, failure: null };
  let reading: Promise<void> | null = null;
  /** When the issuer answered lately, and when it last did not. */
  let reads: readonly number[] = [];
  let failedAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    const readAt = clock.now();
    try {
      const { keys } = await keySetOf(issuer, readDocument);
      const ids = new Set(keys.flatMap(({ kid }) => (typeof kid === 'string' ? [kid] : [])));
      reads = [...reads.slice(1 - readsMax), readAt];
      state.known = { find: createLocalJWKSet({ keys }), ids, readAt };
      state.failure = null;
    } catch (error) {
      failedAt = readAt;
      state.failure = error instanceof Fault ? error : unreadable('cannot be read', error);
    }
  }

  /** Resolves when a read ends, which is not begun where there were too many. (J1) */
  async function readAgain(): Promise<void> {
    const now = clock.now();
    const isTooOften = reads.length === readsMax && now - (reads[0] ?? 0) < readsWithinMs;
    if (reading === null && (isTooOften || now - failedAt < failedMs)) return;
    reading ??= read().finally(() => {
      reading = null;
    });
    await reading;
  }

  /** (J2) */
  function inForce(): KnownKeys | null {
    const { known } = state;
    return known !== null && clock.now() - known.readAt < staleMsMax ? known : null;
  }

  const has = (known: KnownKeys | null, { kid }: JWSHeaderParameters): boolean =>
    known !== null && (kid === undefined || known.ids.has(kid));

  return async (header, token) => {
    const remembered = inForce();
    if (!has(remembered, header))
      await readAgain(); // (J1)
    else if (remembered !== null && clock.now() - remembered.readAt >= freshMs) void readAgain(); // (J2) never rejects
    const known = inForce();
    if (known === null || (!has(known, header) && state.failure !== null))
      throw state.failure ?? unreadable('has not been read'); // (J3)
    return known.find(header, token);
  };
}

/** (J4) @throws Fault UNAVAILABLE */
async function keySetOf(issuer: string, readDocument: ReadDocument): Promise<JSONWebKeySet> {
  const discovery = await readDocument(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (memberOf(discovery, 'issuer') !== issuer)
    throw unreadable('names another issuer than DORMOUSE_OIDC_ISSUER in its discovery document');
  const address = memberOf(discovery, 'jwks_uri');
  if (typeof address !== 'string') throw unreadable('names no jwks_uri in its discovery document');
  const keys = memberOf(await readDocument(address), 'keys');
  if (!Array.isArray(keys) || keys.length > keysMax) throw unreadable('has no set of keys at its jwks_uri');
  return { keys: keys.filter((key) => typeof key === 'object' && key !== null) as JSONWebKeySet['keys'] };
}

const memberOf = (document: unknown, name: string): unknown =>
  typeof document === 'object' && document !== null ? (document as Readonly<Record<string, unknown>>)[name] : undefined;

const unreadable = (what: string, cause?: unknown): Fault =>
  new Fault('UNAVAILABLE', `The identity provider ${what}; tokens that need it are refused until it can be read.`, {
    cause,
  });
