// Deletes what the stores of an installation have of a tenant. Not here: what a bus keeps until its retention ends, and
// what backups have.
//
// Contract (contracts/tenant-eraser.contract.ts):
//   E1. Rows of other tenants stay as they are.
//   E2. An erasure that was broken off is continued by the next call; one that finds nothing answers 0.
//   E3. What a late writer brings for an erased thread reaches no thread of another tenant, and places of other tenants
//       (tenant-log) stay good.
import type { TenantId } from '@dormouse/thread';

export interface TenantEraser {
  /**
   * Deletes the tenant's rows from every store but the registry of tenants. Resolves with how many there were, when
   * their absence is durable. (E2) @throws Fault UNAVAILABLE
   */
  erase(tenant: TenantId): Promise<number>;
}
