// Schedules of tenants in `schedules`. Port: ports/arrivals/schedules.ts.
import type { Schedules, TenantSchedule, TenantId } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, numberOrNull, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer } from '../../mongo-server.ts';
import { type JsonDocument, jsonDocuments } from '../json-documents.ts';

interface ScheduleDocument extends JsonDocument {
  readonly tenant: TenantId;
  readonly name: string;
  /** The id that may be used instead of the name. */
  readonly alias: string;
  readonly lookAt: number | null;
}

const scheduleSchema = new Schema<ScheduleDocument>(
  { _id: text, tenant: text, name: text, alias: text, lookAt: numberOrNull, document: text },
  { ...everySchema, collection: 'schedules' },
)
  .index({ tenant: 1, name: 1 }, { name: 'by_name' })
  .index({ tenant: 1, alias: 1 }, { name: 'alias_once', unique: true })
  .index({ lookAt: 1 }, { name: 'by_look' });

export function createSchedules(server: MongoServer): Schedules {
  const schedules = server.connection.model<ScheduleDocument>('Schedule', scheduleSchema);
  const documents = jsonDocuments<TenantSchedule, ScheduleDocument>(server, schedules);
  return {
    insert: (schedule) => {
      const { tenant, name, id: alias, lookAt } = schedule;
      const document = JSON.stringify(schedule);
      return inserted(server, schedules, { _id: idOf(tenant, name), tenant, name, alias, lookAt, document });
    },
    get: (tenant, nameOrId) => documents.one({ tenant, $or: [{ name: nameOrId }, { alias: nameOrId }] }),
    list: (tenant, page) => documents.page('name', { tenant }, page),
    replace: (schedule, seen) =>
      documents.replace(idOf(schedule.tenant, schedule.name), schedule, seen, { lookAt: schedule.lookAt }),
    remove: (tenant, name) => documents.remove({ _id: idOf(tenant, name) }),
    due: (now, limit, without = []) => {
      const others = without.length === 0 ? {} : { tenant: { $nin: [...without] } };
      // Null is not less than a number.
      return documents.all({ lookAt: { $lte: now }, ...others }, { lookAt: 1 }, limit);
    },
  };
}
