// Schedules of tenants in memory. Port: ports/arrivals/schedules.ts.
import type { Schedules, TenantSchedule, TenantId } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { pageOf } from '../../log/thread-directory.ts';

/** Keys begin with the tenant. */
export type ScheduleStore = Map<string, TenantSchedule>;

const nameOf = (tenant: TenantId, name: string): string => `${tenant}:${name}`;

export function createSchedules(schedules: ScheduleStore, passage: Passage): Schedules {
  const all = (): readonly TenantSchedule[] => [...schedules.values()];
  return {
    insert: (schedule) =>
      passage.write('schedules.insert', schedule.name, () => {
        const name = nameOf(schedule.tenant, schedule.name);
        if (schedules.has(name)) return false;
        schedules.set(name, schedule);
        return true;
      }),
    get: (tenant, nameOrId) =>
      passage.read(
        'schedules.get',
        nameOrId,
        () =>
          schedules.get(nameOf(tenant, nameOrId)) ??
          all().find((schedule) => schedule.tenant === tenant && schedule.id === nameOrId) ??
          null,
      ),
    list: (tenant, page) =>
      passage.read('schedules.list', tenant, () => {
        const found = all().filter((schedule) => schedule.tenant === tenant);
        return pageOf(
          found.toSorted((left, right) => (left.name < right.name ? -1 : 1)),
          page,
          ({ name }) => name,
        );
      }),
    replace: (schedule, seen) =>
      passage.write('schedules.replace', schedule.name, () => {
        const name = nameOf(schedule.tenant, schedule.name);
        if (JSON.stringify(schedules.get(name)) !== JSON.stringify(seen)) return false;
        schedules.set(name, schedule);
        return true;
      }),
    remove: (tenant, name) => passage.write('schedules.remove', name, () => schedules.delete(nameOf(tenant, name))),
    due: (now, limit, without = []) =>
      passage.read('schedules.due', '', () =>
        all()
          .flatMap((schedule) => (schedule.lookAt === null ? [] : [{ schedule, at: schedule.lookAt }]))
          .filter(({ at, schedule }) => at <= now && !without.includes(schedule.tenant))
          .toSorted((left, right) => left.at - right.at)
          .slice(0, limit)
          .map(({ schedule }) => schedule),
      ),
  };
}
