// Tenants, and their threads that are held. Ports: ports/registry/tenants.ts, ports/stores/held-threads.ts.
import type { HeldBy, HeldThread, HeldThreads, TenantRecord, Tenants, TenantId } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { documentOf, documentsOf, idOf, pageOfDocuments } from '../json-documents.ts';

const insert = 'INSERT INTO tenants (id, state, document) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM tenants WHERE id = ?';
const selectPage = 'SELECT document FROM tenants WHERE id > ? ORDER BY id LIMIT ?';
const selectDeleting = "SELECT document FROM tenants WHERE state = 'deleting' ORDER BY id";
const replace = 'UPDATE tenants SET state = ?, document = ? WHERE id = ? AND document = ?';

export function createTenants(writer: GroupWriter, reader: Reader): Tenants {
  return {
    insert: (tenant) => writer.changes(insert, tenant.id, tenant.state, JSON.stringify(tenant)),
    get: async (id) => documentOf<TenantRecord>(reader, select, id),
    list: async (page) => pageOfDocuments<TenantRecord>(reader, page, idOf, selectPage),
    // The text of an object that was read is the text that is stored.
    replace: (tenant, seen) =>
      writer.changes(replace, tenant.state, JSON.stringify(tenant), tenant.id, JSON.stringify(seen)),
    deleting: async () => documentsOf(reader, selectDeleting),
  };
}

/** A replaced row gets a new number, which was never used. */
const hold = 'INSERT OR REPLACE INTO held_threads (tenant, held_by, thread) VALUES (?, ?, ?)';
/** Each group by one search of the index, from the group before. */
const selectGroups = `
  WITH RECURSIVE groups (tenant, held_by) AS (
    SELECT * FROM (SELECT tenant, held_by FROM held_threads ORDER BY tenant, held_by LIMIT 1)
    UNION ALL
    SELECT next.tenant, next.held_by FROM groups, held_threads AS next WHERE next.mark = (
      SELECT mark FROM held_threads AS other WHERE (other.tenant, other.held_by) > (groups.tenant, groups.held_by)
      ORDER BY other.tenant, other.held_by LIMIT 1)
  )
  SELECT tenant, held_by FROM groups`;
const selectHeld =
  'SELECT tenant, thread, mark FROM held_threads WHERE tenant = ? AND held_by = ? AND thread > ? ORDER BY thread LIMIT ?';
const removeHeld = 'DELETE FROM held_threads WHERE mark = ? AND tenant = ? AND thread = ?';

export function createHeldThreads(writer: GroupWriter, reader: Reader): HeldThreads {
  return {
    hold: ({ tenant, thread }, by) => writer.run(hold, tenant, by, thread),
    groups: async () =>
      reader
        .all<{ tenant: TenantId; held_by: HeldBy }>(selectGroups)
        .map(({ tenant, held_by: by }) => ({ tenant, by })),
    list: async ({ tenant, by }, after, limit) =>
      reader
        .all<HeldThread>(selectHeld, tenant, by, after ?? '', limit)
        .map(({ thread, mark }) => ({ tenant, thread, mark })),
    remove: ({ tenant, thread, mark }) => writer.run(removeHeld, mark, tenant, thread),
  };
}
