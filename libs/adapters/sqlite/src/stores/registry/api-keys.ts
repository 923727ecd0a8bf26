// API keys by the hash of the key. Port: ports/registry/api-keys.ts.
import type { ApiKey, ApiKeys } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import { documentOf, documentsOf } from '../json-documents.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const insert = 'INSERT INTO api_keys (key_sha256, id, tenant, document) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM api_keys WHERE key_sha256 = ?';
const selectAll = 'SELECT document FROM api_keys WHERE tenant = ? ORDER BY id';
const noteUse =
  "UPDATE api_keys SET document = json_set(document, '$.lastUsedAt', ?1) " +
  "WHERE key_sha256 = ?2 AND ifnull(document ->> '$.lastUsedAt', 0) < ?1";
const end =
  "UPDATE api_keys SET document = json_patch(document, ?) WHERE tenant = ? AND id = ? AND document ->> '$.revokedAt' IS NULL";
const remove = 'DELETE FROM api_keys WHERE tenant = ? AND id = ?';

export function createApiKeys(writer: GroupWriter, reader: Reader): ApiKeys {
  return {
    insert: (key) => writer.run(insert, key.keySha256, key.id, key.tenant, JSON.stringify(key)),
    bySha256: async (keySha256) => documentOf<ApiKey>(reader, select, keySha256),
    list: async (tenant) => documentsOf(reader, selectAll, tenant),
    used: async (keySha256, at) => {
      await writer.rows('lazy', noteUse, [[at, keySha256]]);
    },
    end: (tenant, id, change) => writer.changes(end, JSON.stringify(change), tenant, id),
    remove: (tenant, id) => writer.changes(remove, tenant, id),
  };
}
