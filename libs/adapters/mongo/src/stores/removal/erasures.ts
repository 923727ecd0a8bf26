// Erasures, each as JSON in one document beside what it is found by. Port: ports/stores/erasures.ts.
import { type ErasureRecord, type Erasures, pageOf, type TenantId } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer } from '../../mongo-server.ts';
import { behindCursor } from '../../behind-cursor.ts';
import { type JsonDocument, jsonDocuments } from '../json-documents.ts';

interface Stored extends JsonDocument {
  readonly tenant: TenantId;
  readonly id: string;
  readonly requestedAt: number;
  readonly state: 'running' | 'done';
}

const schema = new Schema<Stored>(
  { _id: text, tenant: text, id: text, requestedAt: number, state: text, document: text },
  { ...everySchema, collection: 'erasures' },
);
schema.index({ tenant: 1, requestedAt: -1, id: -1 }, { name: 'newest' });
schema.index({ requestedAt: 1 }, { name: 'running', partialFilterExpression: { state: 'running' } });

const stateOf = ({ certificate }: ErasureRecord): Stored['state'] => (certificate === null ? 'running' : 'done');

export function createErasures(server: MongoServer): Erasures {
  const erasures = server.connection.model<Stored>('Erasure', schema);
  const documents = jsonDocuments<ErasureRecord, Stored>(server, erasures);
  const get = (tenant: TenantId, id: string) => documents.one({ _id: idOf(tenant, id) });
  return {
    get,
    insert: async (erasure) => {
      const { tenant, id, requestedAt } = erasure;
      const document = JSON.stringify(erasure);
      const stored = { _id: idOf(tenant, id), tenant, id, requestedAt, state: stateOf(erasure), document };
      return (await inserted(server, erasures, stored)) ? erasure : ((await get(tenant, id)) ?? erasure);
    },
    list: async (tenant, page) => {
      const filter = { tenant, ...behindCursor(page, ['requestedAt', 'id'], '$lt') };
      const found = await documents.all(filter, { requestedAt: -1, id: -1 }, page.limit + 1);
      return pageOf(found, page, ({ requestedAt, id }) => [requestedAt, id]);
    },
    replace: (erasure, seen) =>
      documents.replace(idOf(erasure.tenant, erasure.id), erasure, seen, { state: stateOf(erasure) }),
    running: (limit) => documents.all({ state: 'running' }, { requestedAt: 1 }, limit),
  };
}
