import { defaultLimits, defaultPolicies } from '@dormouse/thread';
import { settle } from '@dormouse/adapter-memory';
import { tenantId, type InputDelivery } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { createInputSweeper } from './input-sweeper.ts';
import { key, ingressRig, type IngressRig } from '../spec/ingress-rig.ts';
import type { NewThread } from './threads.ts';

const wanted: NewThread = {
  agent: 'helper',
  agentVersion: null,
  userId: null,
  title: 'Hello',
  externalId: null,
  ifExists: null,
  metadata: {},
  message: null,
};
const model = {
  provider: 'demo',
  name: '',
  baseUrl: null,
  apiKeySecret: null,
  contextWindowTokens: 1_000,
  outputTokensMax: null,
  images: false,
  parameters: {},
};
const keyed = { tenant: key.tenant, method: 'POST', path: '/v1/threads', idempotencyKey: 'k' };

/** A consumer that records what arrives and reports it as decided. */
async function consumed(at: IngressRig): Promise<InputDelivery[]> {
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
  await at.ingress.agents.create(key.tenant, 'helper', content);
  return arrived;
}

describe('opening a thread', () => {
  it('stores the row first, and then produces one opening with everything the thread will live with', async () => {
    const at = ingressRig();
    const arrived = await consumed(at);
    const opened = await at.ingress.threads.open(
      key.tenant,
      { ...wanted, message: [{ type: 'text', text: 'hi' }] },
      keyed,
    );
    expect(opened).toMatchObject({ ok: true, value: { created: true, thread: { title: 'Hello', status: 'opening' } } });
    expect(arrived.map(({ input }) => input)).toMatchObject([
      {
        kind: 'ThreadOpening',
        agent: { name: 'helper', version: 1, model: 'demo' },
        message: { content: [{ text: 'hi' }] },
      },
    ]);
  });

  it('opens the same thread when the same request comes again', async () => {
    const at = ingressRig();
    const arrived = await consumed(at);
    const first = await at.ingress.threads.open(key.tenant, wanted, keyed);
    const second = await at.ingress.threads.open(key.tenant, wanted, keyed);
    expect(second).toEqual(first);
    expect(new Set(arrived.map(({ input }) => input.id)).size).toBe(1);
  });

  it('opens what was left in opening, by the next request or by the sweeper', async () => {
    const at = ingressRig();
    const arrived = await consumed(at);
    const row = {
      tenant: key.tenant,
      thread: 'thr_lost',
      status: 'opening',
      agent: 'helper',
      agentVersion: 1,
      parent: null,
      family: 'thr_lost',
      userId: null,
      externalId: null,
      title: null,
      metadata: {},
      createdAt: at.clock.now(),
      updatedAt: at.clock.now(),
      position: 0,
    } as const;
    const opening = {
      kind: 'ThreadOpening',
      id: 'open:thr_lost',
      agent: {
        name: 'helper',
        version: 1,
        model: 'demo',
        toolServers: [],
        policies: defaultPolicies,
        limits: defaultLimits,
      },
      userId: null,
      title: null,
      message: null,
    } as const;
    await at.ports.directory.insert({ ...row, opening });
    await at.ingress.requests.post(
      { tenant: key.tenant, thread: 'thr_lost' },
      { ask: 'retry' },
      { ...keyed, path: '/retry' },
    );
    expect(arrived.map(({ input }) => input.kind)).toEqual(['ThreadOpening', 'RetryRequest']);

    const sweeper = createInputSweeper({
      directory: at.ports.directory,
      parked: at.ports.parked,
      bus: at.ports.inputs,
      clock: at.clock,
      failed: (fault) => expect(fault).toBeNull(),
    });
    await sweeper.start();
    await at.clock.advance(60_000);
    await sweeper.stop(0);
    await settle();
    expect(arrived.map(({ input }) => input.id)).toContain('open:thr_lost');
    expect(arrived.length).toBeGreaterThan(2);
  });

  it('publishes nothing for a thread that does not exist, or that is another tenant’s', async () => {
    const at = ingressRig();
    const arrived = await consumed(at);
    const opened = await at.ingress.threads.open(key.tenant, wanted, keyed);
    const thread = opened.ok ? opened.value.thread.id : '';
    for (const each of [
      { tenant: key.tenant, thread: 'thr_none' },
      { tenant: tenantId('other'), thread },
    ]) {
      expect(await at.ingress.messages.post(each, [{ type: 'text', text: 'x' }], keyed)).toMatchObject({
        refusal: { code: 'NOT_FOUND' },
      });
    }
    expect(arrived).toHaveLength(1);
  });
});

describe('a thread whose model is asked again', () => {
  it('says so in last_error and problems, until the completion is over', async () => {
    const at = ingressRig();
    await consumed(at);
    const opened = await at.ingress.threads.open(key.tenant, wanted, keyed);
    if (!opened.ok) throw new Error('it was not opened');
    const own = { tenant: key.tenant, thread: opened.value.thread.id };
    await at.commit(own, [{ type: 'CompletionRequested', completionId: 'cmp_1', model: 'm' }]);
    const retrying = {
      ...{ completionId: 'cmp_1', attempt: 2, code: 'MODEL_FAILED', detail: 'connect ECONNREFUSED' },
      ...{ host: 'models.example', nextAt: 3_000, failedAt: 2_000, since: 1_000 },
    };
    at.ports.feed.publish(own, { hint: 'retrying', retrying });
    await settle();
    const view = async (position?: number): Promise<unknown> => at.ingress.threads.get(own, position);
    expect(await view()).toMatchObject({
      value: {
        lastError: { code: 'MODEL_FAILED', detail: 'connect ECONNREFUSED', at: 2_000 },
        problems: [
          {
            code: 'MODEL_RETRYING',
            detail:
              'MODEL_FAILED at models.example: connect ECONNREFUSED; attempt 2 failed, the next one is due 1970-01-01T00:00:03.000Z',
            since: 1_000,
          },
        ],
      },
    });
    expect(await view(1)).toMatchObject({ value: { lastError: null, problems: [] } });
    const over = { type: 'CompletionRequested', completionId: 'cmp_2', model: 'm' } as const;
    await at.commit(own, [over], ['c:cmp_2']);
    expect(await view()).toMatchObject({ value: { lastError: null, problems: [] } });
  });
});
