// API keys, stored hashed. The key decides the tenant.
import type { TenantId } from '@dormouse/thread';

export type Scope = 'read' | 'threads:write' | 'approvals:write' | 'tenant:admin';

export interface ApiKey {
  readonly id: string;
  readonly tenant: TenantId;
  readonly name: string;
  /** The first characters of its text, by which people tell keys apart. Absent: a key of before. */
  readonly prefix?: string;
  /** SHA-256 hex of the key. */
  readonly keySha256: string;
  readonly scopes: readonly Scope[];
  /** Names of the agents whose threads it reaches. Absent: all. */
  readonly agents?: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Milliseconds since the epoch. Absent: it was not used, or not since uses are noted. */
  readonly lastUsedAt?: number;
  /** Milliseconds since the epoch; it is good for nothing since. Absent: it was not revoked. */
  readonly revokedAt?: number;
  /** Absent for a key. */
  readonly derived?: DerivedKey;
}

/** A credential that was given for a key, and is good no longer than that key: a session, or a code that opens one. */
export interface DerivedKey {
  readonly use: 'session' | 'code';
  /** SHA-256 hex of the key. */
  readonly fromSha256: string;
}

/** Milliseconds since the epoch. */
export type KeyEnd = { readonly revokedAt: number } | { readonly expiresAt: number };

export interface ApiKeys {
  insert(key: ApiKey): Promise<void>;
  bySha256(keySha256: string): Promise<ApiKey | null>;
  /** All of a tenant, oldest first: there are few. */
  list(tenant: TenantId): Promise<readonly ApiKey[]>;
  /** Notes a use, unless a later one is known. Lazy: it may be lost in a crash. Nothing for a key that is not there. */
  used(keySha256: string, at: number): Promise<void>;
  /**
   * Ends a key that was not revoked: at once, or not later than a time that replaces its own. Resolves when durable;
   * false when there is no such key, or it was revoked before.
   */
  end(tenant: TenantId, id: string, end: KeyEnd): Promise<boolean>;
  /** True for exactly one of several callers; false when there is none. */
  remove(tenant: TenantId, id: string): Promise<boolean>;
}
