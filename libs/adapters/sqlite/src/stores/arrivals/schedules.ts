// Schedules of tenants. Port: ports/arrivals/schedules.ts.
import type { Schedules, TenantSchedule } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { documentOf, documentsOf, nameOf, pageOfDocuments } from '../json-documents.ts';

const insert =
  'INSERT INTO schedules (tenant, name, schedule_id, look_at, document) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM schedules WHERE tenant = ? AND (name = ? OR schedule_id = ?) LIMIT 1';
const selectPage = 'SELECT document FROM schedules WHERE tenant = ? AND name > ? ORDER BY name LIMIT ?';
const selectDue = 'SELECT document FROM schedules WHERE look_at <= ? ORDER BY look_at LIMIT ?';
const selectDueWithout =
  'SELECT document FROM schedules WHERE look_at <= ? AND tenant NOT IN (SELECT value FROM json_each(?)) ORDER BY look_at LIMIT ?';
const replace = 'UPDATE schedules SET look_at = ?, document = ? WHERE tenant = ? AND name = ? AND document = ?';
const remove = 'DELETE FROM schedules WHERE tenant = ? AND name = ?';

export function createSchedules(writer: GroupWriter, reader: Reader): Schedules {
  return {
    insert: (schedule) => {
      const { tenant, name, id, lookAt } = schedule;
      return writer.changes(insert, tenant, name, id, lookAt, JSON.stringify(schedule));
    },
    get: async (tenant, nameOrId) => documentOf<TenantSchedule>(reader, select, tenant, nameOrId, nameOrId),
    list: async (tenant, page) => pageOfDocuments<TenantSchedule>(reader, page, nameOf, selectPage, tenant),
    // The text of an object that was read is the text that is stored.
    replace: (schedule, seen) => {
      const { tenant, name, lookAt } = schedule;
      return writer.changes(replace, lookAt, JSON.stringify(schedule), tenant, name, JSON.stringify(seen));
    },
    remove: (tenant, name) => writer.changes(remove, tenant, name),
    due: async (now, limit, without = []) =>
      without.length === 0
        ? documentsOf(reader, selectDue, now, limit)
        : documentsOf(reader, selectDueWithout, now, JSON.stringify(without), limit),
  };
}
