// Tenant B sends every operation of the API with what belongs to tenant A: ids, names, cursors, positions of streams,
// hashes of blobs, idempotency keys; and what A's links, tools and sources have sent is sent again. An operation of the
// OpenAPI document that has no entry here fails the first test.
import { allOperations, examples } from '@dormouse/host';
import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, type System, untilEvent, untilStatus } from './conversation.ts';
import { driveToolServer, type DrivenToolServer, toolCall } from './driven-tool-server.ts';
import { openStreamOf } from './event-stream.ts';
import type { Answer, Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';
import { platformKey, tenantOf } from '../isolation/tenant-system.ts';

/**
 * `absent`: not found, as if it were nowhere, or forbidden. `own`: it is about what the caller has; whatever it
 * answers, nothing of another tenant is in it. `platform`, `installation`: no key of a customer is good for it. Else
 * the reason why it is not sent.
 */
type Entry = 'absent' | 'own' | 'platform' | 'installation' | { readonly notSent: string };

const table: Readonly<Record<string, Entry>> = {
  ...of('own', ['createAgent', 'listAgents', 'listModels', 'listSecrets', 'createToolServer', 'listToolServers']),
  ...of('own', ['openThread', 'listThreads', 'listTenantEvents', 'listInbox', 'decideBatch', 'listParked', 'getUsage']),
  ...of('own', [
    'reconcile',
    'createApiKey',
    'listApiKeys',
    'createSessionLink',
    'importBlob',
    'importThread',
    'getSession',
  ]),
  ...of('own', ['aiSdkSend', 'aiSdkResume', 'aiSdkMessages', 'aiSdkStop', 'agUiRun', 'putSecret', 'signOut']),
  ...of('own', ['listAudit', 'exportAudit', 'getAuditKeys', 'batchThreads']),
  ...of('absent', ['patchAgent', 'createErasure', 'getErasure', 'deleteThread']),
  ...of('own', ['listErasures']),
  ...of('absent', ['getAgent', 'getAgentVersion', 'deleteAgent', 'deleteSecret', 'getToolServer', 'patchToolServer']),
  ...of('absent', ['deleteToolServer', 'probeToolServer', 'tryTool', 'pauseToolServer', 'resumeToolServer']),
  ...of('absent', ['getThread', 'patchThread', 'forkThread', 'interruptThread', 'retryThread', 'closeThread']),
  ...of('absent', ['postMessage', 'listMessages', 'listEvents', 'listCommits', 'listToolCalls', 'listTurns']),
  ...of('absent', ['cancelToolCall', 'listSubscriptions', 'cancelSubscription', 'listViews', 'listChildren']),
  ...of('absent', ['refreshToolsets', 'migrateThread', 'listSchedules', 'addSchedule', 'removeSchedule']),
  ...of('absent', [
    'listChoices',
    'answerChoice',
    'answerInboxChoice',
    'createAnswerLink',
    'assignChoice',
    'getBlob',
    'issueThreadToken',
  ]),
  ...of('absent', ['revokeThreadToken', 'getParked', 'replayParked', 'dropParked', 'revokeApiKey', 'rerollApiKey']),
  ...of('own', ['createWebhook', 'listWebhooks']),
  ...of('absent', ['getWebhook', 'patchWebhook', 'deleteWebhook', 'rotateWebhook', 'testWebhook']),
  ...of('absent', ['listDeliveries', 'redeliver', 'recoverWebhook']),
  ...of('own', ['createSource', 'listSources', 'createSchedule', 'listTenantSchedules']),
  ...of('absent', ['deleteSource', 'postEvent', 'deleteSchedule']),
  ...of('absent', ['putUserCredential', 'getUserCredential', 'deleteUserCredential']),
  ...of('own', ['listUserCredentials']),
  ...of('platform', ['createTenant', 'listTenants', 'getTenant', 'patchTenant', 'deleteTenant']),
  signIn: { notSent: 'its key is in its body; another key is another tenant' },
  ...of('installation', ['advanceClock', 'beginBackup', 'getBackup', 'resealSecrets']),
};

function of(entry: Entry, ids: readonly string[]): Readonly<Record<string, Entry>> {
  return Object.fromEntries(ids.map((id) => [id, entry]));
}

const canary = 'canary-of-tenant-a';
const idempotencyKey = 'one-key-of-both';
let at: System;
let a: System;
let b: System;
let tools: DrivenToolServer;
/** What belongs to A, by the name of the path's segment before it. */
let ids: Readonly<Record<string, string>>;
/** Everything of A that must not be in an answer to B. */
let secrets: readonly string[];
/** All that A can read of itself, before B has sent anything. */
let before: Readonly<Record<string, string>>;

beforeAll(async () => {
  at = await startSystem({ DORMOUSE_PLATFORM_KEY: platformKey });
  [a, b] = [await tenantOf(at, 'tenant-a'), await tenantOf(at, 'tenant-b')];
  tools = await driveToolServer(a);
  const large = `${canary} ${'x'.repeat(70_000)}`; // a blob
  const script = [[{ text: `${canary} said` }], [{ tool_call: { name: 'work' } }], [{ text: 'later' }]];
  const approve = { policies: { approve: { mode: 'all' } } };
  const agent = await scriptedAgent(a, script, { tool_servers: [tools.name], ...approve });
  const thread = await openThread(a, agent, { title: canary, external_id: `${canary}-chat`, user_id: canary });
  await say(a, thread, large);
  await a.request('POST', `/v1/threads/${thread}/messages`, { text: 'work' });
  const choice = await eventually(async () => (await a.request('GET', '/v1/choices')).json.data[0]);
  const token = (await a.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'] })).json;
  await a.request('PUT', '/v1/secrets/secret-of-a', { value: canary, origins: ['https://a.example'] });
  await a.request('PUT', `/v1/users/${canary}/credentials/${tools.name}`, examples['putUserCredential']?.body);
  await a.request('POST', `/v1/threads/${thread}/schedules`, examples['addSchedule']?.body);
  const schedule = await eventually(
    async () => (await a.request('GET', `/v1/threads/${thread}/schedules`)).json.data[0],
  );
  const apiKey = (await a.request('POST', '/v1/api-keys', { name: 'key-of-a', scopes: ['read'] })).json;
  const hook = { url: `https://${canary}.example/hooks`, events: ['thread.idle'] };
  const webhook = (await a.request('POST', '/v1/webhooks', hook)).json;
  const delivery = (await a.request('POST', `/v1/webhooks/${webhook.id}/test`)).json;
  await a.request('PUT', '/v1/secrets/hook-of-a', { value: canary });
  const sender = { name: 'source-of-a', kind: 'github', secret: 'hook-of-a', key: '/id', message: canary };
  const source = (await a.request('POST', '/v1/sources', { ...sender, agent })).json;
  const timed = { name: 'schedule-of-a', cron: '0 9 * * *', message: canary, external_id: canary };
  await a.request('POST', '/v1/schedules', { ...timed, agent });
  const gone = await openThread(a, agent);
  const erasure = (await a.request('POST', '/v1/erasures', { thread_id: gone })).json;
  await eventually(async () => (await a.request('GET', `/v1/erasures/${erasure.id}`)).json.state === 'done');
  const sha256 = createHash('sha256').update(large).digest('hex');
  ids = {
    ...{ agents: agent, versions: '1', secrets: 'secret-of-a', 'tool-servers': tools.name, threads: thread },
    ...{ parked: thread, 'tool-calls': choice.tool_call_id, subscriptions: choice.tool_call_id, choices: choice.id },
    ...{ schedules: schedule.id, blobs: sha256, tokens: token.id, 'api-keys': apiKey.id, tenants: 'tenant-a' },
    ...{ sources: source.name, erasures: erasure.id },
    ...{ webhooks: webhook.id, deliveries: delivery.id },
    ...{ users: canary, credentials: tools.name },
    ...{ 'ai-sdk': agent, 'ag-ui': agent, '{agent}': `${canary}-chat` },
  };
  secrets = [canary, thread, choice.id, choice.tool_call_id, token.id, schedule.id, apiKey.id, tools.url];
  secrets = [...secrets, gone, erasure.id, webhook.id, webhook.secret, delivery.id, source.url];
  before = await eventually(settledEstate);
});
afterAll(async () => {
  await tools.close();
  await endSystems();
});

/** The path of an operation with what belongs to A. */
function pathOf(path: string): string {
  const segments = path.split('/');
  return segments
    .map((segment, index) => {
      if (!segment.startsWith('{')) return segment;
      const id = ids[segments[index - 1] ?? ''];
      if (id === undefined) throw new Error(`${path}: nothing of A stands for ${segment}`);
      return encodeURIComponent(id);
    })
    .join('/');
}

/** Bodies that name what belongs to A, where the example does not fit. */
const bodies = (): Readonly<Record<string, unknown>> => ({
  openThread: { agent: ids['agents'], external_id: `${canary}-chat`, if_exists: 'return' },
  decideBatch: { decisions: [{ id: ids['choices'], decision: 'allow' }] },
  forkThread: { position: 1 },
  createErasure: { thread_id: ids['threads'] },
  tryTool: { operation: 'work', arguments: {} },
  dropParked: { input: 'c:1' },
  patchToolServer: { forward_user_id: true },
  batchThreads: { action: 'close', filter: { agent: ids['agents'] } },
  createToolServer: { name: 'tools-of-b', base_url: 'https://tools-of-b.example' },
  createAgent: { name: 'agent-of-b', model: { provider: 'demo' }, tool_servers: [ids['tool-servers']] },
  migrateThread: { tool_servers: { [ids['tool-servers'] ?? '']: 'https://b.example' } },
  reconcile: { pay: false },
  createSource: {
    ...{ name: 'source-of-b', kind: 'github', secret: 'hook-of-a', agent: ids['agents'], key: '/id', message: 'x' },
  },
});

const bodyOf = (id: string): unknown => bodies()[id] ?? examples[id]?.body;

/** As B, with A's idempotency key. */
function send(id: string, method: string, path: string): Promise<Answer> {
  return b.request(method, pathOf(path), bodyOf(id), { headers: { 'idempotency-key': idempotencyKey } });
}

/** Answers that change by themselves: a delivery is tried again, a health and the use of a key have a time. */
const changing = new Set([
  'listDeliveries',
  'getWebhook',
  'listWebhooks',
  'getToolServer',
  'listApiKeys',
  'getSession',
]);
const timed = /"(waiting|instance)":"[^"]*"/g;

/** Rows of threads are written a little after their commits. */
async function settledEstate(): Promise<Readonly<Record<string, string>> | false> {
  const first = await estateOfA();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const second = await estateOfA();
  return JSON.stringify(first) === JSON.stringify(second) ? second : false;
}

/** What A can read with its own key, by operation: its thread's commits are a chain of hashes. */
async function estateOfA(): Promise<Readonly<Record<string, string>>> {
  const reads = allOperations.filter(({ id, method }) => {
    const entry = table[id];
    return method === 'GET' && (entry === 'own' || entry === 'absent') && !changing.has(id) && !/audit|aiSdk/i.test(id);
  });
  const found = await Promise.all(
    reads.map(async ({ id, path }) => [id, (await a.request('GET', pathOf(path))).text.replaceAll(timed, '')] as const),
  );
  return Object.fromEntries(found);
}

const leaksIn = (answer: Answer): readonly string[] => secrets.filter((secret) => answer.text.includes(secret));

it('has an entry for every operation of the document, and no other', async () => {
  const { paths } = (await b.request('GET', '/openapi.json')).json;
  const documented = Object.values<Json>(paths).flatMap((path) => Object.values<Json>(path).flatMap(idOf));
  expect(documented).toEqual(expect.arrayContaining(['openThread', 'listEvents', 'getBlob']));
  expect(Object.keys(table).toSorted()).toEqual([...new Set(documented)].toSorted());
});

/** A path has parameters beside its operations. */
const idOf = ({ operationId: id }: Json): readonly string[] => (typeof id === 'string' ? [id] : []);

describe('B, with what belongs to A,', () => {
  // What makes something of B's own under a name of A comes last.
  const sent = (['absent', 'platform', 'installation', 'own'] as const).flatMap((entry) =>
    allOperations.filter(({ id }) => table[id] === entry),
  );

  it.each(sent.map((operation) => [operation.id, operation] as const))(
    'gets nothing of it: %s',
    async (id, operation) => {
      const { method, path } = operation;
      const answer = await send(id, method, path);
      if (table[id] === 'absent') expect([404, 403], `${id}: ${answer.status} ${answer.text}`).toContain(answer.status);
      if (table[id] === 'platform' || table[id] === 'installation') expect(answer.status).toBe(403);
      expect(answer.status, answer.text).toBeLessThan(500);
      if (id !== 'aiSdkSend' && id !== 'agUiRun')
        expect(leaksIn(answer).filter((leak) => !sentByB(id, leak))).toEqual([]);
      expect(answer.headers.get('idempotency-replayed')).toBeNull();
    },
  );

  it('sees no metrics, which have names of A', async () => {
    expect([403, 404]).toContain((await b.request('GET', '/metrics')).status);
  });

  it('is answered by no cursor of A', async () => {
    const lists = allOperations.filter(
      ({ id, method, query }) => method === 'GET' && query !== undefined && id !== 'getThread',
    );
    let cursors = 0;
    for (const { id, path } of lists) {
      const first = await a.request('GET', `${pathOf(path)}?limit=1`);
      const cursor: string | null | undefined = first.status === 200 ? first.json.next_cursor : null;
      if (cursor === null || cursor === undefined) continue;
      cursors += 1;
      const answer = await b.request('GET', `${pathOf(path)}?limit=1&cursor=${encodeURIComponent(cursor)}`);
      expect([200, 404, 422], `${id}: ${answer.status}`).toContain(answer.status);
      expect(leaksIn(answer)).toEqual([]);
    }
    expect(cursors).toBeGreaterThan(3);
  });

  it('resumes no stream of a thread of A', async () => {
    for (const last of ['0', '1', '9999']) {
      const headers = { authorization: `Bearer ${b.key}`, accept: 'text/event-stream', 'last-event-id': last };
      const open = await fetch(`${b.url}/v1/threads/${ids['threads']}/events`, { headers });
      expect(open.status).toBe(404);
      await open.body?.cancel();
    }
  });

  it('resumes the stream of all threads where A left it, and sees nothing of A', async () => {
    const rows: readonly Json[] = (await a.request('GET', '/v1/events?limit=200')).json.data;
    expect(rows.length).toBeGreaterThan(5);
    const agent = await scriptedAgent(b, [[{ text: 'mine' }]], { tool_servers: [] });
    const cursors: readonly string[] = rows.slice(0, 6).map(({ cursor }) => cursor);
    const streams = await Promise.all(
      cursors.map(async (cursor) => {
        const page = await b.request('GET', `/v1/events?after=${encodeURIComponent(cursor)}`);
        expect([200, 422]).toContain(page.status);
        expect(leaksIn(page)).toEqual([]);
        const stream = await openStreamOf(b, '/v1/events', { 'last-event-id': cursor });
        expect(stream.response.status).toBe(page.status);
        return stream;
      }),
    );
    const seen: Json[] = [];
    const reading = streams.map(async (stream) => {
      for (let frame = await stream.next(); frame !== null; frame = await stream.next()) seen.push(frame.data);
    });
    await openThread(b, agent);
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // a place of A may be behind all of B, or before it
    for (const stream of streams) stream.close();
    await Promise.allSettled(reading);
    expect(secrets.filter((secret) => JSON.stringify(seen).includes(secret))).toEqual([]);
    for (const thread of new Set(seen.map(({ thread_id: id }) => id)))
      expect((await b.request('GET', `/v1/threads/${thread}`)).status).toBe(200);
  });

  it('gets no answer that was given to another’s idempotency key', async () => {
    const [one, two] = [await tenantOf(at, 'tenant-c'), await tenantOf(at, 'tenant-d')];
    const made = { name: 'with-a-key', model: { provider: 'demo' } };
    const hook = { url: 'https://hooks.example.com/x', events: ['thread.idle'] };
    const requests: readonly (readonly [string, object])[] = [
      ['/v1/agents', made],
      ['/v1/threads', { agent: 'with-a-key' }],
      ['/v1/api-keys', { name: 'with-a-key', scopes: ['read'] }],
      ['/v1/webhooks', hook],
      ['/v1/tool-servers', { name: 'with-a-key', base_url: 'https://tools.example.com' }],
    ];
    const headers = { 'idempotency-key': 'a-key-that-both-have' };
    for (const [path, body] of requests) {
      const first = await one.request('POST', path, body, { headers });
      expect(first.status, first.text).toBe(201);
      expect((await one.request('POST', path, body, { headers })).headers.get('idempotency-replayed')).toBe('true');
      const other = await two.request('POST', path, body, { headers });
      expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([201, null]);
      expect(other.json.id).not.toBe(first.json.id);
    }
  });

  it('reads no blob of A through a thread of its own', async () => {
    const own = await openThread(b, await scriptedAgent(b, [[{ text: 'mine' }]], { tool_servers: [] }));
    expect((await b.request('GET', `/v1/threads/${own}/blobs/${ids['blobs']}`)).status).toBe(404);
    expect((await a.request('GET', `/v1/threads/${ids['threads']}/blobs/${ids['blobs']}`)).status).toBe(200);
  });

  it('is no holder of A’s tokens, and the other way round', async () => {
    const token = (await a.request('POST', `/v1/threads/${ids['threads']}/tokens`, { can: ['read'] })).json.token;
    const own = await openThread(b, await scriptedAgent(b, [[{ text: 'mine' }]], { tool_servers: [] }));
    expect((await b.request('GET', `/v1/threads/${own}`, undefined, { key: token })).status).toBe(403);
    expect((await a.request('GET', `/v1/threads/${own}`)).status).toBe(404);
  });

  it('opens no address of A with a part of its own', async () => {
    await b.request('PUT', '/v1/secrets/hook-of-b', { value: canary });
    const agent = await scriptedAgent(b, [[{ text: 'mine' }]], { tool_servers: [] });
    const sender = { name: 'own-source', kind: 'github', secret: 'hook-of-b', key: '/id', message: 'x', agent };
    const own = new URL((await b.request('POST', '/v1/sources', sender)).json.url).pathname.split('/');
    const foreign = new URL(secrets.find((each) => each.includes('/hooks/')) ?? '').pathname.split('/');
    const crossed = [
      [...own.slice(0, -1), foreign.at(-1)],
      [...foreign.slice(0, -1), own.at(-1)],
    ].map((parts) => parts.join('/'));
    for (const path of crossed) {
      const body = JSON.stringify({ id: 1 });
      const signature = `sha256=${createHmac('sha256', canary).update(body).digest('hex')}`;
      const headers = { 'x-github-delivery': 'd-1', 'x-hub-signature-256': signature };
      expect((await b.request('POST', path, body, { key: null, headers })).status).toBe(404);
    }
  });

  it('has changed nothing of A', async () => {
    const now = await estateOfA();
    expect(Object.keys(before).length).toBeGreaterThan(20);
    expect(Object.keys(before).filter((id) => now[id] !== before[id])).toEqual([]);
    const found = await a.request('GET', `/v1/threads/${ids['threads']}`);
    expect(found.json).toMatchObject({ title: canary, status: 'waiting' });
    const { data } = (await a.request('GET', '/v1/choices')).json;
    expect(data.map(({ id }: Json) => id)).toEqual([ids['choices']]);
    expect((await a.request('GET', `/v1/agents/${ids['agents']}`)).status).toBe(200);
    expect((await a.request('GET', `/v1/tool-servers/${ids['tool-servers']}`)).json.paused).toBe(false);
    expect((await a.request('GET', '/v1/agents', undefined, { key: a.key })).status).toBe(200);
  });
});

describe('what A’s thread was sent', () => {
  const script = [[toolCall('work')], [{ text: 'ok' }], [toolCall('watch')], [{ text: 'ok' }]];

  it('changes nothing when it is sent again, three times, by A or by B', async () => {
    const agent = await scriptedAgent(a, script, { tool_servers: [tools.name] });
    const sent = tools.others('/invoke').length;
    const thread = await openThread(a, agent);
    const headers = { 'idempotency-key': 'a-message-of-a' };
    await a.request('POST', `/v1/threads/${thread}/messages`, { text: 'work' }, { headers });
    const worked = await tools.invocation(sent);
    const result = { type: 'tool_result', text: 'done' };
    expect(await tools.send(worked, result)).toBe(200);
    await untilStatus(a, thread, 'idle');
    await a.request('POST', `/v1/threads/${thread}/messages`, { text: 'watch' });
    const watched = await tools.invocation(sent + 1);
    expect(await tools.send(watched, { ...result, subscription: true })).toBe(200);
    const event = { type: 'subscription_event', text: 'open', associative: true, event_id: 'e-1' };
    await untilEvent(a, thread, 'subscription_opened');
    expect(await tools.send(watched, event)).toBe(200);
    await untilEvent(a, thread, 'subscription_event_received');
    await untilStatus(a, thread, 'idle');
    const told = { source: 'crm', id: 'crm-1', text: 'news' };
    expect((await a.request('POST', `/v1/threads/${thread}/events`, told)).status).toBe(202);
    await untilEvent(a, thread, 'external_event_received');
    await untilStatus(a, thread, 'idle');
    const commits = async (): Promise<string> => (await a.request('GET', `/v1/threads/${thread}/commits`)).text;
    const history = createHash('sha256')
      .update(await commits())
      .digest('hex');
    for (let time = 0; time < 3; time++) {
      for (const [call, message] of [
        [worked, result],
        [watched, event],
      ] as const) {
        expect(await tools.send(call, message, { authorization: `Bearer ${b.key}` })).toBe(200);
        expect(await tools.send(call, message)).toBe(200);
      }
      const again = await a.request('POST', `/v1/threads/${thread}/messages`, { text: 'work' }, { headers });
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect((await a.request('POST', `/v1/threads/${thread}/events`, told)).status).toBe(202);
      expect((await b.request('POST', `/v1/threads/${thread}/events`, told)).status).toBe(404);
    }
    await new Promise((resolve) => setTimeout(resolve, 500)); // a change would be committed by now
    expect(
      createHash('sha256')
        .update(await commits())
        .digest('hex'),
    ).toBe(history);
  });

  it('is refused when its token is that of another call, or its call another one', async () => {
    const mine = await driveToolServer(b);
    const agent = await scriptedAgent(b, [[toolCall('work')], [{ text: 'ok' }]], { tool_servers: [mine.name] });
    const own = await openThread(b, agent);
    await b.request('POST', `/v1/threads/${own}/messages`, { text: 'work' });
    const call = await mine.invocation(0);
    const foreign = { group_id: ids['threads'], id: ids['tool-calls'] };
    for (const wrong of [foreign, { group_id: foreign.group_id }, { id: foreign.id }])
      expect(await mine.send(call, { type: 'tool_result', text: 'forged', ...wrong })).toBeGreaterThanOrEqual(400);
    expect((await b.request('GET', `/v1/threads/${own}`)).json.status).toBe('waiting');
    await mine.close();
  });
});

/** What B has sent itself may come back: in a name, or in the outcome of a decision. */
const sentByB = (id: string, leak: string): boolean =>
  JSON.stringify([bodyOf(id) ?? null, pathOf(allOperations.find((each) => each.id === id)?.path ?? '')]).includes(leak);
