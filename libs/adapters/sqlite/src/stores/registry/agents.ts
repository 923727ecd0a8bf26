// Agents: immutable versions under one name. Port: ports/registry/registry.ts.
import type { Agent, Agents } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import { documentOf, nameOf, pageOfDocuments } from '../json-documents.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const insert =
  'INSERT INTO agents (tenant, name, version, agent_id, document) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const selectLatest =
  'SELECT document FROM agents WHERE tenant = ? AND (name = ? OR agent_id = ?) ORDER BY version DESC LIMIT 1';
const selectVersion =
  'SELECT document FROM agents WHERE tenant = ? AND (name = ? OR agent_id = ?) AND version = ? LIMIT 1';
// With max(), SQLite takes the other columns from the row that holds the maximum.
const selectPage =
  'SELECT document, max(version) FROM agents WHERE tenant = ? AND name > ? GROUP BY name ORDER BY name LIMIT ?';
const removeAll = 'DELETE FROM agents WHERE tenant = ? AND name = ?';
const pause = 'INSERT INTO paused_agents (tenant, name) VALUES (?, ?) ON CONFLICT DO NOTHING';
const resume = 'DELETE FROM paused_agents WHERE tenant = ? AND name = ?';
const selectPaused = 'SELECT name FROM paused_agents WHERE tenant = ? ORDER BY name';

export function createAgents(writer: GroupWriter, reader: Reader): Agents {
  return {
    insert: (agent) => writer.changes(insert, agent.tenant, agent.name, agent.version, agent.id, JSON.stringify(agent)),
    latest: async (tenant, nameOrId) => documentOf<Agent>(reader, selectLatest, tenant, nameOrId, nameOrId),
    version: async (tenant, nameOrId, version) =>
      documentOf<Agent>(reader, selectVersion, tenant, nameOrId, nameOrId, version),
    list: async (tenant, page) => pageOfDocuments<Agent>(reader, page, nameOf, selectPage, tenant),
    remove: async (tenant, name) => {
      const [removed] = await Promise.all([
        writer.rows('prompt', removeAll, [[tenant, name]]),
        writer.run(resume, tenant, name),
      ]);
      return removed > 0;
    },
    setPaused: (tenant, name, isPaused) => writer.run(isPaused ? pause : resume, tenant, name),
    paused: async (tenant) => reader.all<{ name: string }>(selectPaused, tenant).map(({ name }) => name),
  };
}
