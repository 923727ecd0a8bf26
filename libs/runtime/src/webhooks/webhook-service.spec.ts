import {
  createManualClock,
  createMemoryWorld,
  createSeededEntropy,
  type Gate,
  type MemoryPorts,
  plainSealer,
  seededFraction,
} from '@dormouse/adapter-memory';
import {
  Fault,
  type ThreadKey,
  type WebhookDeliveries,
  type WebhookOutcome,
  type WebhookRequest,
  tenantId,
  type TenantId,
} from '@dormouse/ports';
import type { RecordedEvent, ThreadEvent } from '@dormouse/thread';
import { expect, it } from 'vitest';
import { createAuditor } from '../audit/auditor.ts';
import { createWebhookApi } from '../ingress-gateway/hooks/webhooks.ts';
import { sealCommit } from '../log/envelope.ts';
import type { Service } from '../service.ts';
import { createWebhookService } from './webhook-service.ts';

const logger = { info: () => {}, warn: () => {}, error: () => {} };
const tenant = tenantId('acme');
const exceeded: ThreadEvent = { type: 'BudgetExceeded', budget: 'completions_per_wake', used: 2, limit: 1 };

/** A world in which processes named `notifier…` die at any of their operations, before or after it. */
function createRig(seed: number, deathRate: number) {
  const random = seededFraction(seed);
  const clock = createManualClock();
  const entropy = createSeededEntropy(seed);
  const dead = new Set<string>();
  /** How often the processes have done what at the stores. */
  const done = new Map<string, number>();
  const died = (node: string): never => {
    dead.add(node);
    throw new Fault('UNAVAILABLE', 'this process has ended');
  };
  const gate: Gate = {
    pass: async (node, { name }, apply) => {
      if (dead.has(node)) return died(node);
      if (node.startsWith('notifier')) done.set(name, (done.get(name) ?? 0) + 1);
      const dies = node.startsWith('notifier') && random() < deathRate;
      if (dies && random() < 0.5) return died(node);
      const answer = apply();
      return dies ? died(node) : answer;
    },
  };
  const world = createMemoryWorld({ clock, gate });
  const ingress = world.ports('ingress');
  const received: WebhookRequest[] = [];
  let answering = (_request: WebhookRequest): Promise<WebhookOutcome> =>
    Promise.resolve({ answered: true, status: 200, aborts: false });
  const transport = {
    post: (request: WebhookRequest) => {
      received.push(request);
      return answering(request);
    },
    judge: (url: string, tenant: TenantId) => ingress.webhookTransport.judge(url, tenant),
  };
  const api = createWebhookApi({ ...ingress, webhookTransport: transport, sealer: plainSealer, clock, entropy });
  let lives = 0;

  async function start(
    late: Partial<WebhookDeliveries> = {},
  ): Promise<{ readonly node: string; readonly service: Service }> {
    const node = `notifier-${(lives += 1)}`;
    const ports: MemoryPorts = world.ports(node);
    const service = createWebhookService({
      ...ports,
      webhookDeliveries: { ...ports.webhookDeliveries, ...late },
      ...{ webhookTransport: transport, sealer: plainSealer, clock, entropy, logger },
      audit: createAuditor({ ...ports, clock }),
    });
    await service.start();
    return { node, service };
  }

  async function commit(key: ThreadKey, ...events: readonly ThreadEvent[]): Promise<void> {
    const head = await ingress.log.head(key);
    const version = head === null ? 0 : head.version + head.count;
    const sealed = sealCommit({
      ...{ key, version, inputs: [`i:${entropy.nonce()}`], at: clock.now(), nonce: entropy.nonce(), trace: null },
      prev: head?.hash ?? '',
      events: events.map((event): RecordedEvent => ({
        ...event,
        turnId: 'msg_1',
        cause: { kind: 'operator', id: 'x' },
      })),
      effects: [],
    });
    expect(await ingress.log.append([{ commit: sealed, owes: false }])).toEqual(['appended']);
  }

  return {
    ...{ random, clock, dead, done, ingress, received, api, start, commit },
    answers: (next: typeof answering) => {
      answering = next;
    },
  };
}

it('W1 tells each commit once to each endpoint, though processes die anywhere and others take over', async () => {
  let deaths = 0;
  for (let seed = 1; seed <= 12; seed += 1) {
    const rig = createRig(seed, 0.02);
    const { clock, random, api, received, ingress, dead } = rig;
    const made = await Promise.all(
      [1, 2, 3].map((nth) =>
        api.create(tenant, { url: `https://${nth}.example`, events: ['budget.exceeded'], filter: null }),
      ),
    );
    expect(made.every(({ ok }) => ok)).toBe(true);
    let living = [await rig.start(), await rig.start()];
    const replaceDead = async (): Promise<void> => {
      for (const { node, service } of living) if (dead.has(node)) await service.stop(0);
      living = living.filter(({ node }) => !dead.has(node));
      while (living.length < 2) living.push(await rig.start());
    };
    const commits = 30;
    for (let nth = 0; nth < commits; nth += 1) {
      await rig.commit({ tenant, thread: `thr_${Math.floor(random() * 4)}` }, exceeded);
      await clock.advance(Math.floor(random() * 1_500));
      await replaceDead();
    }
    const stored = async () =>
      (
        await Promise.all(
          (await ingress.webhooks.list(tenant, { limit: 9, cursor: null })).data.map(({ id }) =>
            ingress.webhookDeliveries.list(tenant, id, { limit: 200, cursor: null }),
          ),
        )
      ).flatMap(({ data }) => data);
    for (let looks = 0; looks < 200; looks += 1) {
      const all = await stored();
      if (all.length === commits * 3 && all.every(({ state }) => state === 'delivered')) break;
      await clock.advance(2_000);
      await replaceDead();
    }
    const all = await stored();
    expect(all.map(({ state }) => state)).toEqual(Array.from({ length: commits * 3 }, () => 'delivered'));
    expect(new Set(received.map(({ id, url, body }) => `${id} ${url} ${body}`)).size).toBe(commits * 3);
    expect(new Set(received.map(({ id }) => id)).size).toBe(commits * 3);
    for (const { service } of living) await service.stop(0);
    deaths += dead.size;
  }
  expect(deaths).toBeGreaterThan(12);
});

it('A3 disables an endpoint that answers 410, and sends it nothing more', async () => {
  const rig = createRig(1, 0);
  const { api, clock, received, ingress } = rig;
  rig.answers(() => Promise.resolve({ answered: true, status: 410, aborts: false }));
  const made = await api.create(tenant, { url: 'https://one.example', events: ['budget.exceeded'], filter: null });
  if (!made.ok) throw new Error('refused');
  const { service } = await rig.start();
  await rig.commit({ tenant, thread: 'thr_1' }, exceeded);
  await clock.advance(3_000);
  await rig.commit({ tenant, thread: 'thr_1' }, exceeded);
  await clock.advance(60_000);
  expect(received).toHaveLength(1);
  expect(await ingress.webhooks.get(tenant, made.value.id)).toMatchObject({ state: 'disabled' });
  expect((await ingress.auditLog.last(tenant))?.action).toBe('webhook.disabled');
  await service.stop(0);
});

it('A3 does not fail since a success, also one whose attempt had begun before the failure', async () => {
  const rig = createRig(4, 0);
  const { api, clock, ingress } = rig;
  const ends: ((outcome: WebhookOutcome) => void)[] = [];
  rig.answers(() => new Promise((resolve) => ends.push(resolve)));
  const made = await api.create(tenant, { url: 'https://one.example', events: ['budget.exceeded'], filter: null });
  if (!made.ok) throw new Error('refused');
  const { service } = await rig.start();
  for (const thread of ['thr_1', 'thr_2']) await rig.commit({ tenant, thread }, exceeded);
  await clock.advance(3_000);
  const [first, second] = ends;
  const failingSince = async () => (await ingress.webhooks.get(tenant, made.value.id))?.failingSince;
  first?.({ answered: true, status: 500, aborts: false });
  await clock.advance(100);
  expect(await failingSince()).toEqual(expect.any(Number));
  second?.({ answered: true, status: 200, aborts: false });
  await clock.advance(100);
  expect(await failingSince()).toBeNull();
  await service.stop(0);
});

it('A3 counts nothing against an endpoint while the rules of its tenant cannot be read, and sends once they can', async () => {
  const rig = createRig(3, 0);
  const { clock, received, api } = rig;
  const made = await api.create(tenant, { url: 'https://one.example', events: ['budget.exceeded'], filter: null });
  if (!made.ok) throw new Error('not made');
  const { id } = made.value;
  rig.answers(() => Promise.reject(new Fault('UNAVAILABLE', 'the store is away')));
  const { service } = await rig.start();
  await rig.commit({ tenant, thread: 'thr_1' }, exceeded);
  await clock.advance(60_000);
  expect(received.length).toBeGreaterThan(10); // more often than a delivery is tried
  rig.answers(() => Promise.resolve({ answered: true, status: 200, aborts: false }));
  await clock.advance(5_000);
  const [delivery] = (await rig.ingress.webhookDeliveries.list(tenant, id, { limit: 10, cursor: null })).data;
  expect(delivery).toMatchObject({ state: 'delivered', tries: 1 });
  expect(await rig.ingress.webhooks.get(tenant, id)).toMatchObject({ state: 'active', failingSince: null });
  await service.stop(0);
});

it('D2 sends to others while one endpoint has more that hangs than it has places', async () => {
  const rig = createRig(2, 0);
  const { api, clock, received } = rig;
  rig.answers(({ url }) =>
    url.includes('slow')
      ? new Promise((resolve) => void clock.sleep(15_000).then(() => resolve({ answered: false, code: 'TIMEOUT' })))
      : Promise.resolve({ answered: true, status: 200, aborts: false }),
  );
  const slow = await api.create(tenant, { url: 'https://slow.example', events: ['thread.closed'], filter: null });
  await api.create(tenant, { url: 'https://quick.example', events: ['budget.exceeded'], filter: null });
  if (!slow.ok) throw new Error('refused');
  for (let nth = 0; nth < 40; nth += 1) await api.test(tenant, slow.value.id);
  const { service } = await rig.start();
  await clock.advance(2_000);
  const sent = (name: string): number => received.filter(({ url }) => url.includes(name)).length;
  expect(sent('slow')).toBe(4);
  for (let nth = 0; nth < 20; nth += 1) await rig.commit({ tenant, thread: `thr_${nth}` }, exceeded);
  await clock.advance(3_000);
  expect([sent('slow'), sent('quick')]).toEqual([4, 20]);
  await clock.advance(15_000); // the first four have failed: one at a time from now on
  expect(sent('slow')).toBe(5);
  const stopping = service.stop(0);
  await clock.advance(20_000);
  await stopping;
});

it('tells a tenant whose last endpoint is gone nothing, and lets its reader go', async () => {
  const rig = createRig(3, 0);
  const { api, clock, received, ingress } = rig;
  const made = await api.create(tenant, { url: 'https://one.example', events: ['budget.exceeded'], filter: null });
  if (!made.ok) throw new Error('refused');
  const { service } = await rig.start();
  await clock.advance(1_000);
  await api.remove(tenant, made.value.id);
  await clock.advance(5_000);
  expect(await ingress.webhookReaders.get(tenant)).toBeNull();
  await rig.commit({ tenant, thread: 'thr_1' }, exceeded);
  await api.create(tenant, { url: 'https://two.example', events: ['budget.exceeded'], filter: null });
  await clock.advance(5);
  await rig.commit({ tenant, thread: 'thr_1' }, exceeded);
  await clock.advance(5_000);
  expect(received.map(({ url, body }) => [url, JSON.parse(body).data.position])).toEqual([['https://two.example', 2]]);
  await service.stop(0);
});

it('D5 sends a delivery once that ends while the store is asked what is due', async () => {
  const rig = createRig(4, 0);
  const { api, clock, received, ingress } = rig;
  const made = await api.create(tenant, { url: 'https://one.example', events: ['budget.exceeded'], filter: null });
  if (!made.ok) throw new Error('refused');
  const delays = createSeededEntropy(9);
  rig.answers(async () => {
    await clock.sleep(Math.floor(delays.fraction() * 40));
    return { answered: true, status: 200, aborts: false };
  });
  const { service } = await rig.start({
    // A store whose answers are late: what they say was true when it was asked.
    due: async (...asked) => {
      const found = await ingress.webhookDeliveries.due(...asked);
      await clock.sleep(Math.floor(delays.fraction() * 40));
      return found;
    },
  });
  for (let nth = 0; nth < 40; nth += 1) {
    await rig.commit({ tenant, thread: `thr_${nth}` }, exceeded);
    await clock.advance(100);
  }
  await clock.advance(30_000);
  expect(received).toHaveLength(40);
  expect(new Set(received.map(({ id }) => id)).size).toBe(40);
  await service.stop(0);
});

it('W5 asks the stores less than 150 times per second for 2 000 quiet tenants, and tells what comes within seconds', async () => {
  const { clock, done, api, received, start, commit } = createRig(1, 0);
  const tenants = Array.from({ length: 2_000 }, (_, nth) => `tenant-${nth}`);
  for (const each of tenants)
    await api.create(tenantId(each), { url: `https://${each}.example`, events: ['budget.exceeded'], filter: null });
  const { service } = await start();
  const pass = async (seconds: number): Promise<void> => {
    for (let half = 0; half < seconds * 2; half += 1) await clock.advance(500);
  };
  await pass(30);
  done.clear();
  await pass(60);
  const count = [...done.values()].reduce((sum, each) => sum + each, 0);
  expect(count / 60, JSON.stringify([...done])).toBeLessThan(150);
  await commit({ tenant: tenantId('tenant-1234'), thread: 'thr_1' }, exceeded);
  await commit({ tenant: tenantId('tenant-7'), thread: 'thr_1' }, exceeded);
  await pass(3);
  expect(received.map(({ url }) => url).toSorted()).toEqual([
    'https://tenant-1234.example',
    'https://tenant-7.example',
  ]);
  await service.stop(0);
});
