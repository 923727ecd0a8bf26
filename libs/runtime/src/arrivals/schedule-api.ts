// Schedules of a tenant: when what is said to whom.
//
// Invariants:
//   P1. A name is given once; the same schedule again is no change, another one under a taken name is refused.
//   P2. A schedule that could never fire is refused: its line comes in its time zone, once a minute at most, and its
//       agent exists. While it is there, its agent is not deleted.
//   P3. A tenant has `schedulesMax` of them at most; several that are made at once may pass it by their number.
import { canonicalJson, type Problem } from '@dormouse/json';
import type { Page, PageRequest, TenantSchedule, TenantId } from '@dormouse/ports';
import { comesTooOften } from '@dormouse/thread';
import type { IngressParts } from '../ingress-gateway/ingress-ports.ts';
import { publicId, timeSortedName } from '../ingress-gateway/access/client-id.ts';
import { answered, type Answered, invalid, notFound, refused } from '../ingress-gateway/refusal.ts';
import { unknownName } from '../ingress-gateway/registry/known-names.ts';
import { nextTime } from '../thread-processor/rules/next-time.ts';
import { templateProblem } from './template.ts';

export type ScheduleContent = Pick<
  TenantSchedule,
  'name' | 'cron' | 'timeZone' | 'agent' | 'message' | 'externalId' | 'missed'
>;

export type ShownSchedule = Omit<TenantSchedule, 'tenant' | 'lookAt' | 'firing'>;

export interface ScheduleApi {
  create(
    tenant: TenantId,
    content: ScheduleContent,
  ): Promise<Answered<{ readonly schedule: ShownSchedule; readonly created: boolean }>>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<ShownSchedule>>;
  remove(tenant: TenantId, nameOrId: string): Promise<Answered<null>>;
}

/** Of a tenant. (P3) */
export const schedulesMax = 200;

export type SchedulePorts = Pick<IngressParts, 'schedules' | 'agents' | 'clock' | 'entropy'>;

export function createScheduleApi(ports: SchedulePorts): ScheduleApi {
  const { schedules, agents, clock, entropy } = ports;
  /** A name that is there takes no more room. */
  async function isFull(tenant: TenantId, name: string): Promise<boolean> {
    const { data } = await schedules.list(tenant, { limit: schedulesMax, cursor: null });
    return data.length >= schedulesMax && (await schedules.get(tenant, name)) === null;
  }

  return {
    async create(tenant, given) {
      const now = clock.now();
      const agent = await agents.latest(tenant, given.agent);
      const nextAt = nextTime(given.cron, given.timeZone, now);
      const problems = await problemsOf(ports, tenant, given, { hasAgent: agent !== null, nextAt });
      if (agent === null || problems.length > 0) return invalid(problems);
      const content = contentOf({ ...given, agent: agent.name });
      if (await isFull(tenant, content.name))
        return refused('TOO_MANY_SCHEDULES', `A tenant has at most ${schedulesMax} schedules.`); // (P3)
      const id = publicId('sch', timeSortedName(now, entropy.nonce()));
      const schedule: TenantSchedule = {
        ...{ ...content, tenant, id, createdAt: now, nextAt, lookAt: nextAt, firing: null },
        ...{ lastFiredAt: null, lastScheduledFor: null, fired: 0, skipped: 0 },
      };
      if (await schedules.insert(schedule)) return answered({ schedule: shown(schedule), created: true });
      const existing = await schedules.get(tenant, content.name);
      if (existing !== null && canonicalJson(contentOf(existing)) === canonicalJson(content))
        return answered({ schedule: shown(existing), created: false }); // (P1)
      return refused('ALREADY_EXISTS', 'Another schedule has this name.');
    },
    async list(tenant, page) {
      const { data, nextCursor } = await schedules.list(tenant, page);
      return { data: data.map(shown), nextCursor };
    },
    async remove(tenant, nameOrId) {
      const schedule = await schedules.get(tenant, nameOrId);
      if (schedule === null || !(await schedules.remove(tenant, schedule.name))) return notFound('schedule');
      return answered(null);
    },
  };
}

const contentOf = ({ name, cron, timeZone, agent, message, externalId, missed }: ScheduleContent): ScheduleContent => ({
  ...{ name, cron, timeZone, agent, message, externalId, missed },
});

const shown = ({ tenant: _tenant, lookAt: _look, firing: _firing, ...schedule }: TenantSchedule): ShownSchedule =>
  schedule;

/** (P2) */
async function problemsOf(
  { agents }: SchedulePorts,
  tenant: TenantId,
  { cron, timeZone, agent, message }: ScheduleContent,
  { hasAgent, nextAt }: { readonly hasAgent: boolean; readonly nextAt: number | null },
): Promise<readonly Problem[]> {
  const hasZone = nextTime('* * * * *', timeZone, 0) !== null;
  const nextAfter = (after: number): number | null => nextTime(cron, timeZone, after);
  const cronDetail = !hasZone
    ? null
    : nextAt === null
      ? 'is not a cron line, or never comes'
      : comesTooOften(nextAfter, nextAt)
        ? 'comes more often than once a minute'
        : null;
  const agentDetail = hasAgent ? null : await unknownName('agent', agent, (page) => agents.list(tenant, page));
  return [
    { pointer: '/cron', detail: cronDetail },
    {
      pointer: '/time_zone',
      detail: hasZone ? null : 'is no time zone that is known here, such as Europe/Vienna',
    },
    { pointer: '/agent', detail: agentDetail },
    { pointer: '/message', detail: templateProblem(message) },
  ].flatMap(({ pointer, detail }) => (detail === null ? [] : [{ pointer, detail }]));
}
