// Registered tool servers. Port: ports/registry/registry.ts.
import type { ToolServer, ToolServers } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import { documentOf, pageByName } from './document.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const insert =
  'INSERT INTO tool_servers (tenant, name, server_id, document) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM tool_servers WHERE tenant = ? AND (name = ? OR server_id = ?) LIMIT 1';
const selectPage = 'SELECT document FROM tool_servers WHERE tenant = ? AND name > ? ORDER BY name LIMIT ?';
const replace = 'UPDATE tool_servers SET document = ? WHERE tenant = ? AND name = ? AND document = ?';
const remove = 'DELETE FROM tool_servers WHERE tenant = ? AND name = ?';

export function createToolServers(writer: GroupWriter, reader: Reader): ToolServers {
  return {
    insert: async (server) =>
      (await writer.rows('prompt', insert, [[server.tenant, server.name, server.id, JSON.stringify(server)]])) === 1,
    get: async (tenant, nameOrId) => documentOf<ToolServer>(reader.one(select, tenant, nameOrId, nameOrId)),
    list: async (tenant, page) => pageByName<ToolServer>(reader, selectPage, tenant, page),
    // The text of an object that was read is the text that is stored.
    replace: async (server, seen) => {
      const parameters = [JSON.stringify(server), server.tenant, server.name, JSON.stringify(seen)];
      return (await writer.rows('prompt', replace, [parameters])) === 1;
    },
    remove: async (tenant, name) => (await writer.rows('prompt', remove, [[tenant, name]])) === 1,
  };
}
