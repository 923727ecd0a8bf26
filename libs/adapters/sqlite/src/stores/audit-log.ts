// The audit. Contract: ports/stores/audit-log.ts.
import type { AuditLog, AuditRow } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

type StoredRow = Omit<AuditRow, 'from' | 'at'> & { readonly at: number; readonly client: string | null };

/** All rows, or none: nothing is inserted when the first number is taken. (audit-log W2) */
const insert =
  "INSERT INTO audit (tenant, seq, at, actor, action, target, client, outcome, request_id, prev, hash) SELECT ?1, value ->> 'seq', " +
  "value ->> 'at', value ->> 'actor', value ->> 'action', value ->> 'target', value ->> 'client', value ->> 'outcome', " +
  "value ->> 'request_id', value ->> 'prev', value ->> 'hash' FROM json_each(?2) " +
  'WHERE NOT EXISTS (SELECT 1 FROM audit WHERE tenant = ?1 AND seq >= ?3)';
const columns = 'seq, at, actor, action, target, client, outcome, request_id, prev, hash';
const selectLast = `SELECT ${columns} FROM audit WHERE tenant = ? ORDER BY seq DESC LIMIT 1`;
const selectPage = (order: 'asc' | 'desc'): string =>
  `SELECT ${columns} FROM audit WHERE tenant = ?1 AND seq ${order === 'asc' ? '>' : '<'} ?2 ` +
  'AND (?3 IS NULL OR actor = ?3) AND (?4 IS NULL OR action = ?4) AND at >= ?5 AND at < ?6 ' +
  `ORDER BY seq ${order} LIMIT ?7`;

/** (audit-log W5) */
const removeRows =
  'DELETE FROM audit WHERE tenant = ?1 AND seq <= ?2 AND seq < (SELECT max(seq) FROM audit WHERE tenant = ?1)';

export function createAuditLog(writer: GroupWriter, reader: Reader): AuditLog {
  return {
    append: async (tenant, rows) => {
      const stored = rows.map(({ from: client, at, ...row }) => ({ ...row, client, at: Date.parse(at) }));
      const changed = await writer.rows('prompt', insert, [[tenant, JSON.stringify(stored), rows[0]?.seq ?? 0]]);
      return changed === rows.length;
    },
    last: async (tenant) => {
      const row = reader.one<StoredRow>(selectLast, tenant);
      return row && rowOf(row);
    },
    page: async (tenant, { actor = null, action = null, from = 0, to }, { beyond, order, limit }) => {
      const beyondNone = order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER;
      const asked = [tenant, beyond ?? beyondNone, actor, action, from, to ?? Number.MAX_SAFE_INTEGER, limit];
      return reader.all<StoredRow>(selectPage(order), ...asked).map(rowOf);
    },
    remove: (tenant, upTo) => writer.run(removeRows, tenant, upTo),
  };
}

const rowOf = ({ client: from, at, seq, actor, action, target, ...row }: StoredRow): AuditRow => ({
  ...{ seq, at: new Date(at).toISOString(), actor, action, target, from },
  ...{ outcome: row.outcome, request_id: row.request_id, prev: row.prev, hash: row.hash },
});
