// Schedules of tenants. Port: ports/arrivals/schedules.ts.
import type { Schedules, TenantSchedule } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { documentOf, type DocumentRow, pageByName } from '../registry/document.ts';

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
    insert: async (schedule) => {
      const { tenant, name, id, lookAt } = schedule;
      return (await writer.rows('prompt', insert, [[tenant, name, id, lookAt, JSON.stringify(schedule)]])) === 1;
    },
    get: async (tenant, nameOrId) => documentOf<TenantSchedule>(reader.one(select, tenant, nameOrId, nameOrId)),
    list: async (tenant, page) => pageByName<TenantSchedule>(reader, selectPage, tenant, page),
    // The text of an object that was read is the text that is stored.
    replace: async (schedule, seen) => {
      const { tenant, name, lookAt } = schedule;
      const parameters = [lookAt, JSON.stringify(schedule), tenant, name, JSON.stringify(seen)];
      return (await writer.rows('prompt', replace, [parameters])) === 1;
    },
    remove: async (tenant, name) => (await writer.rows('prompt', remove, [[tenant, name]])) === 1,
    due: async (now, limit, without = []) =>
      (without.length === 0
        ? reader.all<DocumentRow>(selectDue, now, limit)
        : reader.all<DocumentRow>(selectDueWithout, now, JSON.stringify(without), limit)
      ).map(({ document }) => JSON.parse(document) as TenantSchedule),
  };
}
