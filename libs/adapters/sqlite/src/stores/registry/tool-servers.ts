// Registered tool servers. Port: ports/registry/registry.ts.
import type { ToolServer, ToolServers } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import { documentOf, nameOf, pageOfDocuments } from '../json-documents.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const insert =
  'INSERT INTO tool_servers (tenant, name, server_id, document) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM tool_servers WHERE tenant = ? AND (name = ? OR server_id = ?) LIMIT 1';
const selectPage = 'SELECT document FROM tool_servers WHERE tenant = ? AND name > ? ORDER BY name LIMIT ?';
const replace = 'UPDATE tool_servers SET document = ? WHERE tenant = ? AND name = ? AND document = ?';
const remove = 'DELETE FROM tool_servers WHERE tenant = ? AND name = ?';

export function createToolServers(writer: GroupWriter, reader: Reader): ToolServers {
  return {
    insert: (server) => writer.changes(insert, server.tenant, server.name, server.id, JSON.stringify(server)),
    get: async (tenant, nameOrId) => documentOf<ToolServer>(reader, select, tenant, nameOrId, nameOrId),
    list: async (tenant, page) => pageOfDocuments<ToolServer>(reader, page, nameOf, selectPage, tenant),
    // The text of an object that was read is the text that is stored.
    replace: (server, seen) =>
      writer.changes(replace, JSON.stringify(server), server.tenant, server.name, JSON.stringify(seen)),
    remove: (tenant, name) => writer.changes(remove, tenant, name),
  };
}
