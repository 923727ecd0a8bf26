// Activity of tool servers, by minute and reporter. Port: ports/stores/tool-activity.ts.
import { type ActivityCounts, activityKeptMs, type ActivityRow, type ToolActivity } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text, textOrNull } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { type MongoServer, unordered, upserted } from '../mongo-server.ts';

interface ActivityDocument extends Omit<ActivityRow, 'counts'> {
  readonly _id: string;
  /** JSON: names of buckets never become names of fields. */
  readonly counts: string;
  /** The server deletes the document some time after this. (tool-activity Y5) */
  readonly expiry: Date;
}

const activitySchema = new Schema<ActivityDocument>(
  {
    ...{ _id: text, tenant: text, toolServerId: text, reporter: text, from: number, counts: text },
    ...{ breaker: textOrNull, writtenAt: number },
    expiry: { type: Date, required: true },
  },
  { ...everySchema, collection: 'tool_activity' },
);
activitySchema.index({ tenant: 1, toolServerId: 1, from: 1 }, { name: 'by_tool_server' });
activitySchema.index({ expiry: 1 }, { name: 'expiry', expireAfterSeconds: 0 });

interface DiscoveryDocument {
  readonly _id: string;
  readonly at: number;
}

const discoverySchema = new Schema<DiscoveryDocument>(
  { _id: text, at: number },
  { ...everySchema, collection: 'tool_discoveries' },
);

export function createToolActivity(server: MongoServer): ToolActivity {
  const activity = server.connection.model<ActivityDocument>('ToolActivity', activitySchema);
  const discovered = server.connection.model<DiscoveryDocument>('ToolDiscovery', discoverySchema);

  async function putRows(rows: readonly ActivityRow[]): Promise<void> {
    if (rows.length === 0) return;
    const replacements = rows.map(documentOf).map((replacement) => ({
      replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
    }));
    await server.write(() => activity.bulkWrite(replacements, unordered));
  }

  /** (tool-activity Y3) */
  async function putDiscovery(_id: string, at: number): Promise<void> {
    await upserted(server, (options) => discovered.updateOne({ _id }, { $max: { at } }, options));
  }

  return {
    put: async (rows, discoveries) => {
      const found = discoveries.map(({ tenant, toolServerId, at }) => putDiscovery(idOf(tenant, toolServerId), at));
      await Promise.all([putRows(rows), ...found]);
    },
    read: async (tenant, toolServerId, from) => {
      const [rows, last] = await Promise.all([
        server.read(() => activity.find({ tenant, toolServerId, from: { $gte: from } }).lean()),
        server.read(() => discovered.findOne({ _id: idOf(tenant, toolServerId) }).lean()),
      ]);
      return { rows: rows.map(rowOf), discoveredAt: last?.at ?? null };
    },
    forget: async (tenant, toolServerId) => {
      await server.write(() => activity.deleteMany({ tenant, toolServerId }));
      await server.write(() => discovered.deleteOne({ _id: idOf(tenant, toolServerId) }));
    },
  };
}

function documentOf(row: ActivityRow): ActivityDocument {
  const { tenant, toolServerId, reporter, from, counts } = row;
  return {
    ...row,
    _id: idOf(tenant, toolServerId, from, reporter),
    counts: JSON.stringify(counts),
    expiry: new Date(from + activityKeptMs),
  };
}

function rowOf({ _id, expiry: _expiry, counts, ...row }: ActivityDocument): ActivityRow {
  return { ...row, counts: JSON.parse(counts) as ActivityCounts };
}
