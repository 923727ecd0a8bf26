// Authentication of clients: API keys, kept hashed. The key decides the tenant.
//
// Invariants:
//   A1. The key itself is never stored, logged or compared; its SHA-256 is. Its first characters are kept beside that,
//       by which people tell keys apart.
//   A2. Cached keys expire after `rememberedMs`, so that a revoked key stops working everywhere within a second, in
//       open streams too (revocations V1). "No such key" is never remembered, and a store that fails is a fault, not a
//       "no". R54
//   A3. What was derived from a key (sessions.ts) is no key: it authenticates no request, and no list has it.
//   A4. A use is noted beside the request, at most once in `notedMs` per key and process; the use of a session is one
//       of its key. A note that is lost costs nothing but the note.
//   A5. A key grants nothing that it lacks: no scope, and no agent.
//   A6. A key that is rerolled has a successor before it ends: one of the two is good at every moment.
//   A7. A key that is not in force costs one read, by the hash of all of it, whatever is wrong with it. Its prefix is
//       for people, and no key is found by it.
import { createSharedReads } from '@dormouse/collections';
import { hash } from 'node:crypto';
import type { ApiKey, Entropy, PageRequest, Scope, TenantId, Page } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { publicId, timeSortedName } from './client-id.ts';
import { answered, type Answered, invalid, notFound, refused } from '../refusal.ts';
import { cutPage } from '../read/whole-list.ts';

const rememberedMs = 400;
const rememberedMax = 10_000;
const notedMs = 60_000;

export const allScopes: readonly Scope[] = ['read', 'threads:write', 'approvals:write', 'tenant:admin'];

/** Whether a credential with these scopes may do what needs `scope`: `tenant:admin` includes the others. */
export const hasScope = (scopes: readonly Scope[], scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes('tenant:admin');

/** What a credential may do, and thus grant. (A5) */
export interface Granting {
  readonly scopes: readonly Scope[];
  /** Names of the agents whose threads it reaches; null for all. */
  readonly agents: readonly string[] | null;
}

export interface NewApiKey extends Granting {
  readonly name: string;
  readonly expiresAt: number | null;
}

export interface ShownKey extends Granting, Pick<ApiKey, 'id' | 'name' | 'createdAt' | 'expiresAt'> {
  /** Null for a key whose text is not one of ours, or that was made before prefixes were kept. */
  readonly prefix: string | null;
  /** To `notedMs`; null for a key that was not used. (A4) */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export interface MadeKey {
  readonly id: string;
  /** Its text, which is nowhere else. */
  readonly key: string;
}

export interface EndedKey extends Pick<ApiKey, 'tenant' | 'id'> {
  readonly outcome: 'revoked' | 'expired';
}

/** At most one of them is not null. */
export interface LookedUp {
  readonly key: ApiKey | null;
  readonly ended: EndedKey | null;
}

export interface KeyApi {
  /** The key's record, or null when there is none in force. */
  authenticate(key: string): Promise<ApiKey | null>;
  /** The same, and the key that it was where it has ended. */
  look(key: string): Promise<LookedUp>;
  /** The record with this hash, of a key or of what was derived from one; null when there is none in force. */
  inForce(keySha256: string): Promise<ApiKey | null>;
  create(tenant: TenantId, wanted: NewApiKey, by: Granting): Promise<Answered<MadeKey>>;
  /** A successor of the key, which itself ends `overlapMs` from now. (A6) */
  reroll(tenant: TenantId, id: string, overlapMs: number, by: Granting): Promise<Answered<MadeKey>>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<ShownKey>>;
  /** The key stops working here at once, and everywhere within a second. */
  revoke(tenant: TenantId, id: string): Promise<Answered<null>>;
  /** What was derived from a key is over, as if it never was; false when another call was faster. */
  discard(tenant: TenantId, id: string): Promise<boolean>;
  /** Makes sure that this very key exists (the development key, the bootstrap key). */
  ensure(tenant: TenantId, name: string, key: string): Promise<void>;
}

export function createKeyApi({ apiKeys, clock, entropy }: Pick<IngressParts, 'apiKeys' | 'clock' | 'entropy'>): KeyApi {
  const shared = createSharedReads<ApiKey | null>();
  const remembered = new Map<string, { readonly record: ApiKey; readonly until: number }>();

  async function insert(tenant: TenantId, wanted: NewApiKey, key: string): Promise<string> {
    const now = clock.now();
    const id = publicId('key', timeSortedName(now, entropy.nonce()));
    const { name, scopes, agents, expiresAt } = wanted;
    const prefix = prefixOf(key);
    await apiKeys.insert({
      ...{ id, tenant, name, ...(prefix === null ? {} : { prefix }), keySha256: sha256(key), scopes },
      ...(agents === null ? {} : { agents }),
      ...{ createdAt: now, expiresAt },
    });
    return id;
  }

  /** (A7) */
  async function read(keySha256: string): Promise<{ readonly inForce: ApiKey | null; readonly found: ApiKey | null }> {
    const now = clock.now();
    const known = remembered.get(keySha256);
    if (known !== undefined && known.until > now) return { inForce: notEnded(known.record, now), found: known.record };
    const found = await shared(keySha256, () => apiKeys.bySha256(keySha256));
    const inForce = notEnded(found, now);
    if (inForce === null) return { inForce, found };
    remember(keySha256, inForce, now + rememberedMs);
    if (inForce.derived === undefined && now - (inForce.lastUsedAt ?? 0) >= notedMs)
      apiKeys.used(keySha256, now).catch(() => {}); // (A4) the request does not depend on it, and the next use is noted
    return { inForce, found };
  }

  async function look(key: string): Promise<LookedUp> {
    const { inForce, found } = await read(sha256(key));
    if (found === null || found.derived !== undefined) return { key: null, ended: null }; // (A3)
    if (inForce !== null) return { key: inForce, ended: null };
    const { tenant, id, revokedAt } = found;
    return { key: null, ended: { tenant, id, outcome: revokedAt === undefined ? 'expired' : 'revoked' } };
  }

  /** The key in a list of all; what was derived from one is none. (A3) */
  async function ownKey(tenant: TenantId, id: string): Promise<ApiKey | null> {
    return (await apiKeys.list(tenant)).find((key) => key.id === id && key.derived === undefined) ?? null;
  }

  /** What was remembered of it is read again. (A2) */
  function forget(id: string): void {
    for (const [hash, { record }] of remembered) if (record.id === id) remembered.delete(hash);
  }

  async function revoke(tenant: TenantId, id: string): Promise<Answered<null>> {
    if ((await ownKey(tenant, id)) === null) return notFound('key');
    await apiKeys.end(tenant, id, { revokedAt: clock.now() }); // once more is the same
    forget(id);
    return answered(null);
  }

  return {
    authenticate: async (key) => (await look(key)).key,
    look,
    inForce: async (keySha256) => (await read(keySha256)).inForce,
    async create(tenant, wanted, by) {
      const lacking = whatLacks(by, wanted);
      if (lacking !== null) return lacking;
      if (wanted.expiresAt !== null && wanted.expiresAt <= clock.now())
        return invalid([{ pointer: '/expires_at', detail: 'is in the past' }]);
      const key = newKey(entropy);
      return answered({ id: await insert(tenant, wanted, key), key });
    },
    async reroll(tenant, id, overlapMs, by) {
      const now = clock.now();
      const record = notEnded(await ownKey(tenant, id), now);
      if (record === null) return notFound('key in force');
      const { name, scopes, agents = null, expiresAt } = record;
      const lacking = whatLacks(by, { scopes, agents });
      if (lacking !== null) return lacking;
      const key = newKey(entropy);
      const successor = await insert(tenant, { name, scopes, agents, expiresAt }, key); // (A6)
      if (overlapMs === 0) await revoke(tenant, id);
      else {
        const endsAt = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, now + overlapMs);
        await apiKeys.end(tenant, id, { expiresAt: endsAt });
        forget(id);
      }
      return answered({ id: successor, key });
    },
    async list(tenant, page) {
      const keys = await apiKeys.list(tenant);
      const own = keys.filter(({ derived }) => derived === undefined); // (A3)
      return cutPage(own.map(shownKey), page, ({ createdAt, id }) => [createdAt, id]);
    },
    revoke,
    async discard(tenant, id) {
      const isFirst = await apiKeys.remove(tenant, id);
      forget(id);
      return isFirst;
    },
    async ensure(tenant, name, key) {
      if ((await apiKeys.bySha256(sha256(key))) !== null) return;
      await insert(tenant, { name, scopes: allScopes, agents: null, expiresAt: null }, key);
    },
  };

  function notEnded(record: ApiKey | null, now: number): ApiKey | null {
    if (record === null || record.revokedAt !== undefined) return null;
    return record.expiresAt !== null && record.expiresAt <= now ? null : record;
  }

  function remember(hash: string, record: ApiKey, until: number): void {
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(hash, { record, until });
  }
}

/** (A5) */
function whatLacks(by: Granting, { scopes, agents }: Granting): Answered<never> | null {
  const scope = scopes.find((each) => !hasScope(by.scopes, each));
  if (scope !== undefined) return refused('FORBIDDEN', `This key lacks the scope ${scope}, and cannot grant it.`);
  if (by.agents === null) return null;
  if (agents === null) return refused('FORBIDDEN', 'This key is for some agents only: name those of the new one.');
  const agent = agents.find((each) => by.agents?.includes(each) !== true);
  return agent === undefined ? null : refused('FORBIDDEN', 'This key cannot grant an agent that it is not for.');
}

const shownKey = (key: ApiKey): ShownKey => {
  const { id, name, prefix = null, scopes, agents = null, createdAt, expiresAt } = key;
  const { lastUsedAt = null, revokedAt = null } = key;
  return { id, name, prefix, scopes, agents, createdAt, expiresAt, lastUsedAt, revokedAt };
};

const ours = 'dmk_';
const prefixCharacters = ours.length + 8;

/** 32 of the 256 bits of a key; nothing of a text that is not one of our keys, which may be short. (A1) */
const prefixOf = (key: string): string | null =>
  /^dmk_[0-9a-f]{64}$/.test(key) ? key.slice(0, prefixCharacters) : null;

/** The text of a fresh key. */
export const newKey = (entropy: Entropy): string => `${ours}${sha256(entropy.nonce() + entropy.nonce())}`;

export const sha256 = (text: string): string => hash('sha256', text);
