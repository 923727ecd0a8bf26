// What each tenant may be connected to beside the installation's list: its record's `outbound_allow`, read by rules.
import { parseOutboundAllow, type TenantOutbound } from '@dormouse/adapter-http';
import type { TenantRecord, TenantId } from '@dormouse/ports';
import type { TenantRecords } from '@dormouse/runtime';

const none: TenantOutbound = { key: '', rules: [] };

/** A change of a record is in force within a second. The result throws Fault where the record cannot be read. */
export function createTenantOutbound(
  records: Pick<TenantRecords, 'of'>,
): (tenant: TenantId) => Promise<TenantOutbound> {
  const known = new WeakMap<TenantRecord, TenantOutbound>();
  return async (tenant) => {
    const record = await records.of(tenant);
    if (record === null || record.outboundAllow.length === 0) return none;
    const read = known.get(record) ?? outboundOf(record);
    known.set(record, read);
    return read;
  };
}

function outboundOf({ outboundAllow }: TenantRecord): TenantOutbound {
  const key = outboundAllow.join(',');
  return { key, rules: parseOutboundAllow(key).rules };
}
