// Storms of one tenant: ten times as many callbacks, events and deliveries as it may send. What is refused says when to
// come again, what was acknowledged is in its thread once, and another tenant's turns go on meanwhile.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patienceMs } from '../patience.ts';
import { eventually, openThread, say, scriptedAgent, type System } from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import type { Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

const platformKey = 'platform-key-of-the-storms';
/** So few that a slow machine sends faster: a storm at this rate would take a minute. */
const perSecond = 10;
const stormCount = 60 * perSecond;
const atOnce = 40;

let at: System;
let quiet: Quiet;
beforeAll(async () => {
  at = await startSystem({
    DORMOUSE_PLATFORM_KEY: platformKey,
    DORMOUSE_TENANT_REQUESTS_PER_S: String(perSecond),
    DORMOUSE_TENANT_CALLBACKS_PER_S: String(perSecond),
  });
  quiet = await quietTenant();
});
afterAll(endSystems);

async function tenant(id: string, quotas: object = {}): Promise<System> {
  const answer = await at.request('POST', '/v1/tenants', { id, quotas }, { key: platformKey });
  if (answer.status !== 201) throw new Error(`tenant: ${answer.status} ${answer.text}`);
  const { key } = answer.json;
  return { ...at, key, request: (method, path, body, sent) => at.request(method, path, body, { key, ...sent }) };
}

interface Quiet {
  /** One turn after the other, for as long as the storm lasts and five at least. Each is answered. */
  turnsBeside(storm: Promise<unknown>): Promise<{ readonly turns: number; readonly longestMs: number }>;
}

async function quietTenant(): Promise<Quiet> {
  const own = await tenant('quiet', { requests_per_s: 1_000 });
  const thread = await openThread(own, await scriptedAgent(own, [[{ text: 'fine' }]], { tool_servers: [] }));
  await say(own, thread, 'before');
  return {
    async turnsBeside(storm) {
      const state = { isOver: false };
      const over = storm.finally(() => (state.isOver = true));
      let turns = 0;
      let longestMs = 0;
      for (; !state.isOver || turns < 5; turns += 1) {
        const from = performance.now();
        await say(own, thread, `turn ${turns}`); // it throws for a refusal
        longestMs = Math.max(longestMs, performance.now() - from);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await over;
      return { turns, longestMs };
    },
  };
}

interface Sent {
  readonly name: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Sends every one once, so many at a time, and keeps the answers. */
async function storm(count: number, send: (name: string) => Promise<Response>): Promise<readonly Sent[]> {
  const answers: Sent[] = [];
  let next = 0;
  async function sender(): Promise<void> {
    for (; next < count;) {
      const name = `no-${next++}`;
      const response = await send(name);
      const retryAfter = response.headers.get('retry-after');
      answers.push({ name, status: response.status, retryAfter, text: await response.text() });
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sender));
  return answers;
}

const jsonPost = (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const namesOf = (answers: readonly Sent[], ...statuses: readonly number[]): readonly string[] =>
  answers.filter(({ status }) => statuses.includes(status)).map(({ name }) => name);

/** Most are refused, each with the time to wait; the others are taken. */
function expectLimited(answers: readonly Sent[], taken: readonly number[], refused: number): void {
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([...taken, refused]));
  expect(namesOf(answers, refused).length).toBeGreaterThan(0);
  expect(namesOf(answers, ...taken).length).toBeGreaterThan(0);
  for (const { status, retryAfter } of answers)
    if (status === refused) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
}

function expectCalm({ turns, longestMs }: { readonly turns: number; readonly longestMs: number }): void {
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(longestMs).toBeLessThan(patienceMs / 2);
}

/** All events of a thread. A page that is refused for the rate of its tenant is asked for again. */
async function logOf(own: System, thread: string): Promise<readonly Json[]> {
  const events: Json[] = [];
  for (;;) {
    const { data } = await eventually(async () => {
      const { status, json } = await own.request(
        'GET',
        `/v1/threads/${thread}/events?after=${events.length}&limit=200`,
      );
      return status === 200 && json;
    });
    if (data.length === 0) return events;
    events.push(...data);
  }
}

/** Each of these is in the log once, as an event of this type with it in this field; and nothing else is. */
async function expectInLog(
  own: System,
  thread: string,
  [type, field]: readonly [string, string],
  names: readonly string[],
): Promise<void> {
  const found = await eventually(async () => {
    const log = await logOf(own, thread);
    const here = log.filter((event) => event.type === type).map((event) => event[field] as string);
    return here.length >= names.length && here;
  });
  expect(found.toSorted()).toEqual([...names].toSorted());
}

describe('a storm of callbacks', () => {
  it('R43 valid ones are taken as fast as the tenant may send them, the others come later', async () => {
    const own = await tenant('loud-callbacks');
    const tools = await driveToolServer(own);
    const script = [[toolCall('watch')], [{ text: 'noted' }]];
    const thread = await openThread(own, await scriptedAgent(own, script, { tool_servers: [tools.name] }));
    await own.request('POST', `/v1/threads/${thread}/messages`, { text: 'watch' });
    const call = await tools.invocation(0);
    expect(await tools.send(call, { type: 'tool_result', text: 'sub_1', subscription: true })).toBe(200);
    const event = (name: string): object => ({
      ...{ type: 'subscription_event', group_id: call.group_id, tool_call_id: call.id, event_id: name },
      ...{ text: name, associative: true },
    });
    const sending = storm(stormCount, (name) => jsonPost(call.callback_url, event(name)));
    expectCalm(await quiet.turnsBeside(sending));
    const answers = await sending;
    expectLimited(answers, [200], 503);
    await expectInLog(own, thread, ['subscription_event_received', 'event_id'], namesOf(answers, 200));
    await tools.close();
  });

  it('forged ones change nothing, and are not answered as ours', async () => {
    const own = await tenant('forged-callbacks');
    const tools = await driveToolServer(own);
    const script = [[toolCall('work')], [{ text: 'done' }]];
    const thread = await openThread(own, await scriptedAgent(own, script, { tool_servers: [tools.name] }));
    await own.request('POST', `/v1/threads/${thread}/messages`, { text: 'work' });
    const call = await tools.invocation(0);
    const before = (await logOf(own, thread)).length;
    const forged = (nth: number): string => {
      const url: string = call.callback_url;
      const place = url.length - 2 - (nth % 20);
      return url.slice(0, place) + (url[place] === 'A' ? 'B' : 'A') + url.slice(place + 1);
    };
    const result = { type: 'tool_result', group_id: call.group_id, id: call.id, text: 'forged' };
    let nth = 0;
    const sending = storm(stormCount, () => jsonPost(forged(nth++), result));
    expectCalm(await quiet.turnsBeside(sending));
    for (const { status } of await sending) expect([401, 403, 404]).toContain(status);
    expect(await logOf(own, thread)).toHaveLength(before);
    // Those that are not of it cost the tenant nothing: its own result is taken at once.
    expect(await tools.send(call, { type: 'tool_result', text: 'true' })).toBe(200);
    await tools.close();
  });
});

describe('a storm of what comes from outside', () => {
  it('events: what is acknowledged is in the thread once', async () => {
    const own = await tenant('loud-events');
    const thread = await openThread(own, await scriptedAgent(own, [[{ text: 'noted' }]], { tool_servers: [] }));
    const headers = { authorization: `Bearer ${own.key}` };
    const event = (name: string): object => ({ source: 'ci', id: name, text: name });
    const sending = storm(stormCount, (name) =>
      jsonPost(`${own.url}/v1/threads/${thread}/events`, event(name), headers),
    );
    expectCalm(await quiet.turnsBeside(sending));
    const answers = await sending;
    expectLimited(answers, [202], 429);
    await expectInLog(own, thread, ['external_event_received', 'event_id'], namesOf(answers, 202));
  });

  it('deliveries of a source, within the tokens of the day: all are recorded, few are answered by the model', async () => {
    const own = await tenant('loud-deliveries', { tokens_per_day_max: 1 });
    const agent = await scriptedAgent(own, [[{ text: 'noted' }]], { tool_servers: [] });
    const secret = `whsec_${Buffer.from('a secret of the storms, 32 bytes').toString('base64')}`;
    expect((await own.request('PUT', '/v1/secrets/hook', { value: secret })).status).toBe(204);
    const made = await own.request('POST', '/v1/sources', {
      ...{ name: 'shop', kind: 'standard', secret: 'hook', agent, key: '/order', message: 'order {{/order}}' },
    });
    expect(made.status).toBe(201);
    const url = own.url + new URL(made.json.url as string).pathname;
    const deliver = (id: string): Promise<Response> => {
      const now = new Date();
      const text = JSON.stringify({ order: 'one' });
      return fetch(url, {
        method: 'POST',
        headers: {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
          'webhook-signature': new Webhook(secret).sign(id, now, text),
        },
        body: text,
      });
    };
    expect((await deliver('first')).status).toBe(202); // what it costs uses the quota up
    const opened = await eventually(async () => {
      const { json } = await own.request('GET', '/v1/threads?external_id=one');
      return json.data?.[0]?.id as string | undefined;
    });
    await eventually(async () => (await logOf(own, opened)).some(({ type }) => type === 'completion_recorded'));
    await new Promise((resolve) => setTimeout(resolve, 3_500)); // longer than a count lags behind
    const sending = storm(stormCount, deliver);
    expectCalm(await quiet.turnsBeside(sending));
    const answers = await sending;
    expectLimited(answers, [202], 429);
    const fromSource = async (): Promise<readonly string[]> =>
      (await logOf(own, opened)).flatMap(({ type, source }) =>
        type === 'message_accepted' ? [source.delivery_id as string] : [],
      );
    const wanted = ['first', ...namesOf(answers, 202)].toSorted();
    const found = await eventually(async () => {
      const here = await fromSource();
      return here.length >= wanted.length && here;
    });
    expect(found.toSorted()).toEqual(wanted);
    const types = (await logOf(own, opened)).map(({ type }) => type);
    expect(types).toContain('budget_exceeded');
    expect(types.filter((type) => type === 'completion_recorded').length).toBeLessThan(5);
  });
});
