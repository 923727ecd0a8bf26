// Counts of callbacks in memory. Contract: ports/stores/callback-counts.ts.
import type { CallbackCount, CallbackCountRow, CallbackCounts } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';

export type CallbackCountStore = Map<string, CallbackCountRow>;

export const createCallbackCounts = (rows: CallbackCountStore, passage: Passage): CallbackCounts => ({
  put: (some) =>
    passage.write('callbackCounts.put', some.map(({ toolCallId }) => toolCallId).join(','), () => {
      for (const row of some) rows.set(JSON.stringify([row.tenant, row.thread, row.toolCallId, row.reporter]), row);
    }),
  read: ({ tenant, thread }, toolCallIds) =>
    passage.read('callbackCounts.read', thread, () => {
      const sums = new Map<string, CallbackCount>();
      for (const row of rows.values()) {
        const { toolCallId } = row;
        if (row.tenant !== tenant || row.thread !== thread || !toolCallIds.includes(toolCallId)) continue;
        const { duplicates, refused } = sums.get(toolCallId) ?? { duplicates: 0, refused: 0 };
        const sum = { toolCallId, duplicates: duplicates + row.duplicates, refused: refused + row.refused };
        sums.set(toolCallId, sum);
      }
      return [...sums.values()];
    }),
});
