// The limits of tenants over the ports of a memory world, as a process has them. For specs.
import { createSeededEntropy, type ManualClock, type MemoryPorts } from '@dormouse/adapter-memory';
import { type Logger, newTenant, type TenantQuotas, type TenantId } from '@dormouse/ports';
import { createTenantLimits, type TenantLimits } from '../tenant-limits.ts';
import { createTenantMeter } from '../tenant-meter.ts';
import { createTenantRecords } from '../tenant-records.ts';

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };

export function limitsOver(
  ports: Pick<MemoryPorts, 'tenants' | 'tenantTallies' | 'directory'>,
  clock: ManualClock,
  node: string,
): TenantLimits {
  const meter = createTenantMeter({
    tallies: ports.tenantTallies,
    clock,
    entropy: createSeededEntropy(3, node),
    logger: silent,
  });
  return createTenantLimits({
    records: createTenantRecords({ ...ports, clock }),
    ...{ meter, clock },
    directory: ports.directory,
  });
}

/** Sets the tenant's quotas, and makes it where there is none. */
export async function setQuotas(
  { tenants }: Pick<MemoryPorts, 'tenants'>,
  id: TenantId,
  quotas: Partial<TenantQuotas>,
  weight = 1,
): Promise<void> {
  const seen = await tenants.get(id);
  if (seen === null) await tenants.insert(newTenant(id, 0, { quotas, weight }));
  else await tenants.replace({ ...seen, quotas, weight }, seen);
}
