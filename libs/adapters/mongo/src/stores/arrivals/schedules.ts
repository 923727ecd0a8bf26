// Schedules of tenants in `schedules`. Port: ports/arrivals/schedules.ts.
import type { Schedules, TenantSchedule, TenantId } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, numberOrNull, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer } from '../../mongo-server.ts';
import { nameAfter, pageOf } from '../registry/registry.ts';

interface ScheduleDocument {
  readonly _id: string;
  readonly tenant: TenantId;
  readonly name: string;
  /** The id that may be used instead of the name. */
  readonly alias: string;
  readonly lookAt: number | null;
  readonly document: string;
}

const scheduleSchema = new Schema<ScheduleDocument>(
  { _id: text, tenant: text, name: text, alias: text, lookAt: numberOrNull, document: text },
  { ...everySchema, collection: 'schedules' },
)
  .index({ tenant: 1, name: 1 }, { name: 'by_name' })
  .index({ tenant: 1, alias: 1 }, { name: 'alias_once', unique: true })
  .index({ lookAt: 1 }, { name: 'by_look' });

/** A document this adapter has written itself. */
const parsed = ({ document }: ScheduleDocument): TenantSchedule => JSON.parse(document) as TenantSchedule;

export function createSchedules(server: MongoServer): Schedules {
  const schedules = server.connection.model<ScheduleDocument>('Schedule', scheduleSchema);
  return {
    insert: (schedule) => {
      const { tenant, name, id: alias, lookAt } = schedule;
      const document = JSON.stringify(schedule);
      return inserted(server, schedules, { _id: idOf(tenant, name), tenant, name, alias, lookAt, document });
    },
    get: async (tenant, nameOrId) => {
      const filter = { tenant, $or: [{ name: nameOrId }, { alias: nameOrId }] };
      const found = await server.read(() => schedules.findOne(filter).lean());
      return found && parsed(found);
    },
    list: async (tenant, page) => {
      const found = await server.read(() =>
        schedules
          .find({ tenant, name: { $gt: nameAfter(page) } })
          .sort({ name: 1 })
          .limit(page.limit + 1)
          .lean(),
      );
      return pageOf(found.map(parsed), page);
    },
    // The text of an object that was read is the text that is stored.
    replace: async (schedule, seen) => {
      const { tenant, name, lookAt } = schedule;
      const filter = { _id: idOf(tenant, name), document: JSON.stringify(seen) };
      const change = { $set: { lookAt, document: JSON.stringify(schedule) } };
      return (await server.write(() => schedules.updateOne(filter, change))).matchedCount === 1;
    },
    remove: async (tenant, name) => {
      const { deletedCount } = await server.write(() => schedules.deleteOne({ _id: idOf(tenant, name) }));
      return deletedCount === 1;
    },
    due: async (now, limit, without = []) => {
      const others = without.length === 0 ? {} : { tenant: { $nin: [...without] } };
      const found = await server.read(() =>
        schedules
          .find({ lookAt: { $lte: now }, ...others }) // null is not less than a number
          .sort({ lookAt: 1 })
          .limit(limit)
          .lean(),
      );
      return found.map(parsed);
    },
  };
}
