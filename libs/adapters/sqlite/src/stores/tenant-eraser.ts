// Deletes a tenant's rows, a statement for each table. Port: ports/tenant-eraser.ts.
//
// Invariants:
//   X1. The numbers of the threads are deleted last: what hangs on them is found again after a crash.
//   X2. A table that has a tenant and is not here fails a spec (tenant-eraser.spec.ts).
import type { TenantEraser } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

/** Rows of these have the number of their thread. */
export const numberedTables: readonly string[] = ['commits', 'inputs', 'owed'];

/** Rows of these name their tenant; tables that triggers keep come after those that they follow. */
export const tenantTables: readonly string[] = [
  ...['ledger', 'attempts', 'timers', 'snapshots', 'threads', 'thread_metadata', 'idempotency', 'blobs'],
  ...['agents', 'tool_servers', 'toolsets', 'toolsets_last_good', 'secrets', 'api_keys'],
  ...['parked_threads', 'parked_inputs', 'views', 'logins', 'tool_activity', 'tool_discoveries', 'open_calls'],
  ...['thread_usage', 'usage_days', 'revoked_tokens', 'questions', 'callback_counts', 'held_threads', 'audit'],
];

const threadsAtOnce = 200;
const selectNumbers = `SELECT number FROM thread_numbers WHERE tenant = ? AND number > ? ORDER BY number LIMIT ${threadsAtOnce}`;
const ofNumbers = (table: string): string => `DELETE FROM ${table} WHERE number IN (SELECT value FROM json_each(?))`;
const ofTenant = (table: string): string => `DELETE FROM ${table} WHERE tenant = ?`;

export function createTenantEraser(writer: GroupWriter, reader: Reader): TenantEraser {
  async function eraseNumbered(tenant: string): Promise<number> {
    let rows = 0;
    for (let after = -1; ;) {
      const numbers = reader.all<{ number: number }>(selectNumbers, tenant, after).map(({ number }) => number);
      const last = numbers.at(-1);
      if (last === undefined) return rows;
      for (const table of numberedTables)
        rows += await writer.rows('prompt', ofNumbers(table), [[JSON.stringify(numbers)]]);
      after = last;
    }
  }

  return {
    erase: async (tenant) => {
      let rows = await eraseNumbered(tenant);
      for (const table of tenantTables) rows += await writer.rows('prompt', ofTenant(table), [[tenant]]);
      return rows + (await writer.rows('prompt', ofTenant('thread_numbers'), [[tenant]])); // (X1)
    },
  };
}
