import {
  type Clock,
  Fault,
  type InputDelivery,
  newTenant,
  type Schedules,
  tenantId,
  type TenantSchedule,
} from '@dormouse/ports';
import { createManualClock, settle } from '@dormouse/adapter-memory';
import { defaultLimits, defaultPolicies } from '@dormouse/thread';
import { afterEach, describe, expect, it } from 'vitest';
import { ingressRig, type IngressRig } from '../ingress-gateway/spec/ingress-rig.ts';
import type { Service } from '../service.ts';
import { createTenantRecords } from '../tenants/tenant-records.ts';
import type { ScheduleContent } from './schedule-api.ts';
import { createScheduler } from './scheduler.ts';

const tenant = tenantId('acme');
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const model = {
  ...{ provider: 'demo', name: '', baseUrl: null, apiKeySecret: null, contextWindowTokens: 1_000 },
  ...{ outputTokensMax: null, images: false, parameters: {} },
};
const silent = { info: () => {}, warn: () => {}, error: () => {} };

interface Fired {
  readonly thread: string;
  readonly text: string;
  readonly scheduledFor: string;
  readonly missed: number;
}

interface Clockwork extends Omit<IngressRig, 'clock'> {
  readonly clock: Clock;
  readonly schedule: () => Promise<TenantSchedule>;
  /** One for each message: the log takes an input once. */
  fired(): readonly Fired[];
  /** Moves the clock, and lets everything that is due happen. */
  pass(ms: number): Promise<void>;
  /** One more process. */
  start(changed?: Partial<Schedules>): Promise<void>;
}

/** A clock that jumps: a sleep ends at the next look, whatever its length. */
function jumpingClock(from: string) {
  let now = Date.parse(from);
  const sleepers = new Set<() => void>();
  const clock: Clock = {
    now: () => now,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        sleepers.add(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      }),
    alarm: () => () => {},
  };
  const wake = async (): Promise<void> => {
    const asleep = [...sleepers];
    sleepers.clear();
    for (const each of asleep) each();
    for (let nth = 0; nth < 10; nth++) await settle();
  };
  return {
    clock,
    async pass(ms: number): Promise<void> {
      now += ms;
      for (let nth = 0; nth < 3; nth++) await wake();
    },
  };
}

const running: Service[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop(0)));
});

const daily: ScheduleContent = {
  ...{ name: 'daily', cron: '0 9 * * *', timeZone: 'UTC', agent: 'helper', externalId: null, missed: 'once' },
  message: '{{/name}} for {{/scheduled_for}}',
};

async function clockwork(from: string, changes: Partial<ScheduleContent> = {}, processes = 1): Promise<Clockwork> {
  const at = ingressRig();
  const jumping = jumpingClock(from);
  const { clock } = jumping;
  const pass = (ms: number): Promise<void> => jumping.pass(ms);
  const ingress = at.ingressWith({ clock });
  const arrived: InputDelivery[] = [];
  await at.ports.inputs.consume({
    assigned: () => {},
    revoked: () => Promise.resolve(),
    busy: () => false,
    deliver: (_assignment, delivery) => {
      if (delivery.what === 'input') arrived.push(delivery);
      delivery.decided(0);
      delivery.release();
    },
  });
  const content = { instructions: '', model, toolServers: [], policies: defaultPolicies, limits: defaultLimits };
  await ingress.agents.create(tenant, 'helper', content);
  const made = await ingress.schedules.create(tenant, { ...daily, ...changes });
  if (!made.ok) throw new Error(JSON.stringify(made.refusal));
  const start = async (changed: Partial<Schedules> = {}): Promise<void> => {
    const { deliver } = at.ingressWith({ clock });
    const records = createTenantRecords({ tenants: at.ports.tenants, clock });
    const schedules = { ...at.ports.schedules, ...changed };
    const service = createScheduler({ schedules, records, deliver, clock, logger: silent });
    running.push(service);
    await service.start();
  };
  for (let nth = 0; nth < processes; nth++) await start();
  return {
    ...{ ...at, clock, ingress, start, pass },
    schedule: async () => {
      const found = await at.ports.schedules.get(tenant, 'daily');
      if (found === null) throw new Error('no schedule');
      return found;
    },
    fired: () => {
      const messages = new Map(arrived.map(({ thread, input }) => [`${thread} ${input.id}`, { thread, input }]));
      return [...messages.values()].flatMap(({ thread, input }) => {
        if (input.kind !== 'UserMessage' || input.schedule === undefined) return [];
        const [item] = input.content;
        const { scheduledFor, missed } = input.schedule;
        const text = item?.type === 'text' && 'text' in item ? item.text : '';
        return [{ thread, text, scheduledFor: new Date(scheduledFor).toISOString(), missed }];
      });
    },
  };
}

const times = (at: Clockwork): readonly string[] => at.fired().map(({ scheduledFor }) => scheduledFor);

describe('a schedule of a tenant', () => {
  it('opens a thread at each of its times, and says which time it is', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z');
    await at.pass(30 * minute);
    expect(at.fired()).toEqual([]);
    await at.pass(30 * minute);
    expect(at.fired()).toMatchObject([
      { text: 'daily for 2026-11-27T09:00:00.000Z', scheduledFor: '2026-11-27T09:00:00.000Z', missed: 0 },
    ]);
    await at.pass(day);
    expect(times(at)).toEqual(['2026-11-27T09:00:00.000Z', '2026-11-28T09:00:00.000Z']);
    expect(new Set(at.fired().map(({ thread }) => thread)).size).toBe(2);
    const { nextAt, fired, skipped, firing, lastScheduledFor } = await at.schedule();
    expect({ fired, skipped, firing }).toEqual({ fired: 2, skipped: 0, firing: null });
    expect(new Date(nextAt ?? 0).toISOString()).toBe('2026-11-29T09:00:00.000Z');
    expect(new Date(lastScheduledFor ?? 0).toISOString()).toBe('2026-11-28T09:00:00.000Z');
  });

  it('wakes the thread of its external id', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z', { externalId: 'desk' });
    for (let nth = 0; nth < 3; nth++) await at.pass(day);
    expect(times(at)).toHaveLength(3);
    expect(new Set(at.fired().map(({ thread }) => thread)).size).toBe(1);
  });

  it('(F1, F2) fires once in five processes', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z', {}, 5);
    for (let nth = 0; nth < 3; nth++) await at.pass(day);
    expect(times(at)).toEqual(['27', '28', '29'].map((date) => `2026-11-${date}T09:00:00.000Z`));
    expect(await at.schedule()).toMatchObject({ fired: 3, skipped: 0 });
  });

  it('(F2) brings the message of a firing whose process has died, once', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z', {}, 0);
    const seen = await at.schedule();
    const scheduledFor = seen.nextAt ?? 0;
    const nextAt = scheduledFor + day;
    await at.ports.schedules.replace({ ...seen, nextAt, firing: { scheduledFor, missed: 0 } }, seen);
    await at.start();
    await at.start();
    await at.pass(hour);
    expect(times(at)).toEqual(['2026-11-27T09:00:00.000Z']);
    expect(await at.schedule()).toMatchObject({ firing: null, fired: 1, nextAt });
  });

  it('(F2) brings it once, also where that process has brought it and not said so, an hour before', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z', {}, 0);
    await at.start({
      replace: (next, seen) =>
        next.fired > 0 ? Promise.reject(new Fault('UNAVAILABLE', 'away')) : at.ports.schedules.replace(next, seen),
    });
    await at.pass(hour);
    expect([times(at).length, (await at.schedule()).fired]).toEqual([1, 0]);
    await Promise.all(running.splice(0).map((service) => service.stop(0)));
    await at.start();
    await at.pass(hour);
    expect(times(at)).toEqual(['2026-11-27T09:00:00.000Z']);
    expect(await at.schedule()).toMatchObject({ firing: null, fired: 1 });
  });

  it('(F3) leads to one late message after a jump over many times, which says how many were missed', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z');
    await at.pass(10 * day + 2 * hour);
    expect(at.fired()).toMatchObject([{ scheduledFor: '2026-12-07T09:00:00.000Z', missed: 10 }]);
    expect(await at.schedule()).toMatchObject({ fired: 1, skipped: 10 });
    await at.pass(day);
    expect(times(at)).toEqual(['2026-12-07T09:00:00.000Z', '2026-12-08T09:00:00.000Z']);
  });

  it('(F3) that skips what it missed leads to nothing then, and counts it', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z', { missed: 'skip' });
    await at.pass(10 * day + 2 * hour);
    expect(at.fired()).toEqual([]);
    expect(await at.schedule()).toMatchObject({ fired: 0, skipped: 11, lastFiredAt: null });
    await at.pass(23 * hour);
    expect(times(at)).toEqual(['2026-12-08T09:00:00.000Z']);
  });

  it('(F4) fires nothing again when the clock goes back', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z');
    await at.pass(2 * hour);
    await at.pass(-5 * hour);
    await at.pass(5 * hour);
    expect(times(at)).toEqual(['2026-11-27T09:00:00.000Z']);
    await at.pass(day);
    expect(times(at)).toHaveLength(2);
  });

  it('fires once a day over the hour that does not exist and the hour that comes twice', async () => {
    for (const [from, days] of [
      ['2027-03-26T12:00:00Z', 4],
      ['2026-10-23T12:00:00Z', 4],
    ] as const) {
      const at = await clockwork(from, { cron: '30 2 * * *', timeZone: 'Europe/Vienna' });
      for (let nth = 0; nth < days * 24; nth++) await at.pass(hour);
      expect(times(at), from).toHaveLength(days);
      expect(new Set(times(at).map((time) => time.slice(0, 10))).size).toBe(days);
      expect(await at.schedule()).toMatchObject({ fired: days, skipped: 0 });
    }
  });

  it('(F5) of a suspended tenant fires late, when it is resumed', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z');
    const suspended = { ...newTenant(tenant, 0), state: 'suspended' } as const;
    await at.ports.tenants.insert(suspended);
    await at.pass(3 * hour);
    expect(at.fired()).toEqual([]);
    expect((await at.ports.schedules.due(at.clock.now(), 10)).length).toBe(0);
    await at.ports.tenants.replace({ ...suspended, state: 'active' }, suspended);
    await at.pass(minute);
    expect(at.fired()).toMatchObject([{ scheduledFor: '2026-11-27T09:00:00.000Z', missed: 0 }]);
  });

  it('(F6) fires at its time, however many schedules of another tenant are due', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z');
    const loud = await at.schedule();
    for (let nth = 0; nth < 1_000; nth += 1)
      await at.ports.schedules.insert({
        ...loud,
        ...{ tenant: tenantId('loud'), id: `sch_${nth}`, name: `loud-${nth}`, lookAt: at.clock.now() },
        agent: 'none', // each of them is refused, and stays due for a minute
      });
    await at.pass(hour);
    expect(times(at)).toEqual(['2026-11-27T09:00:00.000Z']);
  });

  it('(F7) fires in its minute with five hundred others of the same second, of which each takes 250 ms', async () => {
    const { ports } = ingressRig();
    const clock = createManualClock(Date.parse('2026-11-27T08:59:59.500Z'));
    const nextAt = Date.parse('2026-11-27T09:00:00Z');
    const schedule = { ...daily, missed: 'skip', nextAt, lookAt: nextAt, createdAt: 0, fired: 0, skipped: 0 } as const;
    for (let nth = 0; nth < 500; nth += 1)
      await ports.schedules.insert({
        ...{ ...schedule, tenant: tenantId(`tenant-${nth % 10}`), id: `sch_${nth}`, name: `daily-${nth}` },
        ...{ firing: null, lastFiredAt: null, lastScheduledFor: null },
      });
    const records = createTenantRecords({ tenants: ports.tenants, clock });
    const deliver = async () => {
      await clock.sleep(250);
      return { ok: true, value: { id: 'msg_1', threadId: 'thr_1', isFirst: true } } as const;
    };
    const service = createScheduler({ schedules: ports.schedules, records, deliver, clock, logger: silent });
    running.push(service);
    await service.start();
    await clock.advance(minute);
    const pages = await Promise.all(
      Array.from({ length: 10 }, (_, nth) =>
        ports.schedules.list(tenantId(`tenant-${nth}`), { limit: 200, cursor: null }),
      ),
    );
    const all = pages.flatMap(({ data }) => data);
    await clock.advance(5 * minute); // a service ends with its look
    expect([all.length, all.filter(({ fired }) => fired === 1).length]).toEqual([500, 500]);
    await service.stop(0);
  });

  it('keeps its firing while its agent is missing', async () => {
    const at = await clockwork('2026-11-27T08:00:00Z');
    await at.ports.agents.remove(tenant, 'helper');
    await at.pass(2 * hour);
    expect(await at.schedule()).toMatchObject({ fired: 0, firing: { missed: 0 } });
    const content = { instructions: '', model, toolServers: [], policies: defaultPolicies, limits: defaultLimits };
    await at.ingress.agents.create(tenant, 'helper', content);
    await at.pass(2 * minute);
    expect(times(at)).toEqual(['2026-11-27T09:00:00.000Z']);
  });
});

describe('a new schedule', () => {
  it('(P1, P2) is made once, of what can fire', async () => {
    const { ingress } = await clockwork('2026-11-27T08:00:00Z', {}, 0);
    expect(await ingress.schedules.create(tenant, daily)).toMatchObject({ value: { created: false } });
    expect(await ingress.schedules.create(tenant, { ...daily, message: 'other' })).toMatchObject({
      refusal: { code: 'ALREADY_EXISTS' },
    });
    for (const [change, pointer] of [
      [{ cron: 'never' }, '/cron'],
      [{ cron: '0 0 30 2 *' }, '/cron'],
      [{ cron: '*/5 * * * * *' }, '/cron'],
      [{ timeZone: 'Mars/Olympus' }, '/time_zone'],
      [{ agent: 'none' }, '/agent'],
      [{ message: '{{/~}}' }, '/message'],
    ] as const)
      expect(await ingress.schedules.create(tenant, { ...daily, name: 'wrong', ...change })).toMatchObject({
        refusal: { errors: [{ pointer }] },
      });
    expect(await ingress.agents.remove(tenant, 'helper')).toMatchObject({ refusal: { code: 'AGENT_IN_USE' } });
    expect((await ingress.schedules.remove(tenant, 'daily')).ok).toBe(true);
    expect((await ingress.agents.remove(tenant, 'helper')).ok).toBe(true);
    expect(await ingress.schedules.remove(tenant, 'daily')).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
  });
});
