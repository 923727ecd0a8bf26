// Erases what deleted tenants have in the stores, and leaves their tombstones.
//
// Invariants:
//   R1. It begins `graceMs` after the deletion, when every process has stopped working for the tenant, and ends when a
//       pass has found nothing `lateWritersMs` after the deletion: a completion that was asked before may answer until
//       then, and what it leaves is deleted by a later pass.
//   R2. A pass that was broken off is repeated: what is to be done follows from the records alone. Several processes
//       may do it at once.
//   R3. The tombstone keeps the id and nothing else of the tenant.
import { type Clock, type Logger, newTenant, type Stores, type TenantRecord } from '@dormouse/ports';
import { faultCode } from '../fault-code.ts';
import { createRepeatedService } from '../repeated-service.ts';
import type { Service } from '../service.ts';

const lookEveryMs = 5_000;
const graceMs = 3_000;

export interface TenantErasureDeps extends Pick<Stores, 'tenants' | 'eraser'> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a completion may take, and more. */
  readonly lateWritersMs: number;
}

export function createTenantErasure({ tenants, eraser, clock, logger, lateWritersMs }: TenantErasureDeps): Service {
  const stopped = new AbortController();

  async function erase(tenant: TenantRecord): Promise<void> {
    const sinceMs = clock.now() - (tenant.deletedAt ?? 0);
    if (sinceMs < graceMs) return; // (R1)
    const rows = await eraser.erase(tenant.id);
    if (rows > 0) logger.info('tenant_rows_erased', { tenant: tenant.id, rows });
    if (rows > 0 || sinceMs < lateWritersMs) return;
    const tombstone = { ...newTenant(tenant.id, tenant.createdAt), name: '', state: 'deleted' as const };
    if (await tenants.replace({ ...tombstone, updatedAt: clock.now() }, tenant))
      logger.info('tenant_erased', { tenant: tenant.id }); // (R3)
  }

  async function look(): Promise<void> {
    try {
      for (const tenant of await tenants.deleting()) if (!stopped.signal.aborted) await erase(tenant);
    } catch (error) {
      logger.warn('tenant_erasure_failing', { code: faultCode(error) }); // (R2)
    }
  }

  return createRepeatedService({ clock, stopped, everyMs: lookEveryMs }, look);
}
