// The commits of all threads of a tenant, by the order in which they were stored. Contract: ports/log/tenant-log.ts.
//
// Invariants:
//   T1. A place is the id of a commit's row. Ids only grow, in the order of transactions: one connection writes, and a
//       reader sees a transaction whole. An id is never used again, though a deleted tenant's rows go
//       (erase-threads D1). (tenant-log G1, G2)
//   T2. One tick of the event loop reads a bounded number of rows. Rows of other tenants that were passed over are not
//       read again for the reader that waits at the end. Of many readers, each row is looked at once.
import { createBoundedMap } from '@dormouse/collections';
import { invalidCursor, type PlacedCommit, type TenantLog, type TenantId } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import { commitColumns, commitOf, type CommitRow } from './thread-log.ts';

interface PlacedRow extends CommitRow {
  readonly id: number;
  readonly thread: string;
}

interface LastOfTenant {
  readonly tenant: TenantId;
  readonly last: number;
}

/** Rows of any tenant that one tick looks at. */
const rowsPerTick = 512;
const tenantsRemembered = 20_000;

/** CROSS JOIN keeps this order: a range of rows first, then the tenant of each. */
const selectRange =
  `SELECT c.id, t.thread, ${commitColumns} FROM commits AS c CROSS JOIN thread_numbers AS t ON t.number = c.number ` +
  'WHERE c.id > ? AND c.id <= ? AND t.tenant = ? ORDER BY c.id LIMIT ?';
const selectTenants =
  'SELECT t.tenant, max(c.id) AS last FROM commits AS c CROSS JOIN thread_numbers AS t ON t.number = c.number ' +
  'WHERE c.id > ? AND c.id <= ? GROUP BY t.tenant';
const selectEnd = 'SELECT max(id) AS id FROM commits';

export function createTenantLog(reader: Reader): TenantLog {
  /** Where nothing of a tenant is: after `from`, up to `to`. (T2) */
  const without = createBoundedMap<{ readonly from: number; readonly to: number }>(tenantsRemembered);
  const endId = (): number => reader.one<{ readonly id: number | null }>(selectEnd)?.id ?? 0;

  /** From where on something of the tenant may be, behind `from`. (T2) */
  function startOf(tenant: TenantId, from: number): number {
    const known = without.get(tenant);
    return known !== undefined && known.from <= from && from < known.to ? known.to : from;
  }

  return {
    after: async (tenant, place, limit) => {
      const found: PlacedCommit[] = [];
      const from = idOf(place);
      let next = startOf(tenant, from);
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
    grown: async (places) => {
      const starts = new Map(places.map(({ tenant, place }) => [tenant, startOf(tenant, idOf(place))]));
      const grown = new Set<TenantId>();
      const end = endId();
      let next = Math.min(end, ...starts.values());
      for (; next < end && grown.size < starts.size; await new Promise(setImmediate)) {
        const to = Math.min(next + rowsPerTick, end);
        for (const { tenant, last } of reader.all<LastOfTenant>(selectTenants, next, to))
          if (last > (starts.get(tenant) ?? end)) grown.add(tenant);
        next = to;
      }
      for (const { tenant, place } of places)
        if (!grown.has(tenant)) without.set(tenant, { from: idOf(place), to: end });
      return [...grown];
    },
    end: async () => String(endId()),
  };
}

function idOf(place: string | null): number {
  if (place === null) return 0;
  if (!/^\d{1,15}$/.test(place)) throw invalidCursor();
  return Number(place);
}
