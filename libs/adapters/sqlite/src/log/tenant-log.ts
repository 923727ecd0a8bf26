// The commits of all threads of a tenant, by the order in which they were stored. Contract: ports/tenant-log.ts.
//
// Invariants:
//   T1. A place is the id of a commit's row. Ids only grow, in the order of transactions: one connection writes, and a
//       reader sees a transaction whole. An id is never used again, though a deleted tenant's rows go
//       (erase-threads D1). (tenant-log G1, G2)
//   T2. One tick of the event loop reads a bounded number of rows. Rows of other tenants that were passed over are not
//       read again for the reader that waits at the end.
import { createBoundedMap } from '@dormouse/collections';
import { invalidCursor, type PlacedCommit, type TenantLog } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import { commitColumns, commitOf, type CommitRow } from './thread-log.ts';

interface PlacedRow extends CommitRow {
  readonly id: number;
  readonly thread: string;
}

/** Rows of any tenant that one tick looks at. */
const rowsPerTick = 512;
const tenantsRemembered = 1_000;

/** CROSS JOIN keeps this order: a range of rows first, then the tenant of each. */
const selectRange =
  `SELECT c.id, t.thread, ${commitColumns} FROM commits AS c CROSS JOIN thread_numbers AS t ON t.number = c.number ` +
  'WHERE c.id > ? AND c.id <= ? AND t.tenant = ? ORDER BY c.id LIMIT ?';
const selectEnd = 'SELECT max(id) AS id FROM commits';

export function createTenantLog(reader: Reader): TenantLog {
  /** Where nothing of a tenant is: after `from`, up to `to`. (T2) */
  const without = createBoundedMap<{ readonly from: number; readonly to: number }>(tenantsRemembered);
  const endId = (): number => reader.one<{ readonly id: number | null }>(selectEnd)?.id ?? 0;

  return {
    after: async (tenant, place, limit) => {
      const found: PlacedCommit[] = [];
      const from = idOf(place);
      const known = without.get(tenant);
      let next = known !== undefined && known.from <= from && from < known.to ? known.to : from;
      for (const end = endId(); next < end && found.length < limit; await new Promise(setImmediate)) {
        const to = Math.min(next + rowsPerTick, end);
        const rows = reader.all<PlacedRow>(selectRange, next, to, tenant, limit - found.length);
        for (const row of rows)
          found.push({ commit: commitOf({ tenant, thread: row.thread }, row), place: String(row.id) });
        next = to;
      }
      if (found.length === 0) without.set(tenant, { from, to: next });
      return found;
    },
    end: async () => String(endId()),
  };
}

function idOf(place: string | null): number {
  if (place === null) return 0;
  if (!/^\d{1,15}$/.test(place)) throw invalidCursor();
  return Number(place);
}
