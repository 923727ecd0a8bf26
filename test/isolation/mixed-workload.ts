// A tenant that uses everything, with a canary in each content and a hidden word in each credential: threads, tools,
// approvals, links, logins, questions, views, subscriptions, children, events from outside, sources, schedules,
// webhooks, tokens, and what goes wrong with each. All that reaches the tenant, its model, its tools and its webhooks
// is kept as text.
import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { startRecordingModel } from '../conformance/recording-model.ts';
import { recordToolServer, type RecordingToolServer, status, tool } from '../conformance/recording-tool-server.ts';
import { eventually, openThread, type Step, type System, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import type { Answer, Json } from '../e2e/standalone-process.ts';
import { startReceiver, type WebhookReceiver } from '../e2e/webhook-receiver.ts';
import { answersWith, startChatServer } from '../model/chat-server.ts';
import { canaryOf, hiddenOf } from './canary.ts';
import { tenantOf } from './tenant-system.ts';

/** Where the bytes of a tenant may go. */
export const placeNames = ['answers', 'streams', 'prompts', 'tool requests', 'webhooks'] as const;
export type Place = (typeof placeNames)[number];

export interface Life {
  readonly tenant: string;
  /** Does everything once. */
  live(): Promise<void>;
  /** All that came there, as text; a request to a tool server without the credential that is sent to it. */
  seenAt(place: Place): string;
  /** Credentials that the system made. */
  credentials(): readonly string[];
  close(): Promise<void>;
}

const hookEvents = ['thread.waiting', 'thread.idle', 'thread.failed', 'thread.closed', 'choice.requested'];
const patient = { prefer: 'wait=60' };

export async function beginLife(root: System, name: string): Promise<Life> {
  const tenant = `${name}-${randomBytes(4).toString('hex')}`;
  const says = (what: string): string => canaryOf(tenant, what);
  const hides = (what: string): string => hiddenOf(tenant, what);
  const answers: string[] = [];
  const at = recorded(await tenantOf(root, tenant), answers);
  const [model, broken] = [await startRecordingModel(), await startChatServer()];
  const receivers = [await startReceiver(), await startReceiver()] as const;
  const tools = await recordToolServer(at, {
    tools: ['work', 'watch'].map((each) => tool(each, { description: says('description') })),
    registration: { forward_user_id: true },
  });
  const played = model.plays((prompt) => answerOf(prompt.messages.at(-1), says));
  const streams: string[] = [];
  const stopping = new AbortController();
  const made: string[] = [at.key];
  const user = says('user');

  const post = async (path: string, body?: unknown, sent = {}): Promise<Json> => {
    const answer = await at.request('POST', path, body, sent);
    expect(answer.status, `${path} ${answer.text}`).toBeLessThan(300);
    return answer.text === '' ? null : answer.json;
  };
  const put = async (path: string, body: unknown): Promise<void> =>
    expect((await at.request('PUT', path, body)).status).toBe(204);

  async function watch(path: string): Promise<void> {
    const headers = { authorization: `Bearer ${at.key}`, accept: 'text/event-stream' };
    const { body } = await fetch(at.url + path, { headers, signal: stopping.signal });
    for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) streams.push(chunk);
  }
  const watches = (path: string): void => void watch(path).catch(() => undefined);

  /** Its secrets, and an agent that needs them. */
  async function settle(): Promise<string> {
    await put('/v1/secrets/token', { value: hides('token'), origins: [tools.url] });
    await put('/v1/secrets/hook', { value: hides('hook') });
    const auth = { type: 'bearer', secret: 'token' };
    expect((await at.request('PATCH', `/v1/tool-servers/${tools.name}`, { auth })).status).toBe(200);
    await put(`/v1/users/${user}/credentials/${tools.name}`, { type: 'bearer', value: hides('user-token') });
    const origins = [new URL(String(played.model['base_url'])).origin];
    await put('/v1/secrets/model-key', { value: hides('model-key'), origins });
    const agent = {
      ...{ name: 'worker', instructions: says('instructions'), tool_servers: [tools.name] },
      model: { ...played.model, api_key_secret: 'model-key' },
      policies: { approve: { tools: { work: 'always' } }, event_children: 'keep' },
    };
    await post('/v1/agents', agent);
    return agent.name;
  }

  async function hooks(agent: string): Promise<void> {
    const [good, bad] = receivers;
    bad.answers((response) => void response.writeHead(500).end(says('webhook-error')));
    for (const { url } of [good, bad]) {
      const { id, secret } = await post('/v1/webhooks', { url: `${url}&to=${says('webhook')}`, events: hookEvents });
      made.push(secret);
      await post(`/v1/webhooks/${id}/test`);
    }
    const message = `${says('source')} {{/words}}`;
    const source = { name: 'issues', kind: 'github', secret: 'hook', agent, key: '/id', message };
    const path = new URL((await post('/v1/sources', source)).url).pathname;
    made.push(path.split('/').at(-1) ?? '');
    const body = JSON.stringify({ id: says('source-key'), words: says('delivery') });
    const mac = createHmac('sha256', hides('hook')).update(body).digest('hex');
    for (const signature of [mac, mac.replace(/^./, 'x')]) {
      const headers = { 'x-github-delivery': says('delivery-id'), 'x-hub-signature-256': `sha256=${signature}` };
      await at.request('POST', path, body, { key: null, headers });
    }
    await post('/v1/schedules', {
      ...{ name: 'standup', cron: '0 9 * * 1', agent, message: says('tenant-schedule') },
      external_id: says('schedule-key'),
    });
  }

  const told = (thread: string, text: string, headers = {}): Promise<Json> =>
    post(`/v1/threads/${thread}/messages`, { text }, { headers: { ...patient, ...headers } });
  const tell = (thread: string, text: string): Promise<Json> => post(`/v1/threads/${thread}/messages`, { text });
  const waiting = async (thread: string, kind: string): Promise<Json> =>
    eventually(async () => {
      const { waiting_on: on = [] } = (await at.request('GET', `/v1/threads/${thread}`)).json;
      return on.find((each: Json) => each.kind === kind);
    });

  /** An approval that is denied, one that is allowed by a link, and a call with all that a tool may send. */
  async function work(thread: string): Promise<void> {
    await tell(thread, `use work ${says('message')}`);
    const first = await waiting(thread, 'approval');
    await at.request('PATCH', `/v1/choices/${first.id}`, { assignees: [says('assignee')] });
    await post(`/v1/choices/${first.id}`, { decision: 'deny', reason: says('reason'), decided_by: says('decider') });
    await untilStatus(at, thread, 'idle');
    await tell(thread, 'use work');
    const second = await waiting(thread, 'approval');
    const { url } = await post(`/v1/choices/${second.id}/links`, { for: says('person'), ttl_s: 600 });
    const link = new URL(url).pathname;
    made.push(link.split('/').at(-1) ?? '');
    await at.request('GET', link, undefined, { key: null });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await at.request('POST', link, 'answer=allow', { key: null, headers: form })).status).toBe(200);
    const call = await tools.invocation(0);
    made.push(new URL(call.callback_url).pathname.split('/').at(-1) ?? '');
    await tools.send(call, { type: 'view_update', view_type: 'board', content: { words: says('view') } });
    await tools.send(call, { type: 'tool_result', text: { wrong: says('unreadable') } });
    const question = { prompt: says('question'), choices: [says('option'), 'no'], default: 1 };
    await tools.send(call, { type: 'user_choice', ...question, response_url: `${tools.url}/answers` });
    const asked = await waiting(thread, 'choice');
    await post(`/v1/threads/${thread}/choices/${asked.id}`, { selected: 0 });
    await eventually(async () => tools.posts('/answers').length > 0);
    await tools.send(call, { type: 'oauth', auth_url: `https://login.example/?state=${hides('login')}` });
    await untilEvent(at, thread, 'oauth_requested');
    const display_as = [{ type: 'text', content: says('display') }];
    const result = { type: 'tool_result', content: [{ type: 'text', text: says('result') }], display_as };
    expect((await tools.send(call, result)).status).toBe(200);
    await untilStatus(at, thread, 'idle');
  }

  async function listen(thread: string): Promise<void> {
    await tell(thread, 'use watch');
    const call = await tools.invocation(1);
    await tools.send(call, { type: 'tool_result', text: 'watching', subscription: true });
    await untilEvent(at, thread, 'subscription_opened');
    await tools.send(call, { type: 'subscription_event', text: says('event'), associative: true });
    await untilEvent(at, thread, 'subscription_event_received');
    await tools.send(call, { type: 'subscription_event', text: says('child-event') });
    const { child_id: child } = await untilEvent(at, thread, 'child_spawned');
    await untilEvent(at, child, 'completion_recorded');
    await post(`/v1/threads/${thread}/events`, { source: says('origin'), id: says('event-id'), text: says('outside') });
    await untilEvent(at, thread, 'external_event_received');
    await untilStatus(at, thread, 'idle');
  }

  /** What fails, and what is refused. */
  async function fail(thread: string): Promise<void> {
    broken.answers(answersWith(400, { error: { message: says('model-error'), type: 'invalid_request_error' } }));
    const model = { provider: 'openai-compatible', name: 'm', base_url: `${broken.url}/v1` };
    await post('/v1/agents', { name: 'broken', model, tool_servers: [] });
    const failing = await openThread(at, 'broken', { message: { text: says('to-a-broken-model') } });
    await untilEvent(at, failing, 'completion_failed');
    tools.replies('/invoke', status(422, says('tool-error')));
    await tell(thread, 'use watch');
    await untilStatus(at, thread, 'idle');
    tools.replies('/invoke', status(200));
    const wrong = await recordToolServer(at, {});
    wrong.publish({ name: says('bad-name'), endpoint: says('bad-endpoint'), tools: [{ name: says('bad-tool') }] });
    await at.request('POST', `/v1/tool-servers/${wrong.name}/probe`);
    await post('/v1/agents', { name: 'poor', model: played.model, tool_servers: [wrong.name] });
    await told(await openThread(at, 'poor'), says('without-tools'));
    await wrong.close();
    for (const [path, body] of [
      ['/v1/threads', { agent: says('no-agent') }],
      [`/v1/threads/${thread}/messages`, { text: 1, other: says('invalid') }],
      [`/v1/threads/${says('no-thread')}/messages`, { text: says('nowhere') }],
      [`/v1/tool-servers`, { name: 'x', base_url: `http://${says('no-host')}:1` }],
      [`/v1/threads/${thread}/messages`, `{"text": "${says('no-json')}`],
      [`/v1/choices/${says('no-choice')}`, { decision: 'allow' }],
    ] as const)
      expect((await at.request('POST', path, body)).status).toBeGreaterThanOrEqual(400);
    expect((await at.request('GET', '/v1/agents', undefined, { key: hides('no-key') })).status).toBe(401);
    const unknown = await at.request('POST', `/callback/${hides('no-callback')}`, { a: says('no-call') });
    expect(unknown.status).toBeGreaterThanOrEqual(400);
  }

  async function read(thread: string): Promise<void> {
    const ofThread = [
      ...['', '/messages', '/events?limit=200', '/commits', '/tool-calls', '/lineage', '/views', '/children'],
      ...['/choices', '/subscriptions', '/schedules'],
    ].map((path) => `/threads/${thread}${path}`);
    const ofTenant = [
      ...['/threads', '/events', '/agents', '/tool-servers', '/secrets', '/webhooks', '/sources', '/schedules'],
      ...['/choices', '/choices?status=settled', '/usage', '/audit', '/api-keys', '/parked'],
      ...[`/users/${user}/credentials`, `/tool-servers/${tools.name}`, `/threads?external_id=${says('external')}`],
    ];
    for (const path of [...ofThread, ...ofTenant]) await at.request('GET', `/v1${path}`);
  }

  return {
    tenant,
    async live() {
      watches('/v1/events');
      const agent = await settle();
      await hooks(agent);
      const named = { title: says('title'), external_id: says('external'), user_id: user };
      const thread = await openThread(at, agent, { ...named, metadata: { channel: says('metadata') } });
      watches(`/v1/threads/${thread}/events`);
      await work(thread);
      await listen(thread);
      await told(thread, `${says('large')} ${'x'.repeat(70_000)}`, { 'idempotency-key': says('idempotency') });
      await at.request('PATCH', `/v1/threads/${thread}`, { title: says('second-title') });
      await post(`/v1/threads/${thread}/schedules`, { cron: '0 9 * * 1', message: says('schedule') });
      const { token } = await post(`/v1/threads/${thread}/tokens`, { can: ['read'], user_id: says('token-user') });
      made.push(token);
      await at.request('GET', `/v1/threads/${thread}`, undefined, { key: token });
      await fail(thread);
      await post(`/v1/threads/${thread}/fork`, { position: 3 });
      await read(thread);
      await eventually(async () => receivers.every(({ posts }) => posts.length > 3));
      await post(`/v1/threads/${thread}/close`);
      await untilStatus(at, thread, 'closed');
    },
    seenAt: (place) => seen(place, { answers, streams, played: played.prompts, tools, receivers }),
    credentials: () => made,
    close: async () => {
      stopping.abort();
      await Promise.all([tools.close(), model.close(), broken.close()]);
      await Promise.all(receivers.map((receiver) => receiver.close()));
    },
  };
}

/** A system that keeps the answers of its requests. */
function recorded(at: System, answers: string[]): System {
  return {
    ...at,
    request: async (method, path, body, sent) => {
      const answer: Answer = await at.request(method, path, body, sent);
      answers.push([...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n'), answer.text);
      return answer;
    },
  };
}

interface Kept {
  readonly answers: readonly string[];
  readonly streams: readonly string[];
  readonly played: readonly Json[];
  readonly tools: RecordingToolServer;
  readonly receivers: readonly WebhookReceiver[];
}

function seen(place: Place, { answers, streams, played, tools, receivers }: Kept): string {
  const texts: Readonly<Record<Place, readonly string[]>> = {
    answers,
    streams: [streams.join('')],
    prompts: played.map((prompt) => JSON.stringify(prompt)),
    'tool requests': tools.requests.map(({ path, bytes, headers: { authorization: _own, ...headers } }) =>
      [path, JSON.stringify(headers), bytes.toString('utf8')].join('\n'),
    ),
    webhooks: receivers.flatMap(({ posts }) =>
      posts.map(({ path, headers, text }) => [path, JSON.stringify(headers), text].join('\n')),
    ),
  };
  return texts[place].join('\n');
}

/** A model that does what the last message asks for. */
function answerOf(message: Json, says: (what: string) => string): readonly Step[] {
  const words = JSON.stringify(message?.content ?? '');
  const wished = message?.role === 'user' ? /use (\w+)/.exec(words)?.[1] : undefined;
  if (wished === undefined) return [{ text: says('answer') }];
  return [{ text: says('said') }, toolCall(wished, { what: says('argument') })];
}
