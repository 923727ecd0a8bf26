// Sources, and the deliveries that they have brought. Port: ports/arrivals/sources.ts.
import type { Deliveries, Delivery, Source, Sources, TenantId } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { documentOf, nameOf, pageOfDocuments } from '../json-documents.ts';

const insert =
  'INSERT INTO sources (tenant, name, source_id, token_sha256, document) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM sources WHERE tenant = ? AND (name = ? OR source_id = ?) LIMIT 1';
const selectByToken = 'SELECT document FROM sources WHERE token_sha256 = ?';
const selectPage = 'SELECT document FROM sources WHERE tenant = ? AND name > ? ORDER BY name LIMIT ?';
const replace = 'UPDATE sources SET document = ? WHERE tenant = ? AND name = ? AND document = ?';
const remove = 'DELETE FROM sources WHERE tenant = ? AND name = ?';

export function createSources(writer: GroupWriter, reader: Reader): Sources {
  return {
    insert: (source) => {
      const { tenant, name, id, tokenSha256 } = source;
      return writer.changes(insert, tenant, name, id, tokenSha256, JSON.stringify(source));
    },
    get: async (tenant, nameOrId) => documentOf<Source>(reader, select, tenant, nameOrId, nameOrId),
    byToken: async (tokenSha256) => documentOf<Source>(reader, selectByToken, tokenSha256),
    list: async (tenant, page) => pageOfDocuments<Source>(reader, page, nameOf, selectPage, tenant),
    // The text of an object that was read is the text that is stored.
    replace: (source, seen) =>
      writer.changes(replace, JSON.stringify(source), source.tenant, source.name, JSON.stringify(seen)),
    remove: (tenant, name) => writer.changes(remove, tenant, name),
  };
}

const claim = 'INSERT INTO source_deliveries (id, tenant, thread, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
const selectDelivery = 'SELECT id, tenant, thread, at FROM source_deliveries WHERE id = ? AND tenant = ?';

export const sweepClaims = 'DELETE FROM source_deliveries WHERE at < ?';

export function createDeliveries(writer: GroupWriter, reader: Reader): Deliveries {
  const find = (tenant: TenantId, id: string): Delivery | null => {
    const row = reader.one<Delivery>(selectDelivery, id, tenant);
    return row && { tenant: row.tenant, id: row.id, thread: row.thread, at: row.at };
  };
  return {
    find: async (tenant, id) => find(tenant, id),
    claim: async (delivery) => {
      const { id, tenant, thread, at } = delivery;
      const isFirst = await writer.changes(claim, id, tenant, thread, at);
      return { delivery: isFirst ? delivery : (find(tenant, id) ?? delivery), isFirst };
    },
  };
}
