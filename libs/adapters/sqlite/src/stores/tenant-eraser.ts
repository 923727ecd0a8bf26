// Deletes a tenant's rows, a statement for each table. Port: ports/tenant-eraser.ts.
//
// Invariants:
//   X1. A thread's log and its number go in one transaction, some threads at a time. (erase-threads)
//   X2. A table that has a tenant and is not here fails a spec (tenant-eraser.spec.ts).
import type { TenantEraser } from '@dormouse/ports';
import type { GroupWriter } from '../writer/group-writer.ts';

/** Rows of these name their tenant; tables that triggers keep come after those that they follow. */
export const tenantTables: readonly string[] = [
  ...['ledger', 'attempts', 'timers', 'snapshots', 'threads', 'thread_metadata', 'idempotency', 'blobs'],
  ...['agents', 'tool_servers', 'toolsets', 'toolsets_last_good', 'secrets', 'api_keys'],
  ...['parked_threads', 'parked_inputs', 'views', 'logins', 'tool_activity', 'tool_discoveries', 'open_calls'],
  ...['thread_usage', 'usage_days', 'revoked_tokens', 'questions', 'callback_counts', 'held_threads', 'audit'],
  ...['question_assignees'],
  ...['webhooks', 'deliveries', 'webhook_readers'],
  ...['sources', 'source_deliveries', 'schedules'],
  ...['tenant_tallies', 'tenant_threads'],
  ...['user_credentials', 'family_keys'],
];

const ofTenant = (table: string): string => `DELETE FROM ${table} WHERE tenant = ?`;

export function createTenantEraser(writer: GroupWriter): TenantEraser {
  return {
    erase: async (tenant) => {
      let rows = 0;
      for (let erased = await writer.eraseThreads(tenant); erased > 0; erased = await writer.eraseThreads(tenant))
        rows += erased; // (X1)
      for (const table of tenantTables) rows += await writer.rows('prompt', ofTenant(table), [[tenant]]);
      return rows;
    },
  };
}
