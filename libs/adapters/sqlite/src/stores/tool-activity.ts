// Activity of tool servers, by minute and reporter. Port: ports/stores/tool-activity.ts.
import { type ActivityCounts, type ActivityRow, type BreakerState, type ToolActivity } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

interface StoredRow {
  readonly began: number;
  readonly reporter: string;
  readonly counts: string;
  readonly breaker: BreakerState | null;
  readonly written_at: number;
}

const putRow =
  'INSERT INTO tool_activity (tenant, tool_server, began, reporter, counts, breaker, written_at) ' +
  'VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE ' +
  'SET counts = excluded.counts, breaker = excluded.breaker, written_at = excluded.written_at';
const putDiscovery =
  'INSERT INTO tool_discoveries (tenant, tool_server, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE ' +
  'SET at = excluded.at WHERE excluded.at > at'; // (tool-activity Y3)
const selectRows =
  'SELECT began, reporter, counts, breaker, written_at FROM tool_activity ' +
  'WHERE tenant = ? AND tool_server = ? AND began >= ?';
const selectDiscovery = 'SELECT at FROM tool_discoveries WHERE tenant = ? AND tool_server = ?';
const forgetRows = 'DELETE FROM tool_activity WHERE tenant = ? AND tool_server = ?';
const forgetDiscovery = 'DELETE FROM tool_discoveries WHERE tenant = ? AND tool_server = ?';
/** Deletes rows that began before a time. */
export const sweepActivity = 'DELETE FROM tool_activity WHERE began < ?';

export function createToolActivity(writer: GroupWriter, reader: Reader): ToolActivity {
  return {
    put: async (rows, discoveries) => {
      const discovered = discoveries.map(({ tenant, toolServerId, at }) => [tenant, toolServerId, at]);
      await Promise.all([
        rows.length === 0 ? 0 : writer.rows('lazy', putRow, rows.map(parametersOf)),
        discovered.length === 0 ? 0 : writer.rows('lazy', putDiscovery, discovered),
      ]);
    },
    read: async (tenant, toolServerId, from) => ({
      rows: reader
        .all<StoredRow>(selectRows, tenant, toolServerId, from)
        .map((row) => rowOf({ tenant, toolServerId }, row)),
      discoveredAt: reader.one<{ readonly at: number }>(selectDiscovery, tenant, toolServerId)?.at ?? null,
    }),
    forget: async (tenant, toolServerId) => {
      await Promise.all([forgetRows, forgetDiscovery].map((sql) => writer.run(sql, tenant, toolServerId)));
    },
  };
}

const parametersOf = ({ tenant, toolServerId, from, reporter, counts, breaker, writtenAt }: ActivityRow) => [
  ...[tenant, toolServerId, from, reporter, JSON.stringify(counts), breaker, writtenAt],
];

function rowOf(of: Pick<ActivityRow, 'tenant' | 'toolServerId'>, row: StoredRow): ActivityRow {
  const { began: from, reporter, breaker, written_at: writtenAt } = row;
  return { ...of, reporter, from, counts: JSON.parse(row.counts) as ActivityCounts, breaker, writtenAt };
}
