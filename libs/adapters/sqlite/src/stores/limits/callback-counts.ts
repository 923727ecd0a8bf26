// Callbacks without an effect, by call and reporter. Port: ports/stores/callback-counts.ts.
import type { CallbackCounts } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

interface SumRow {
  readonly tool_call: string;
  readonly duplicates: number;
  readonly refused: number;
}

const putRow =
  'INSERT INTO callback_counts (tenant, thread, tool_call, reporter, duplicates, refused) VALUES (?, ?, ?, ?, ?, ?) ' +
  'ON CONFLICT DO UPDATE SET duplicates = excluded.duplicates, refused = excluded.refused';
const selectSums =
  'SELECT tool_call, sum(duplicates) AS duplicates, sum(refused) AS refused FROM callback_counts ' +
  'WHERE tenant = ? AND thread = ? AND tool_call IN (SELECT value FROM json_each(?)) GROUP BY tool_call';

export const createCallbackCounts = (writer: GroupWriter, reader: Reader): CallbackCounts => ({
  put: async (rows) => {
    const parameters = rows.map(({ tenant, thread, toolCallId, reporter, duplicates, refused }) => [
      ...[tenant, thread, toolCallId, reporter, duplicates, refused],
    ]);
    if (parameters.length > 0) await writer.rows('lazy', putRow, parameters);
  },
  read: async ({ tenant, thread }, toolCallIds) =>
    reader
      .all<SumRow>(selectSums, tenant, thread, JSON.stringify(toolCallIds))
      .map(({ tool_call: toolCallId, duplicates, refused }) => ({ toolCallId, duplicates, refused })),
});
