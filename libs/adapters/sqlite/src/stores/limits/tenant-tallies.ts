// What tenants have used, by reporter. Port: ports/stores/tenant-tallies.ts.
import type { TenantTallies, TenantTally } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const putRow =
  'INSERT INTO tenant_tallies (tenant, name, reporter, amount, until) VALUES (?, ?, ?, ?, ?) ' +
  'ON CONFLICT DO UPDATE SET amount = excluded.amount, until = excluded.until';
const selectSums =
  'SELECT tenant, name, sum(amount) AS amount FROM tenant_tallies ' +
  'WHERE tenant IN (SELECT value FROM json_each(?)) AND reporter <> ? AND (until IS NULL OR until > ?) GROUP BY tenant, name';

export const createTenantTallies = (writer: GroupWriter, reader: Reader): TenantTallies => ({
  put: async (rows) => {
    const parameters = rows.map(({ tenant, name, reporter, amount, until }) => [tenant, name, reporter, amount, until]);
    if (parameters.length > 0) await writer.rows('lazy', putRow, parameters);
  },
  sums: async (tenants, butOf, now) => reader.all<TenantTally>(selectSums, JSON.stringify(tenants), butOf, now),
});

/** Of rows that ended before a time. */
export const sweepTallies = 'DELETE FROM tenant_tallies WHERE until < ?';
