// Credentials of end users for tool servers. Port: ports/registry/user-credentials.ts.
import type { UserCredential, UserCredentials } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import { documentOf, documentsOf } from '../json-documents.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const upsert =
  'INSERT INTO user_credentials (tenant, user_id, tool_server, document) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET document = excluded.document';
const select = 'SELECT document FROM user_credentials WHERE tenant = ? AND user_id = ? AND tool_server = ?';
const selectAll = 'SELECT document FROM user_credentials WHERE tenant = ? AND user_id = ? ORDER BY tool_server';
const selectPage =
  'SELECT document FROM user_credentials WHERE tenant = ? AND (user_id, tool_server) > (?, ?) ORDER BY user_id, tool_server LIMIT ?';
const replace =
  'UPDATE user_credentials SET document = ? WHERE tenant = ? AND user_id = ? AND tool_server = ? AND document = ?';
const remove = 'DELETE FROM user_credentials WHERE tenant = ? AND user_id = ? AND tool_server = ?';

export function createUserCredentials(writer: GroupWriter, reader: Reader): UserCredentials {
  return {
    put: (credential) => {
      const { tenant, userId, toolServer } = credential;
      return writer.run(upsert, tenant, userId, toolServer, JSON.stringify(credential));
    },
    get: async (tenant, userId, toolServer) => documentOf<UserCredential>(reader, select, tenant, userId, toolServer),
    list: async (tenant, userId) => documentsOf(reader, selectAll, tenant, userId),
    page: async (tenant, after, limit) =>
      documentsOf(reader, selectPage, tenant, after?.userId ?? '', after?.toolServer ?? '', limit),
    // The text of an object that was read is the text that is stored.
    replace: (credential, seen) => {
      const { tenant, userId, toolServer } = credential;
      return writer.changes(replace, JSON.stringify(credential), tenant, userId, toolServer, JSON.stringify(seen));
    },
    remove: (tenant, userId, toolServer) => writer.changes(remove, tenant, userId, toolServer),
  };
}
