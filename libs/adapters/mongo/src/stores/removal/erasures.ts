// Erasures, each as JSON in one document beside what it is found by. Port: ports/stores/erasures.ts.
import {
  decodeCursor,
  encodeCursor,
  type ErasureRecord,
  type Erasures,
  invalidCursor,
  type TenantId,
} from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer } from '../../mongo-server.ts';

interface Stored {
  readonly _id: string;
  readonly tenant: TenantId;
  readonly id: string;
  readonly requestedAt: number;
  readonly state: 'running' | 'done';
  readonly document: string;
}

const schema = new Schema<Stored>(
  { _id: text, tenant: text, id: text, requestedAt: number, state: text, document: text },
  { ...everySchema, collection: 'erasures' },
);
schema.index({ tenant: 1, requestedAt: -1, id: -1 }, { name: 'newest' });
schema.index({ requestedAt: 1 }, { name: 'running', partialFilterExpression: { state: 'running' } });

const parsed = ({ document }: Stored): ErasureRecord => JSON.parse(document) as ErasureRecord;
const stateOf = ({ certificate }: ErasureRecord): Stored['state'] => (certificate === null ? 'running' : 'done');

export function createErasures(server: MongoServer): Erasures {
  const documents = server.connection.model<Stored>('Erasure', schema);

  async function get(tenant: TenantId, id: string): Promise<ErasureRecord | null> {
    const found = await server.read(() => documents.findOne({ _id: idOf(tenant, id) }).lean());
    return found && parsed(found);
  }

  return {
    get,
    insert: async (erasure) => {
      const { tenant, id, requestedAt } = erasure;
      const document = JSON.stringify(erasure);
      const stored = { _id: idOf(tenant, id), tenant, id, requestedAt, state: stateOf(erasure), document };
      return (await inserted(server, documents, stored)) ? erasure : ((await get(tenant, id)) ?? erasure);
    },
    list: async (tenant, { limit, cursor }) => {
      const found = await server.read(() =>
        documents
          .find({ tenant, ...(cursor === null ? {} : behind(cursor)) })
          .sort({ requestedAt: -1, id: -1 })
          .limit(limit + 1)
          .lean(),
      );
      const data = found.slice(0, limit).map(parsed);
      const last = data.at(-1);
      return { data, nextCursor: found.length > limit && last ? encodeCursor([last.requestedAt, last.id]) : null };
    },
    replace: async (erasure, seen) => {
      const filter = { _id: idOf(erasure.tenant, erasure.id), document: JSON.stringify(seen) };
      const change = { $set: { document: JSON.stringify(erasure), state: stateOf(erasure) } };
      return (await server.write(() => documents.updateOne(filter, change))).matchedCount === 1;
    },
    running: async (limit) => {
      const found = await server.read(() =>
        documents.find({ state: 'running' }).sort({ requestedAt: 1 }).limit(limit).lean(),
      );
      return found.map(parsed);
    },
  };
}

function behind(cursor: string) {
  const [requestedAt, id] = decodeCursor(cursor);
  if (typeof requestedAt !== 'number' || typeof id !== 'string') throw invalidCursor();
  return { $or: [{ requestedAt: { $lt: requestedAt } }, { requestedAt, id: { $lt: id } }] };
}
