// Credentials of end users for tool servers: one of a user for a server, sealed by the host.
//
// Contract (contracts/user-credentials.contract.ts):
//   U1. `replace` succeeds for one of several callers that have read the same: a change is never lost.
//   U2. What is stored is what was given, whatever characters a user's id has; nothing of another user or tenant.
import type { TenantId } from '@dormouse/thread';

export interface UserCredential {
  readonly tenant: TenantId;
  readonly userId: string;
  /** Name of the tool server. */
  readonly toolServer: string;
  readonly type: 'bearer' | 'oauth2';
  /** Where it may be sent: the origin of the tool server when it was set. */
  readonly origin: string;
  /** Sealed for `credentialOwner`. */
  readonly sealed: string;
  /** Raised by each change of what is sealed. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** End of the access token, milliseconds since the epoch; null when it is not known. */
  readonly expiresAt: number | null;
  /** The process that refreshes it, alone until then; null for none. */
  readonly lease: { readonly holder: string; readonly until: number } | null;
  /** Since when its provider refuses to refresh it; null when it does not. */
  readonly failedAt: number | null;
}

export interface UserCredentials {
  /** Replaces what was there. */
  put(credential: UserCredential): Promise<void>;
  get(tenant: TenantId, userId: string, toolServer: string): Promise<UserCredential | null>;
  /** Of one user, by tool server. */
  list(tenant: TenantId, userId: string): Promise<readonly UserCredential[]>;
  /** Of all users of a tenant, in an order that stays, after one of them. */
  page(tenant: TenantId, after: UserCredential | null, limit: number): Promise<readonly UserCredential[]>;
  /** Only where `seen` is what is stored; false otherwise. */
  replace(credential: UserCredential, seen: UserCredential): Promise<boolean>;
  remove(tenant: TenantId, userId: string, toolServer: string): Promise<boolean>;
}
