// Sessions of the console: an API key is exchanged once for a credential that a browser may hold. A code is exchanged
// for a session, so that a link can open one without a key in it.
//
// Invariants:
//   N1. A session can do what its key can, and for no longer: it ends with the key, at its own end, or when closed.
//   N2. A code opens one session: of several that redeem it at once, in whatever process, the one whose removal it was.
//   N3. Neither is stored: their SHA-256 is, beside those of the keys.
//   N4. A key has at most `perKeyMax` sessions and as many codes; the oldest ends for one more, and expired ones are
//       removed on the way.
import type { ApiKey, DerivedKey } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { type KeyApi, sha256 } from './api-keys.ts';
import { publicId, timeSortedName } from './client-id.ts';

export const sessionTtlMs = 14 * 86_400_000;
export const codeTtlMs = 10 * 60_000;
const perKeyMax = 100;

/** The name and the scopes are those of its key. */
export interface Session extends Pick<ApiKey, 'tenant' | 'name' | 'scopes'> {
  /** Names of the agents whose threads it reaches, as its key; null for all. */
  readonly agents: readonly string[] | null;
  /** Id of its key. */
  readonly keyId: string;
  /** SHA-256 of the session, and of its key: it ends with the first of them. */
  readonly keys: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface OpenedSession extends Session {
  /** What the browser holds. */
  readonly secret: string;
}

export interface SessionCode {
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface SessionApi {
  /** Null for a key that is not known, or has expired. */
  open(key: string): Promise<OpenedSession | null>;
  authenticate(secret: string): Promise<Session | null>;
  /** It is over here at once, and everywhere within a second. No effect on what is no session. */
  close(secret: string): Promise<void>;
  /** A code for a session of this key; null for a key that is not known. */
  issueCode(key: string): Promise<SessionCode | null>;
  /** Null for a code that was redeemed before, has expired, or never was one. (N2) */
  redeem(code: string): Promise<OpenedSession | null>;
}

export type SessionPorts = Pick<IngressParts, 'apiKeys' | 'clock' | 'entropy'>;

export function createSessionApi({ apiKeys, clock, entropy }: SessionPorts, keys: KeyApi): SessionApi {
  /** Stores a fresh secret as derived from a key, and returns it. */
  async function derive(from: ApiKey, use: DerivedKey['use'], ttlMs: number): Promise<SessionCode> {
    const now = clock.now();
    await makeRoom(from, use, now);
    const code = sha256(entropy.nonce() + entropy.nonce()); // 256 bits
    const expiresAt = now + ttlMs;
    const { tenant, name, scopes, agents, keySha256 } = from;
    const id = publicId(use === 'session' ? 'ses' : 'cod', timeSortedName(now, entropy.nonce()));
    const derived = { use, fromSha256: keySha256 };
    const reach = agents === undefined ? {} : { agents };
    const times = { createdAt: now, expiresAt };
    await apiKeys.insert({ id, tenant, name, keySha256: sha256(code), scopes, ...reach, ...times, derived }); // (N3)
    return { code, expiresAt };
  }

  /** (N4) */
  async function makeRoom({ tenant, keySha256 }: ApiKey, use: DerivedKey['use'], now: number): Promise<void> {
    const all = (await apiKeys.list(tenant)).filter(({ derived }) => derived !== undefined);
    const isOver = ({ expiresAt }: ApiKey): boolean => expiresAt !== null && expiresAt <= now;
    const same = all.filter((each) => each.derived?.use === use && each.derived.fromSha256 === keySha256);
    const open = same.filter((each) => !isOver(each)).toSorted((one, other) => one.createdAt - other.createdAt);
    const ended = [...all.filter(isOver), ...open.slice(0, Math.max(0, open.length + 1 - perKeyMax))];
    for (const { id } of ended) await keys.discard(tenant, id);
  }

  async function openFor(key: ApiKey): Promise<OpenedSession> {
    const { code: secret, expiresAt } = await derive(key, 'session', sessionTtlMs);
    return { ...sessionOf(key, sha256(secret), expiresAt), secret };
  }

  return {
    async open(key) {
      const record = await keys.authenticate(key);
      return record === null ? null : openFor(record);
    },
    async authenticate(secret) {
      const record = await keys.inForce(sha256(secret));
      if (record?.derived?.use !== 'session' || record.expiresAt === null) return null;
      const key = await keys.inForce(record.derived.fromSha256); // (N1)
      if (key === null) return null;
      return sessionOf(key, record.keySha256, record.expiresAt);
    },
    async close(secret) {
      const record = await keys.inForce(sha256(secret));
      if (record?.derived?.use === 'session') await keys.discard(record.tenant, record.id);
    },
    async issueCode(key) {
      const record = await keys.authenticate(key);
      return record === null ? null : derive(record, 'code', codeTtlMs);
    },
    async redeem(code) {
      const record = await apiKeys.bySha256(sha256(code)); // never a remembered one
      if (record?.derived?.use !== 'code' || record.expiresAt === null) return null;
      const isFirst = await apiKeys.remove(record.tenant, record.id); // (N2)
      if (!isFirst || record.expiresAt <= clock.now()) return null;
      const key = await keys.inForce(record.derived.fromSha256);
      return key === null ? null : openFor(key);
    },
  };
}

const sessionOf = (key: ApiKey, sessionSha256: string, expiresAt: number): Session => ({
  ...{ tenant: key.tenant, name: key.name, scopes: key.scopes, agents: key.agents ?? null, expiresAt },
  keyId: key.id,
  keys: [sessionSha256, key.keySha256],
});
