// Secrets as the host sealed them. Port: ports/registry/registry.ts.
import type { SealedSecret, Secrets } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import { documentOf, documentsOf } from '../json-documents.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const upsert =
  'INSERT INTO secrets (tenant, name, document) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET document = excluded.document';
const select = 'SELECT document FROM secrets WHERE tenant = ? AND name = ?';
const selectAll = 'SELECT document FROM secrets WHERE tenant = ? ORDER BY name';
const replace = 'UPDATE secrets SET document = ? WHERE tenant = ? AND name = ? AND document = ?';
const remove = 'DELETE FROM secrets WHERE tenant = ? AND name = ?';

export function createSecrets(writer: GroupWriter, reader: Reader): Secrets {
  return {
    put: (secret) => writer.run(upsert, secret.tenant, secret.name, JSON.stringify(secret)),
    get: async (tenant, name) => documentOf<SealedSecret>(reader, select, tenant, name),
    list: async (tenant) => documentsOf(reader, selectAll, tenant),
    // The text of an object that was read is the text that is stored.
    replace: (secret, seen) =>
      writer.changes(replace, JSON.stringify(secret), secret.tenant, secret.name, JSON.stringify(seen)),
    remove: (tenant, name) => writer.changes(remove, tenant, name),
  };
}
