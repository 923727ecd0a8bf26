// Manifests by hash, and the last valid one of each base URL. Port: ports/registry/registry.ts. The column
// `tool_server` holds base URLs; names that an earlier release wrote there are never queried again.
import type { Toolsets } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const insert = 'INSERT INTO toolsets (tenant, sha256, manifest) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT manifest FROM toolsets WHERE tenant = ? AND sha256 = ?';
const upsertLastGood =
  'INSERT INTO toolsets_last_good (tenant, tool_server, sha256) VALUES (?, ?, ?) ON CONFLICT DO UPDATE ' +
  'SET sha256 = excluded.sha256 WHERE sha256 <> excluded.sha256';
const selectLastGood = 'SELECT sha256 FROM toolsets_last_good WHERE tenant = ? AND tool_server = ?';

export function createToolsets(writer: GroupWriter, reader: Reader): Toolsets {
  return {
    put: ({ tenant, sha256, manifest }) => writer.run(insert, tenant, sha256, manifest),
    get: async (tenant, sha256) => {
      const row = reader.one<{ manifest: string }>(select, tenant, sha256);
      return row && { tenant, sha256, manifest: row.manifest };
    },
    putLastGood: (tenant, baseUrl, sha256) => writer.run(upsertLastGood, tenant, baseUrl, sha256),
    lastGood: async (tenant, baseUrl) =>
      reader.one<{ sha256: string }>(selectLastGood, tenant, baseUrl)?.sha256 ?? null,
  };
}
