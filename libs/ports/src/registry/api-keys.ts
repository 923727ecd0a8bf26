// API keys, stored hashed. The key decides the tenant.
export type Scope = 'read' | 'threads:write' | 'approvals:write' | 'tenant:admin';

export interface ApiKey {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  /** SHA-256 hex of the key. */
  readonly keySha256: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Milliseconds since the epoch. Absent: it was not used, or not since uses are noted. */
  readonly lastUsedAt?: number;
  /** Absent for a key. */
  readonly derived?: DerivedKey;
}

/** A credential that was given for a key, and is good no longer than that key: a session, or a code that opens one. */
export interface DerivedKey {
  readonly use: 'session' | 'code';
  /** SHA-256 hex of the key. */
  readonly fromSha256: string;
}

export interface ApiKeys {
  insert(key: ApiKey): Promise<void>;
  bySha256(keySha256: string): Promise<ApiKey | null>;
  /** All of a tenant, oldest first: there are few. */
  list(tenant: string): Promise<readonly ApiKey[]>;
  /** Notes a use, unless a later one is known. Lazy: it may be lost in a crash. Nothing for a key that is not there. */
  used(keySha256: string, at: number): Promise<void>;
  /** True for exactly one of several callers; false when there is none. */
  remove(tenant: string, id: string): Promise<boolean>;
}
