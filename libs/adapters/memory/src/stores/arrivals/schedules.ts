// Schedules of tenants in memory. Port: ports/arrivals/schedules.ts.
import type { Schedules, TenantSchedule, TenantId } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { byName, insertNew, pageOf, replaceSeen, rowsOf } from '../rows.ts';

/** Keys begin with the tenant. */
export type ScheduleStore = Map<string, TenantSchedule>;

const nameOf = (tenant: TenantId, name: string): string => `${tenant}:${name}`;

export function createSchedules(schedules: ScheduleStore, passage: Passage): Schedules {
  return {
    insert: (schedule) =>
      passage.write('schedules.insert', schedule.name, () =>
        insertNew(schedules, nameOf(schedule.tenant, schedule.name), schedule),
      ),
    get: (tenant, nameOrId) =>
      passage.read(
        'schedules.get',
        nameOrId,
        () =>
          schedules.get(nameOf(tenant, nameOrId)) ??
          rowsOf(schedules, tenant).find(({ id }) => id === nameOrId) ??
          null,
      ),
    list: (tenant, page) =>
      passage.read('schedules.list', tenant, () =>
        pageOf(rowsOf(schedules, tenant).toSorted(byName), page, ({ name }) => name),
      ),
    replace: (schedule, seen) =>
      passage.write('schedules.replace', schedule.name, () =>
        replaceSeen(schedules, nameOf(schedule.tenant, schedule.name), schedule, seen),
      ),
    remove: (tenant, name) => passage.write('schedules.remove', name, () => schedules.delete(nameOf(tenant, name))),
    due: (now, limit, without = []) =>
      passage.read('schedules.due', '', () =>
        [...schedules.values()]
          .flatMap((schedule) => (schedule.lookAt === null ? [] : [{ schedule, at: schedule.lookAt }]))
          .filter(({ at, schedule }) => at <= now && !without.includes(schedule.tenant))
          .toSorted((left, right) => left.at - right.at)
          .slice(0, limit)
          .map(({ schedule }) => schedule),
      ),
  };
}
