// The keys of families: each seals the contents of one family's threads, and is itself sealed by the host.
//
// Contract (contracts/family-keys.contract.ts):
//   F1. A family has one key: of several that are inserted the first stays, and every caller gets that one.
//   F2. A family that was erased has no key for ever: no answer holds it again, and none can be inserted. Its row goes
//       with its last thread. (thread-remover R3)
//   F3. `replace` changes a key only where the one that was read is still stored.
import type { TenantId } from '@dormouse/thread';
import type { SealOwner } from '../registry/sealer.ts';

export interface FamilyKey {
  readonly tenant: TenantId;
  /** The id of the family's root thread. */
  readonly family: string;
  /** Sealed for `familyKeyOwner`; null for a family that was erased. */
  readonly sealed: string | null;
}

export interface FamilyKeys {
  /** Resolves, when durable, with what is stored for the family. (F1, F2) */
  insert(key: FamilyKey & { readonly sealed: string }): Promise<FamilyKey>;
  /** Those that are stored, in any order. */
  get(tenant: TenantId, families: readonly string[]): Promise<readonly FamilyKey[]>;
  /** All of a tenant, ordered by family, behind `after`. */
  page(tenant: TenantId, after: string | null, limit: number): Promise<readonly FamilyKey[]>;
  /** False when something else is stored than `seen`. (F3) */
  replace(key: FamilyKey & { readonly sealed: string }, seen: FamilyKey): Promise<boolean>;
  /** Also of a family that has no key yet. Resolves when durable. (F2) */
  erase(tenant: TenantId, families: readonly string[]): Promise<void>;
}

/** Owner of a family's key. */
export const familyKeyOwner = ({ tenant, family }: Pick<FamilyKey, 'tenant' | 'family'>): SealOwner => ({
  tenant,
  name: `family:${family}`,
});
