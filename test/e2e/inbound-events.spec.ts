// What comes from outside and is no tool's: signed deliveries of sources, over HTTP, with real signatures.
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformKey } from '../isolation/tenant-system.ts';
import { eventsOf, eventually, openThread, scriptedAgent, type System, untilStatus } from './conversation.ts';
import type { Answer, Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

const secret = `whsec_${Buffer.from('a secret of the specs, 32 bytes!').toString('base64')}`;
let at: System;
let agent: string;

beforeAll(async () => {
  at = await startSystem({ DORMOUSE_PLATFORM_KEY: platformKey });
  agent = await scriptedAgent(at, [[{ text: 'noted' }]], { tool_servers: [] });
  expect((await at.request('PUT', '/v1/secrets/hook', { value: secret })).status).toBe(204);
});
afterAll(endSystems);

type Kind = 'github' | 'stripe' | 'slack' | 'standard';

interface Made {
  readonly name: string;
  readonly kind: Kind;
  /** The path of its URL: the address in front of it is that of the installation. */
  readonly path: string;
}

let made = 0;

async function source(kind: Kind, more: object = {}, by: System = at): Promise<Made> {
  made += 1;
  const body = { name: `source-${made}`, kind, secret: 'hook', agent, key: '/issue/id', message: '{{/issue/title}}' };
  const answer = await by.request('POST', '/v1/sources', { ...body, ...more });
  if (answer.status !== 201) throw new Error(`source: ${answer.status} ${answer.text}`);
  return { name: body.name, kind, path: new URL(answer.json.url).pathname };
}

const mac = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');

/** The headers of a sender, and the body with the delivery's id where the sender has it. */
function signed(
  { kind }: Pick<Made, 'kind'>,
  id: string,
  body: object,
): { readonly headers: Record<string, string>; readonly text: string } {
  const now = Math.floor(Date.now() / 1_000);
  const places = { github: {}, stripe: { id }, slack: { event_id: id }, standard: {} };
  const text = JSON.stringify({ ...body, ...places[kind] });
  const headers = {
    github: { 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${mac(text)}` },
    stripe: { 'stripe-signature': `t=${now},v1=${mac(`${now}.${text}`)}` },
    slack: { 'x-slack-request-timestamp': String(now), 'x-slack-signature': `v0=${mac(`v0:${now}:${text}`)}` },
    standard: {
      'webhook-id': id,
      'webhook-timestamp': String(now),
      'webhook-signature': new Webhook(secret).sign(id, new Date(now * 1_000), text),
    },
  };
  return { headers: headers[kind], text };
}

/** Without a key of the API. */
const post = (path: string, text: string, headers: Record<string, string>): Promise<Answer> =>
  at.request('POST', path, text, { key: null, headers });

function deliver(to: Made, id: string, body: object): Promise<Answer> {
  const { headers, text } = signed(to, id, body);
  return post(to.path, text, headers);
}

/** How many answers have each status. */
function countsOf(answers: readonly Answer[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

const issue = (id: unknown, title: string): object => ({ issue: { id, title } });

const threadsOf = async (external: string): Promise<readonly Json[]> =>
  (await at.request('GET', `/v1/threads?external_id=${external}`)).json.data;

/** What was accepted in a thread, oldest first. */
async function accepted(thread: string): Promise<readonly Json[]> {
  return (await eventsOf(at, thread)).filter(({ type }) => type === 'message_accepted');
}

describe('a source', () => {
  it('is made once, shows its URL when it is made, and is listed without it', async () => {
    const body = { name: 'listed', kind: 'github', secret: 'hook', agent, key: 'header:x-customer', message: 'x' };
    const first = await at.request('POST', '/v1/sources', body);
    expect([first.status, first.headers.get('location')]).toEqual([201, '/v1/sources/listed']);
    expect(first.json).toMatchObject({
      ...body,
      id: expect.stringMatching(/^src_/),
      url: expect.stringContaining('/hooks/listed/'),
    });
    const again = await at.request('POST', '/v1/sources', body);
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect((await at.request('POST', '/v1/sources', { ...body, key: '/a' })).status).toBe(409);
    const list = await at.request('GET', '/v1/sources');
    const { url, ...shown } = first.json;
    expect(list.json.data).toContainEqual(shown);
    expect(list.text).not.toContain(url.split('/').at(-1));
    for (const [wrong, pointer] of [
      [{ key: 'issue.id' }, '/key'],
      [{ secret: 'none' }, '/secret'],
      [{ agent: 'none' }, '/agent'],
      [{ message: '{{/~}}' }, '/message'],
      [{ kind: 'gitlab' }, '/kind'],
    ] as const) {
      const refused = await at.request('POST', '/v1/sources', { ...body, name: 'wrong', ...wrong });
      expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, pointer]);
    }
    expect((await at.request('DELETE', '/v1/secrets/hook')).status).toBe(409);
    expect((await at.request('DELETE', '/v1/sources/listed')).status).toBe(204);
    expect((await at.request('DELETE', '/v1/sources/listed')).status).toBe(404);
    const actions = (await at.request('GET', '/v1/audit')).json.data.map(
      ({ action, target }: Json) => `${action} ${target}`,
    );
    expect(actions).toEqual(expect.arrayContaining(['source.created listed', 'source.deleted listed']));
  });

  it('is made and deleted by tenant:admin, and read by read', async () => {
    const keyOf = async (scope: string): Promise<string> =>
      (await at.request('POST', '/v1/api-keys', { name: 'some', scopes: [scope] })).json.key;
    const [reader, writer] = [await keyOf('read'), await keyOf('threads:write')];
    expect((await at.request('GET', '/v1/sources', undefined, { key: reader })).status).toBe(200);
    for (const key of [reader, writer]) expect((await at.request('POST', '/v1/sources', {}, { key })).status).toBe(403);
  });
});

describe.each(['github', 'stripe', 'slack', 'standard'] as const)('a delivery of the kind %s', (kind) => {
  it('opens a thread, and the next one of its key wakes it', async () => {
    const to = await source(kind);
    const key = `${kind}-1`;
    const first = await deliver(to, 'd-1', issue(key, 'it is broken'));
    expect([first.status, first.json]).toEqual([
      202,
      { id: expect.stringMatching(/^msg_/), thread_id: expect.any(String) },
    ]);
    expect((await deliver(to, 'd-1', issue(key, 'it is broken'))).status).toBe(200);
    const [thread, ...others] = await threadsOf(key);
    expect(others).toEqual([]);
    expect(thread).toMatchObject({ id: first.json.thread_id, agent: { name: agent } });
    await untilStatus(at, thread.id, 'idle');
    expect((await deliver(to, 'd-2', issue(key, 'still'))).json.thread_id).toBe(thread.id);
    const both = await eventually(async () => {
      const found = await accepted(thread.id);
      return found.length === 2 && found;
    });
    expect(both).toMatchObject([
      { message_id: first.json.id, content: [{ text: 'it is broken' }], source: { name: to.name, delivery_id: 'd-1' } },
      { content: [{ text: 'still' }], source: { name: to.name, delivery_id: 'd-2' } },
    ]);
    await untilStatus(at, thread.id, 'idle');
    expect((await eventsOf(at, thread.id)).filter(({ type }) => type === 'completion_recorded')).toHaveLength(2);
  });

  it('a hundred times at once is one wake', async () => {
    const to = await source(kind);
    const body = issue(`${kind}-hundred`, 'once');
    const answers = await Promise.all(Array.from({ length: 100 }, () => deliver(to, 'd-1', body)));
    expect(Object.fromEntries(countsOf(answers))).toEqual({ 200: 99, 202: 1 });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const threads = await threadsOf(`${kind}-hundred`);
    expect(threads).toHaveLength(1);
    await untilStatus(at, threads[0].id, 'idle');
    expect(await accepted(threads[0].id)).toHaveLength(1);
  });
});

describe('a delivery', () => {
  it('without a key opens a thread of its own, once', async () => {
    const to = await source('github', { key: 'header:x-none' });
    const sent = ['d-1', 'd-2', 'd-1', 'd-1'].map((id) => deliver(to, id, issue(1, `of ${id}`)));
    const threads = (await Promise.all(sent)).map(({ json }) => json.thread_id);
    expect(new Set(threads).size).toBe(2);
    expect((await at.request('GET', `/v1/threads/${threads[0]}`)).json.external_id).toBeNull();
  });

  it('wakes no closed thread: a new one opens', async () => {
    const to = await source('github');
    const old = (await deliver(to, 'd-1', issue('closing', 'one'))).json.thread_id;
    await untilStatus(at, old, 'idle');
    await at.request('POST', `/v1/threads/${old}/close`);
    await untilStatus(at, old, 'closed');
    const next = await deliver(to, 'd-2', issue('closing', 'two'));
    expect([next.status, next.json.thread_id === old]).toEqual([202, false]);
    expect((await threadsOf('closing')).map(({ id }) => id)).toEqual([next.json.thread_id]);
    expect((await deliver(to, 'd-1', issue('closing', 'one'))).json.thread_id).toBe(old);
    expect(await accepted(old)).toHaveLength(1);
    await untilStatus(at, next.json.thread_id, 'idle');
    expect(await accepted(next.json.thread_id)).toMatchObject([{ source: { delivery_id: 'd-2' } }]);
  });

  it('with a bad signature, body or URL is refused, and nothing comes of it', async () => {
    const to = await source('github');
    const { headers, text } = signed(to, 'd-1', issue('refused', 'no'));
    const codes = async (answer: Promise<Answer>): Promise<readonly unknown[]> => {
      const { status, json } = await answer;
      return [status, json.code];
    };
    expect(await codes(post(to.path, `${text} `, headers))).toEqual([401, 'UNAUTHENTICATED']);
    expect(await codes(post(to.path, text, {}))).toEqual([401, 'UNAUTHENTICATED']);
    for (const body of ['[]', 'no json', '{"a":1,"a":2}']) {
      const sent = { 'x-github-delivery': 'd-1', 'x-hub-signature-256': `sha256=${mac(body)}` };
      expect(await codes(post(to.path, body, sent))).toEqual([400, 'INVALID_JSON']);
    }
    const [, , name, token = ''] = to.path.split('/');
    for (const path of [`/hooks/${name}/${token}x`, `/hooks/other/${token}`, `/hooks/${name}/wrong`, '/hooks/a/b'])
      expect(await codes(post(path, text, headers))).toEqual([404, 'NOT_FOUND']);
    expect((await at.request('PUT', to.path, undefined, { key: null })).status).toBe(405);
    expect(await threadsOf('refused')).toEqual([]);
    await at.request('DELETE', `/v1/sources/${to.name}`);
    expect(await codes(post(to.path, text, headers))).toEqual([404, 'NOT_FOUND']);
    expect(at.output()).not.toContain(token); // no log line has it
  });

  it('of Slack that asks for the address is answered', async () => {
    const to = await source('slack');
    const { headers, text } = signed(to, 'd-1', { type: 'url_verification', challenge: 'c-1' });
    const answer = await post(to.path, text, headers);
    expect([answer.status, answer.json]).toEqual([200, { challenge: 'c-1' }]);
  });

  it('for a suspended tenant is taken, and works when it is resumed', async () => {
    const platform = (method: string, path: string, body?: unknown): Promise<Answer> =>
      at.request(method, `/v1/tenants${path}`, body, { key: platformKey });
    const { key } = (await platform('POST', '', { id: 'suspended' })).json;
    const own: System = {
      ...at,
      key,
      request: (method, path, body, sent) => at.request(method, path, body, { key, ...sent }),
    };
    const theirs = await scriptedAgent(own, [[{ text: 'noted' }]], { tool_servers: [] });
    await own.request('PUT', '/v1/secrets/hook', { value: secret });
    const to = await source('github', { agent: theirs }, own);
    await platform('PATCH', '/suspended', { state: 'suspended' });
    await eventually(async () => (await own.request('GET', '/v1/agents')).status === 403);
    const taken = await deliver(to, 'd-1', issue('held', 'later'));
    expect(taken.status).toBe(202);
    await platform('PATCH', '/suspended', { state: 'active' });
    await eventually(async () => (await own.request('GET', '/v1/agents')).status === 200);
    const thread = taken.json.thread_id;
    await untilStatus(own, thread, 'idle');
    const types = (await eventsOf(own, thread)).map(({ type }) => type);
    expect(types.filter((type) => type === 'message_accepted')).toHaveLength(1);
    expect(types).toContain('completion_recorded');
  });
});

describe('the URL of a source', () => {
  it('is of its tenant alone: another tenant neither sees it, nor signs for it, nor reaches anything by it', async () => {
    const { key } = (await at.request('POST', '/v1/tenants', { id: 'stranger' }, { key: platformKey })).json;
    const stranger: System = {
      ...at,
      key,
      request: (method, path, body, sent) => at.request(method, path, body, { key, ...sent }),
    };
    const theirSecret = `whsec_${Buffer.from('a secret of the other tenant, 32').toString('base64')}`;
    const theirAgent = await scriptedAgent(stranger, [[{ text: 'noted' }]], { tool_servers: [] });
    await stranger.request('PUT', '/v1/secrets/hook', { value: theirSecret });
    const ours = await source('github');
    // A source of the same name: what tells the two apart is the token.
    const same = { name: ours.name, kind: 'github', secret: 'hook', agent: theirAgent, key: '/issue/id', message: 'x' };
    const made = await stranger.request('POST', '/v1/sources', same);
    const theirs = new URL(made.json.url).pathname;
    const [ourToken, theirToken] = [ours.path, theirs].map((path) => path.split('/').at(-1) ?? '');
    expect(ourToken).not.toBe(theirToken);

    const body = JSON.stringify(issue('of-both', 'crossing'));
    const by = (value: string): Record<string, string> => ({
      'x-github-delivery': 'd-1',
      'x-hub-signature-256': `sha256=${createHmac('sha256', value).update(body).digest('hex')}`,
    });
    expect((await post(ours.path, body, by(theirSecret))).status).toBe(401);
    expect((await post(theirs, body, by(secret))).status).toBe(401);
    // A key of the API changes nothing: the URL alone says whose source it is.
    const sent = await at.request('POST', ours.path, body, { key, headers: by(secret) });
    expect(sent.status).toBe(202);
    expect((await stranger.request('GET', `/v1/threads/${sent.json.thread_id}`)).status).toBe(404);
    expect((await threadsOf('of-both')).map(({ id }) => id)).toEqual([sent.json.thread_id]);
    // The same delivery and key at the other tenant's URL is another delivery, in a thread of that tenant.
    const other = await post(theirs, body, by(theirSecret));
    expect([other.status, other.json.thread_id === sent.json.thread_id]).toEqual([202, false]);
    expect((await at.request('GET', `/v1/threads/${other.json.thread_id}`)).status).toBe(404);
    const seen = (await stranger.request('GET', '/v1/sources')).text;
    for (const token of [ourToken, theirToken]) expect(seen).not.toContain(token);
    expect((await stranger.request('DELETE', `/v1/sources/${ours.name}`)).status).toBe(204);
    expect((await post(theirs, body, by(theirSecret))).status).toBe(404);
    expect((await post(ours.path, body, by(secret))).status).toBe(200);
  });
});

describe('an event that a client tells a thread', () => {
  const tell = (thread: string, body: object, sent = {}): Promise<Answer> =>
    at.request('POST', `/v1/threads/${thread}/events`, body, sent);

  it('wakes the thread, and is one event of its source and id for ever', async () => {
    const thread = await openThread(at, agent);
    const event = { source: 'billing', id: 'evt-1', text: 'a payment has failed' };
    const answers = await Promise.all(Array.from({ length: 100 }, () => tell(thread, event)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const [{ status, json }] = answers as [Answer];
    expect([status, json]).toEqual([202, { id: expect.stringMatching(/^req_/) }]);
    await untilStatus(at, thread, 'idle');
    await tell(thread, { ...event, source: 'shop' });
    await tell(thread, { source: 'billing', text: 'without an id' });
    const received = await eventually(async () => {
      const found = (await eventsOf(at, thread)).filter(({ type }) => type === 'external_event_received');
      return found.length === 3 && found;
    });
    expect(received[0]).toMatchObject({
      ...{ source: 'billing', event_id: 'evt-1', text: 'a payment has failed', associative: true },
      ...{ cause: { kind: 'event', id: json.id }, turn_id: json.id },
    });
    expect(received[2]).not.toHaveProperty('event_id');
    await untilStatus(at, thread, 'idle');
    const { data } = (await at.request('GET', `/v1/threads/${thread}/messages`)).json;
    expect(data.filter(({ role }: Json) => role === 'event')).toHaveLength(3);
    expect(data.at(-1)).toMatchObject({ role: 'assistant', text: expect.stringContaining('without an id') });
  });

  it('begins a thread of its own when it is not associative', async () => {
    const thread = await openThread(at, agent);
    await tell(thread, { source: 'billing', text: 'apart', associative: false });
    const child = await eventually(
      async () => (await at.request('GET', `/v1/threads/${thread}/children`)).json.data[0]?.id,
    );
    await untilStatus(at, child, 'closed');
    const [received] = (await eventsOf(at, thread)).filter(({ type }) => type === 'external_event_received');
    expect(received).toMatchObject({ associative: false, child_id: child });
    expect(await accepted(child)).toMatchObject([{ content: [{ text: '[event from billing]\napart' }] }]);
    await eventually(async () => (await eventsOf(at, thread)).some(({ type }) => type === 'child_reported'));
  });

  it('is recorded as refused by a closed thread, and is nothing for a thread token or an unknown thread', async () => {
    const thread = await openThread(at, agent);
    const event = { source: 'billing', text: 'late' };
    const { token } = (await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read', 'message'] })).json;
    expect((await tell(thread, event, { key: token })).status).toBe(403);
    await at.request('POST', `/v1/threads/${thread}/close`);
    await untilStatus(at, thread, 'closed');
    const { id } = (await tell(thread, event)).json;
    const refused = await eventually(async () =>
      (await eventsOf(at, thread)).find(({ type }) => type === 'request_refused'),
    );
    expect(refused).toMatchObject({ request_id: id, request: 'event', code: 'THREAD_CLOSED' });
    expect((await tell('thr_01KE6HWA00J3Q7ZVY6M4T8C2PD', event)).status).toBe(404);
    expect((await tell(thread, { source: '', text: 'x' })).status).toBe(422);
  });
});

describe('a schedule of the tenant', () => {
  const schedule = (body: object): Promise<Answer> => at.request('POST', '/v1/schedules', body);
  const listed = async (name: string): Promise<Json> =>
    (await at.request('GET', '/v1/schedules')).json.data.find((one: Json) => one.name === name);

  it('is made once, refused where it could never fire, listed and deleted', async () => {
    const body = { name: 'weekly', cron: '0 9 * * 1', time_zone: 'Europe/Vienna', agent, message: 'Good morning.' };
    const first = await schedule(body);
    expect([first.status, first.headers.get('location')]).toEqual([201, '/v1/schedules/weekly']);
    expect(first.json).toMatchObject({
      ...{ ...body, external_id: null, missed: 'once', last_fired_at: null, fired: 0, skipped: 0 },
      ...{ id: expect.stringMatching(/^sch_/), next_at: expect.stringMatching(/T0[78]:00:00\.000Z$/) },
    });
    const again = await schedule(body);
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect((await schedule({ ...body, message: 'other' })).status).toBe(409);
    expect((await schedule({ ...body, name: 'wrong', cron: 'never' })).json.errors[0].pointer).toBe('/cron');
    expect((await schedule({ ...body, name: 'wrong', time_zone: 'Mars' })).json.errors[0].pointer).toBe('/time_zone');
    expect(await listed('weekly')).toEqual(first.json);
    expect((await at.request('DELETE', '/v1/schedules/weekly')).status).toBe(204);
    expect(await listed('weekly')).toBeUndefined();
    const actions = (await at.request('GET', '/v1/audit')).json.data.map(({ action }: Json) => action);
    expect(actions).toEqual(expect.arrayContaining(['schedule.created', 'schedule.deleted']));
  });

  it('opens a thread at its time, once, and says which time it is', async () => {
    const due = new Date(Date.now() + 3_000);
    due.setUTCMilliseconds(0);
    const cron = `${due.getUTCSeconds()} ${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
    await schedule({ name: 'soon', cron, agent, message: 'for {{/scheduled_for}}', external_id: 'soon' });
    const fired = await eventually(async () => {
      const one = await listed('soon');
      return one.fired > 0 && one;
    });
    const time = due.toISOString();
    expect(fired).toMatchObject({ fired: 1, skipped: 0, last_scheduled_for: time, last_fired_at: expect.any(String) });
    const [thread, ...others] = await threadsOf('soon');
    expect(others).toEqual([]);
    await untilStatus(at, thread.id, 'idle');
    expect(await accepted(thread.id)).toMatchObject([
      { content: [{ text: `for ${time}` }], schedule: { name: 'soon', scheduled_for: time, missed: 0 } },
    ]);
    await at.request('DELETE', '/v1/schedules/soon');
  });
});
