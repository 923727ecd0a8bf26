// Authentication of clients: API keys, kept hashed. The key decides the tenant.
//
// Invariants:
//   A1. The key itself is never stored, logged or compared; its SHA-256 is.
//   A2. Cached keys expire after `rememberedMs`, so that a revoked key stops working everywhere soon.
//       "No such key" is never remembered, and a store that fails is a fault, not a "no". R54
//   A3. What was derived from a key (sessions.ts) is no key: it authenticates no request, and no list has it.
//   A4. A use is noted beside the request, at most once in `notedMs` per key and process; the use of a session is one
//       of its key. A note that is lost costs nothing but the note.
import { createSharedReads } from '@dormouse/collections';
import { hash } from 'node:crypto';
import type { ApiKey, ApiKeys, Clock, Entropy, PageRequest, Scope } from '@dormouse/ports';
import { publicId, timeSortedName } from './client-id.ts';
import { answered, type Answered, notFound } from '../refusal.ts';
import type { ListPage } from '../read/thread-page.ts';
import { cutPage } from '../read/whole-list.ts';

const rememberedMs = 10_000;
const rememberedMax = 10_000;
const notedMs = 60_000;

export const allScopes: readonly Scope[] = ['read', 'threads:write', 'approvals:write', 'tenant:admin'];

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: number | null;
}

export interface ShownKey extends Pick<ApiKey, 'id' | 'name' | 'scopes' | 'createdAt' | 'expiresAt'> {
  /** To `notedMs`; null for a key that was not used. (A4) */
  readonly lastUsedAt: number | null;
}

export interface KeyApi {
  /** The key's record, or null when there is none or it has expired. */
  authenticate(key: string): Promise<ApiKey | null>;
  /** The record with this hash, of a key or of what was derived from one; null when there is none in force. */
  inForce(keySha256: string): Promise<ApiKey | null>;
  /** Makes a key; its text is in the answer and nowhere else. */
  create(tenant: string, wanted: NewApiKey): Promise<{ readonly id: string; readonly key: string }>;
  list(tenant: string, page: PageRequest): Promise<ListPage<ShownKey>>;
  /** The key stops working here at once, and everywhere within `rememberedMs`. */
  revoke(tenant: string, id: string): Promise<Answered<null>>;
  /** Makes sure that this very key exists (the development key, the bootstrap key). */
  ensure(tenant: string, name: string, key: string): Promise<void>;
}

export function createKeyApi(deps: {
  readonly apiKeys: ApiKeys;
  readonly clock: Clock;
  readonly entropy: Entropy;
}): KeyApi {
  const { apiKeys, clock, entropy } = deps;
  const shared = createSharedReads<ApiKey | null>();
  const remembered = new Map<string, { readonly record: ApiKey; readonly until: number }>();

  async function insert(tenant: string, wanted: NewApiKey, key: string): Promise<string> {
    const now = clock.now();
    const id = publicId('key', timeSortedName(now, entropy.nonce()));
    await apiKeys.insert({ ...wanted, id, tenant, keySha256: sha256(key), createdAt: now });
    return id;
  }

  async function find(keySha256: string): Promise<ApiKey | null> {
    const now = clock.now();
    const known = remembered.get(keySha256);
    if (known !== undefined && known.until > now) return notExpired(known.record, now);
    const record = notExpired(await shared(keySha256, () => apiKeys.bySha256(keySha256)), now);
    if (record === null) return null;
    remember(keySha256, record, now + rememberedMs);
    if (record.derived === undefined && now - (record.lastUsedAt ?? 0) >= notedMs)
      apiKeys.used(keySha256, now).catch(() => {}); // (A4) the request does not depend on it, and the next use is noted
    return record;
  }

  return {
    async authenticate(key) {
      const record = await find(sha256(key));
      return record?.derived === undefined ? record : null; // (A3)
    },
    inForce: find,
    async create(tenant, wanted) {
      const key = newKey(entropy);
      return { id: await insert(tenant, wanted, key), key };
    },
    async list(tenant, page) {
      const keys = await apiKeys.list(tenant);
      const own = keys.filter(({ derived }) => derived === undefined); // (A3)
      const shown = own.map(({ id, name, scopes, createdAt, expiresAt, lastUsedAt = null }) => ({
        ...{ id, name, scopes, createdAt, expiresAt, lastUsedAt },
      }));
      return cutPage(shown, page, ({ createdAt, id }) => [createdAt, id]);
    },
    async revoke(tenant, id) {
      for (const [hash, { record }] of remembered) if (record.id === id) remembered.delete(hash);
      return (await apiKeys.remove(tenant, id)) ? answered(null) : notFound('key');
    },
    async ensure(tenant, name, key) {
      if ((await apiKeys.bySha256(sha256(key))) !== null) return;
      await insert(tenant, { name, scopes: allScopes, expiresAt: null }, key);
    },
  };

  function notExpired(record: ApiKey | null, now: number): ApiKey | null {
    return record === null || (record.expiresAt !== null && record.expiresAt <= now) ? null : record;
  }

  function remember(hash: string, record: ApiKey, until: number): void {
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(hash, { record, until });
  }
}

/** The text of a fresh key. */
export const newKey = (entropy: Entropy): string => `dmk_${sha256(entropy.nonce() + entropy.nonce())}`;

export const sha256 = (text: string): string => hash('sha256', text);
