// Deletes a tenant's rows, a statement for each table. Port: ports/stores/tenant-eraser.ts.
//
// Invariants:
//   X1. A thread's log and its number go in one transaction, some threads at a time. (erase-threads)
//   X2. A table that has a tenant and is not here fails a spec (tenant-eraser.spec.ts). Tables with rows of threads are
//       listed for the removal of threads, too. (thread-tables.ts)
import type { TenantEraser } from '@dormouse/ports';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { copyTables, otherThreadTables, recordTables } from './thread-tables.ts';

/** Rows of these name their tenant; tables that triggers keep come after those that they follow. */
export const tenantTables: readonly string[] = [
  ...copyTables,
  ...recordTables,
  ...otherThreadTables.filter((table) => table !== 'thread_numbers'), // (X1)
  ...['idempotency', 'blobs'],
  ...['agents', 'tool_servers', 'toolsets', 'toolsets_last_good', 'secrets', 'api_keys'],
  ...['tool_activity', 'tool_discoveries', 'open_calls', 'usage_days', 'audit', 'question_assignees'],
  ...['webhooks', 'deliveries', 'webhook_readers'],
  ...['sources', 'schedules'],
  ...['tenant_tallies', 'tenant_threads'],
  ...['user_credentials', 'paused_agents', 'family_keys', 'erasures'],
];

const ofTenant = (table: string): string => `DELETE FROM ${table} WHERE tenant = ?`;

export function createTenantEraser(writer: GroupWriter): TenantEraser {
  return {
    erase: async (tenant) => {
      let rows = 0;
      const eraseSome = (): Promise<number> => writer.eraseThreads(tenant, null);
      for (let erased = await eraseSome(); erased > 0; erased = await eraseSome()) rows += erased; // (X1)
      for (const table of tenantTables) rows += await writer.rows('prompt', ofTenant(table), [[tenant]]);
      return rows;
    },
  };
}
