import { plainSealer } from '@dormouse/adapter-memory';
import { type InputDelivery, newTenant, type Source, tenantId } from '@dormouse/ports';
import { defaultLimits, defaultPolicies } from '@dormouse/thread';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ingressRig, type IngressRig } from '../ingress-gateway/spec/ingress-rig.ts';
import type { Ingress } from '../ingress-gateway/ingress.ts';
import { schedulesMax } from './schedule-api.ts';
import { sourcesMax } from './source-api.ts';

const tenant = tenantId('acme');
const secret = 'a secret';
const model = {
  ...{ provider: 'demo', name: '', baseUrl: null, apiKeySecret: null, contextWindowTokens: 1_000 },
  ...{ outputTokensMax: null, images: false, parameters: {} },
};

interface Door extends IngressRig {
  readonly ingress: Ingress;
  readonly source: Source;
  readonly arrived: readonly InputDelivery[];
  /** As its sender delivers it; resolves with the answer. */
  deliver(id: string, body: unknown, changes?: { readonly signature?: string }): Promise<Delivered>;
  /** Inputs that are messages, one for each id: the log takes an input once. */
  messages(): ReadonlyMap<string, { readonly thread: string; readonly input: InputDelivery['input'] }>;
}

type Delivered = Awaited<ReturnType<Ingress['hooks']['receive']>>;

async function door(key = '/issue/id'): Promise<Door> {
  const at = ingressRig();
  const ingress = at.ingressWith({
    sealer: plainSealer,
    hooks: {
      publicBase: 'https://agents.example/',
      wallNow: () => Date.now(),
      logger: { info: () => {}, warn: () => {}, error: () => {} },
    },
  });
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
  await ingress.secrets.put(tenant, 'hook', secret, null);
  const wanted = { name: 'issues', kind: 'github', secret: 'hook', agent: 'helper', key, message: '{{/issue/title}}' };
  const made = await ingress.sources.create(tenant, { ...wanted, kind: 'github' });
  if (!made.ok) throw new Error(made.refusal.detail);
  const [source, token] = made.value.source.url.split('/').slice(-2) as [string, string];
  const found = await ingress.hooks.find(source, token);
  if (!found.ok) throw new Error(found.refusal.detail);
  return {
    ...at,
    ingress,
    source: found.value,
    arrived,
    deliver: (id, body, { signature } = {}) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const signed = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
      const headers = { 'x-github-delivery': id, 'x-hub-signature-256': signature ?? signed };
      return ingress.hooks.receive(found.value, { headers, body: Buffer.from(text) });
    },
    messages: () =>
      new Map(
        arrived
          .filter(({ input }) => input.kind === 'UserMessage')
          .map(({ thread, input }) => [`${thread} ${input.id}`, { thread, input }]),
      ),
  };
}

const threadsOf = async ({ ports }: IngressRig) =>
  (await ports.directory.list(tenant, {}, { limit: 200, cursor: null })).data;

const about = (id: unknown, title = 'broken') => ({ issue: { id, title } });

describe('a delivery', () => {
  it('opens a thread under its key, and says which source it is from', async () => {
    const at = await door();
    const answer = await at.deliver('d-1', about(7));
    expect(answer).toMatchObject({ ok: true, value: { isFirst: true } });
    const [row, ...others] = await threadsOf(at);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ agent: 'helper', externalId: '7' });
    const [message] = [...at.messages().values()];
    expect(message).toMatchObject({
      thread: row?.thread,
      input: { content: [{ type: 'text', text: 'broken' }], source: { name: 'issues', deliveryId: 'd-1' } },
    });
  });

  it('(D1) a hundred times at once is one message of one thread, and one of the answers is the first', async () => {
    for (const key of ['/issue/id', '/none']) {
      const at = await door(key);
      const answers = await Promise.all(Array.from({ length: 100 }, () => at.deliver('d-1', about(7))));
      const values = answers.flatMap((answer) => (answer.ok && 'isFirst' in answer.value ? [answer.value] : []));
      expect(values).toHaveLength(100);
      expect(values.filter(({ isFirst }) => isFirst)).toHaveLength(1);
      expect(new Set(values.map(({ id, threadId }) => `${id} ${threadId}`)).size).toBe(1);
      expect(at.messages().size).toBe(1);
      expect(await threadsOf(at)).toHaveLength(1);
    }
  });

  it('(D2) and others of its key, at once, are messages of one thread', async () => {
    const at = await door();
    await Promise.all(Array.from({ length: 50 }, (_, nth) => at.deliver(`d-${nth}`, about('one'))));
    expect(await threadsOf(at)).toHaveLength(1);
    expect(at.messages().size).toBe(50);
    expect(new Set([...at.messages().values()].map(({ thread }) => thread)).size).toBe(1);
  });

  it('without a key has a thread of its own', async () => {
    const at = await door();
    await at.deliver('d-1', about(null));
    await at.deliver('d-2', about({ not: 'a key' }));
    await at.deliver('d-1', about(null));
    expect((await threadsOf(at)).map(({ externalId }) => externalId)).toEqual([null, null]);
    expect(at.messages().size).toBe(2);
  });

  it('(D3) wakes no closed thread: another one gets its external id', async () => {
    const at = await door();
    await at.deliver('d-1', about(7));
    const [first] = await threadsOf(at);
    if (first === undefined) throw new Error('no thread');
    await at.commit(first, [{ type: 'ThreadClosed', by: 'req_1' }]); // its row does not know yet
    await at.deliver('d-2', about(7));
    await at.deliver('d-3', about(7));
    const rows = await threadsOf(at);
    expect(new Set(rows.map(({ externalId }) => externalId))).toEqual(new Set(['7', null]));
    expect(rows).toHaveLength(2);
    expect(rows.find(({ externalId }) => externalId === null)?.thread).toBe(first.thread);
    expect([...at.messages().values()].filter(({ thread }) => thread !== first.thread)).toHaveLength(2);
  });

  it('(D1) is not brought to another thread when it comes again after its own was closed', async () => {
    const at = await door();
    await at.deliver('d-1', about(7));
    const [first] = await threadsOf(at);
    if (first === undefined) throw new Error('no thread');
    await at.commit(first, [{ type: 'ThreadClosed', by: 'req_1' }]);
    expect(await at.deliver('d-1', about(7))).toMatchObject({ value: { isFirst: false, threadId: first.thread } });
    expect(await threadsOf(at)).toHaveLength(1);
  });
});

describe('the door', () => {
  it('(K1) finds a source by its name or id with its token, and by nothing else', async () => {
    const at = await door();
    const { sealedToken, id, name } = at.source;
    const token = plainSealer.open({ tenant, name: `source:${id}` }, sealedToken);
    for (const source of [id, name]) expect((await at.ingress.hooks.find(source, token)).ok).toBe(true);
    const wrong = [
      ['other', token],
      [name, `${token}x`],
      [name, token.slice(1)],
      [name, ''],
      [id, at.source.tokenSha256],
    ];
    for (const [source = '', given = ''] of wrong)
      expect(await at.ingress.hooks.find(source, given)).toMatchObject({ ok: false, refusal: { code: 'NOT_FOUND' } });
  });

  it('(K1) reads the store once, whatever is wrong', async () => {
    const at = await door();
    let reads = 0;
    const byToken = (sha: string) => {
      reads += 1;
      return at.ports.sources.byToken(sha);
    };
    const { hooks } = at.ingressWith({ sources: { ...at.ports.sources, byToken } });
    for (const [source, token] of [
      ['issues', 'wrong'],
      ['none', 'wrong'],
      ['', ''],
    ] as const)
      await hooks.find(source, token);
    expect(reads).toBe(3);
  });

  it('(K4) takes what is for a suspended tenant, and knows none that is being deleted', async () => {
    const at = await door();
    const token = plainSealer.open({ tenant, name: `source:${at.source.id}` }, at.source.sealedToken);
    const suspended = { ...newTenant(tenant, 0), state: 'suspended' } as const;
    await at.ports.tenants.insert(suspended);
    expect((await at.ingressWith({}).hooks.find('issues', token)).ok).toBe(true);
    await at.ports.tenants.replace({ ...suspended, state: 'deleting' }, suspended);
    expect((await at.ingressWith({}).hooks.find('issues', token)).ok).toBe(false);
  });

  it('(K2) refuses a bad signature before it reads the body, and a body that is no JSON object', async () => {
    const at = await door();
    const code = async (...given: Parameters<Door['deliver']>): Promise<string> => {
      const answer = await at.deliver(...given);
      return answer.ok ? 'taken' : answer.refusal.code;
    };
    expect(await code('d-1', 'no json', { signature: `sha256=${'0'.repeat(64)}` })).toBe('UNAUTHENTICATED');
    for (const body of ['no json', '[]', '"text"', 'null', '7', '', '{"a":1,"a":2}'])
      expect(await code('d-1', body)).toBe('INVALID_JSON');
    expect(await code('', about(7))).toBe('INVALID_BODY');
    expect(await code('x'.repeat(501), about(7))).toBe('INVALID_BODY');
    expect(at.arrived).toEqual([]);
    expect(await threadsOf(at)).toEqual([]);
  });
});

describe('a source', () => {
  it('(O1, O2) is made once, of what can bring something', async () => {
    const { ingress } = await door();
    const good = { name: 'a', kind: 'github', secret: 'hook', agent: 'helper', key: '/id', message: 'x' } as const;
    const made = await ingress.sources.create(tenant, good);
    const again = await ingress.sources.create(tenant, good);
    expect([made, again]).toMatchObject([{ value: { created: true } }, { value: { created: false } }]);
    expect(made.ok && again.ok && made.value.source.url === again.value.source.url).toBe(true);
    expect(await ingress.sources.create(tenant, { ...good, key: '/other' })).toMatchObject({
      refusal: { code: 'ALREADY_EXISTS' },
    });
    const wrong = { ...good, name: 'b', secret: 'none', agent: 'nobody-here', key: 'id', message: '{{/~}}' };
    expect(await ingress.sources.create(tenant, wrong)).toMatchObject({
      refusal: { errors: ['/secret', '/agent', '/key', '/message'].map((pointer) => ({ pointer })) },
    });
    expect(await ingress.sources.create(tenant, { ...good, name: 'b', kind: 'standard' })).toMatchObject({
      refusal: { errors: [{ pointer: '/secret' }] },
    });
    expect((await ingress.sources.list(tenant, { limit: 10, cursor: null })).data.map(({ name }) => name)).toEqual([
      ...['a', 'issues'],
    ]);
  });

  it('keeps its secret and its agent from being deleted, until it is deleted itself', async () => {
    const { ingress } = await door();
    expect(await ingress.secrets.remove(tenant, 'hook')).toMatchObject({ refusal: { code: 'SECRET_IN_USE' } });
    expect(await ingress.agents.remove(tenant, 'helper')).toMatchObject({ refusal: { code: 'AGENT_IN_USE' } });
    expect((await ingress.sources.remove(tenant, 'issues')).ok).toBe(true);
    expect((await ingress.secrets.remove(tenant, 'hook')).ok).toBe(true);
    expect((await ingress.agents.remove(tenant, 'helper')).ok).toBe(true);
    expect(await ingress.sources.remove(tenant, 'issues')).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
  });
});

describe('what a tenant may have', () => {
  it('(O4) is a number of sources: one more is refused, one that is there is shown', async () => {
    const { ingress, ports, source } = await door();
    for (let nth = 1; nth < sourcesMax; nth += 1)
      await ports.sources.insert({ ...source, id: `src_${nth}`, name: `s-${nth}`, tokenSha256: `sha-${nth}` });
    const wanted = { ...wantedOf(source), name: 'one-more' };
    expect(await ingress.sources.create(tenant, wanted)).toMatchObject({ refusal: { code: 'TOO_MANY_SOURCES' } });
    expect(await ingress.sources.create(tenant, wantedOf(source))).toMatchObject({ value: { created: false } });
    await ingress.sources.remove(tenant, 's-1');
    expect(await ingress.sources.create(tenant, wanted)).toMatchObject({ value: { created: true } });
  });

  it('(P3) is a number of schedules', async () => {
    const { ingress, ports } = await door();
    const wanted = {
      ...{ name: 'daily', cron: '0 9 * * *', timeZone: 'UTC', agent: 'helper', message: 'x', externalId: null },
      missed: 'once',
    } as const;
    expect(await ingress.schedules.create(tenant, wanted)).toMatchObject({ value: { created: true } });
    const stored = await ports.schedules.get(tenant, 'daily');
    if (stored === null) throw new Error('it is not there');
    for (let nth = 1; nth < schedulesMax; nth += 1)
      await ports.schedules.insert({ ...stored, id: `sch_${nth}`, name: `s-${nth}` });
    const more = { ...wanted, name: 'one-more' };
    expect(await ingress.schedules.create(tenant, more)).toMatchObject({ refusal: { code: 'TOO_MANY_SCHEDULES' } });
    expect(await ingress.schedules.create(tenant, wanted)).toMatchObject({ value: { created: false } });
  });
});

const wantedOf = ({ name, kind, secret: of, agent, key, message }: Source) => ({
  ...{ name, kind, secret: of, agent, key, message },
});
