// The id of a tenant, as a type that no other text has: where a tenant is asked for, a thread's id, an agent's name or
// a text of a client does not compile. At run time it is the text alone.
//
// Invariant:
//   N1. A text becomes a tenant's id in this file only: after its form was checked, or because a store of ours kept it.
//       test/architecture/tenant-id.spec.ts names every file that may ask for it.
declare const brand: unique symbol;

export type TenantId = string & { readonly [brand]: 'TenantId' };

export const tenantIdForm = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The tenant of an installation that has no other: standalone, and of the bootstrap key. */
export const localTenant = 'local' as TenantId; // (N1)

/** The platform, in the place of a caller's tenant. No tenant has this id, because of its first sign. */
export const platformTenant = '*platform' as TenantId; // (N1)

/** In the place of a tenant where a record is of no single one: of the whole installation, or of none any more. */
export const noTenant = '' as TenantId; // (N1)

/** Null when the text has not the form of a tenant's id. */
export function parseTenantId(text: string): TenantId | null {
  return tenantIdForm.test(text) ? (text as TenantId) : null; // (N1)
}

/** @throws RangeError when the text has not the form of a tenant's id */
export function tenantId(text: string): TenantId {
  const parsed = parseTenantId(text);
  if (parsed === null) throw new RangeError(`${JSON.stringify(text)} is not a tenant's id: ${tenantIdForm.source}`);
  return parsed;
}

/** For a text that was a tenant's id when a store or a queue of ours kept it. It is not checked again. */
export const storedTenantId = (text: string): TenantId => text as TenantId; // (N1)
