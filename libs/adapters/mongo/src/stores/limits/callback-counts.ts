// Callbacks without an effect, by call and reporter. Port: ports/stores/callback-counts.ts.
import type { CallbackCount, CallbackCountRow, CallbackCounts } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { type MongoServer, unordered } from '../../mongo-server.ts';

interface CountDocument extends CallbackCountRow {
  readonly _id: string;
}

const countSchema = new Schema<CountDocument>(
  {
    ...{ _id: text, tenant: text, thread: text, toolCallId: text, reporter: text },
    ...{ duplicates: number, refused: number },
  },
  { ...everySchema, collection: 'callback_counts' },
);
countSchema.index({ tenant: 1, thread: 1, toolCallId: 1 }, { name: 'by_call' });

export function createCallbackCounts(server: MongoServer): CallbackCounts {
  const counts = server.connection.model<CountDocument>('CallbackCount', countSchema);
  return {
    put: async (rows) => {
      if (rows.length === 0) return;
      const replacements = rows.map((row) => {
        const _id = idOf(row.tenant, row.thread, row.toolCallId, row.reporter);
        return { replaceOne: { filter: { _id }, replacement: { ...row, _id }, upsert: true } };
      });
      await server.write(() => counts.bulkWrite(replacements, unordered));
    },
    read: async ({ tenant, thread }, toolCallIds) => {
      if (toolCallIds.length === 0) return [];
      const rows = await server.read(() =>
        counts.find({ tenant, thread, toolCallId: { $in: [...toolCallIds] } }).lean(),
      );
      return [...Map.groupBy(rows, ({ toolCallId }) => toolCallId)].map(([toolCallId, of]) => sumOf(toolCallId, of));
    },
  };
}

const sumOf = (toolCallId: string, rows: readonly CallbackCount[]): CallbackCount => ({
  toolCallId,
  duplicates: rows.reduce((sum, { duplicates }) => sum + duplicates, 0),
  refused: rows.reduce((sum, { refused }) => sum + refused, 0),
});
