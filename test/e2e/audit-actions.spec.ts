// Every action of the audit that a client or the platform can bring about, each provoked for real: its row says who did
// it, to what, from where, with which outcome and in which request. What the runtime writes by itself is here too.
import type { AuditRow } from '@dormouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformKey } from '../isolation/tenant-system.ts';
import { eventually, openThread, say, scriptedAgent, type System } from './conversation.ts';
import { driveToolServer, type DrivenToolServer, toolCall } from './driven-tool-server.ts';
import type { Answer, Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';
import { answerWith, endReceivers, startReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const tenant = 'audited';
const scopes = ['read', 'threads:write', 'approvals:write', 'tenant:admin'];

let installation: System;
let first: string;
/** As a key of the tenant that this spec made, so that its id is known. */
let at: System;
let keyId: string;
let tools: DrivenToolServer;
let receiver: WebhookReceiver;
let agent: string;

beforeAll(async () => {
  installation = await startSystem({ DORMOUSE_PLATFORM_KEY: platformKey });
  first = (await platform('POST', '', { id: tenant })).json.key;
  const made = await installation.request('POST', '/v1/api-keys', { name: 'auditor', scopes }, { key: first });
  keyId = made.json.id;
  const { key } = made.json;
  at = {
    ...installation,
    key,
    request: (method, path, body, sent) => installation.request(method, path, body, { key, ...sent }),
  };
  tools = await driveToolServer(at);
  const policies = { approve: { mode: 'all' } };
  agent = await scriptedAgent(at, [[toolCall('work', {})], [{ text: 'done' }]], {
    policies,
    tool_servers: [tools.name],
  });
  receiver = await startReceiver(answerWith(410));
});
afterAll(async () => {
  await tools.close();
  await endReceivers();
  await endSystems();
});

const platform = (method: string, path: string, body?: unknown): Promise<Answer> =>
  installation.request(method, `/v1/tenants${path}`, body, { key: platformKey });

async function send(method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await at.request(method, path, body);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer;
}

/** What was done, and to what. */
interface Done {
  readonly answer: Answer | null;
  readonly target: string | null;
  /** Default: the key of this spec. */
  readonly actor?: string;
  /** Default: `done`. */
  readonly outcome?: string;
}

const done = (answer: Answer, target: string | null, more: Partial<Done> = {}): Done => ({ answer, target, ...more });
const byPlatform = { actor: 'platform' };

/** A thread whose call waits for an approval, and the choice. */
async function asking(): Promise<{ readonly thread: string; readonly choice: string; readonly call: string }> {
  const thread = await openThread(at, agent);
  const [waiting] = (await say(at, thread, 'work')).waiting_on;
  const [call] = (await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data;
  return { thread, choice: waiting.id, call: call.tool_call_id };
}

let names = 0;
const fresh = (): string => `audited-${++names}`;

async function key(): Promise<Json> {
  return (await send('POST', '/v1/api-keys', { name: fresh(), scopes: ['read'] })).json;
}
async function secret(): Promise<string> {
  const name = fresh();
  await send('PUT', `/v1/secrets/${name}`, { value: 'v', origins: ['https://a.example'] });
  return name;
}
async function toolServer(): Promise<string> {
  const name = fresh();
  await send('POST', '/v1/tool-servers', { name, base_url: 'https://tools.example' });
  return name;
}
async function webhook(): Promise<string> {
  return (await send('POST', '/v1/webhooks', { url: receiver.url, events: ['thread.closed'] })).json.id;
}
async function source(): Promise<string> {
  const name = fresh();
  const fields = { kind: 'github', secret: await secret(), agent, key: '/id', message: 'An issue.' };
  await send('POST', '/v1/sources', { name, ...fields });
  return name;
}
async function schedule(): Promise<string> {
  const name = fresh();
  const fields = { cron: '0 9 * * *', time_zone: 'UTC', agent, message: 'Good morning.', missed: 'skip' };
  await send('POST', '/v1/schedules', { name, ...fields });
  return name;
}
async function threadToken(): Promise<{ readonly thread: string; readonly id: string; readonly answer: Answer }> {
  const thread = await openThread(at, agent);
  const answer = await send('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], ttl_s: 60 });
  return { thread, id: answer.json.id, answer };
}

type Provoke = () => Promise<Done>;

const provoked: Readonly<Record<string, Provoke>> = {
  'key.created': async () => {
    const answer = await send('POST', '/v1/api-keys', { name: fresh(), scopes: ['read'] });
    return done(answer, answer.json.id);
  },
  'key.rerolled': async () => {
    const { id } = await key();
    return done(await send('POST', `/v1/api-keys/${id}/reroll`, { overlap_s: 0 }), id);
  },
  'key.revoked': async () => {
    const { id } = await key();
    return done(await send('DELETE', `/v1/api-keys/${id}`), id);
  },
  'auth.failed': async () => {
    const made = await key();
    await send('DELETE', `/v1/api-keys/${made.id}`);
    const answer = await eventually(async () => {
      const used = await installation.request('GET', '/v1/agents', undefined, { key: made.key });
      return used.status === 401 && used;
    });
    return done(answer, null, { actor: made.id, outcome: 'revoked' });
  },
  'auth.forbidden': async () => {
    const made = await key();
    const answer = await installation.request('GET', '/v1/audit', undefined, { key: made.key });
    return done(answer, null, { actor: made.id, outcome: 'This key lacks the scope tenant:admin.' });
  },
  'secret.set': async () => {
    const name = fresh();
    return done(await send('PUT', `/v1/secrets/${name}`, { value: 'v', origins: ['https://a.example'] }), name);
  },
  'secret.deleted': async () => {
    const name = await secret();
    return done(await send('DELETE', `/v1/secrets/${name}`), name);
  },
  'credential.set': async () => {
    const path = `/v1/users/ann/credentials/${tools.name}`;
    return done(await send('PUT', path, { type: 'bearer', value: 'v' }), `ann/${tools.name}`);
  },
  'credential.deleted': async () => {
    const path = `/v1/users/ben/credentials/${tools.name}`;
    await send('PUT', path, { type: 'bearer', value: 'v' });
    return done(await send('DELETE', path), `ben/${tools.name}`);
  },
  'agent.created': async () => {
    const name = fresh();
    return done(await send('POST', '/v1/agents', { name, model: { provider: 'demo' } }), name);
  },
  'agent.deleted': async () => {
    const name = fresh();
    await send('POST', '/v1/agents', { name, model: { provider: 'demo' } });
    return done(await send('DELETE', `/v1/agents/${name}`), name);
  },
  'tool_server.created': async () => {
    const name = fresh();
    return done(await send('POST', '/v1/tool-servers', { name, base_url: 'https://tools.example' }), name);
  },
  'tool_server.changed': async () => {
    const name = await toolServer();
    return done(await send('PATCH', `/v1/tool-servers/${name}`, { base_url: 'https://other.example' }), name);
  },
  'tool_server.deleted': async () => {
    const name = await toolServer();
    return done(await send('DELETE', `/v1/tool-servers/${name}`), name);
  },
  'choice.allowed': async () => {
    const { choice } = await asking();
    const answer = await send('POST', `/v1/choices/${choice}`, { decision: 'allow' });
    return done(answer, choice, { outcome: 'answered' });
  },
  'choice.denied': async () => {
    const { choice } = await asking();
    const answer = await send('POST', `/v1/choices/${choice}`, { decision: 'deny', reason: 'Not now.' });
    return done(answer, choice, { outcome: 'answered' });
  },
  'choice.assigned': async () => {
    const { choice } = await asking();
    return done(await send('PATCH', `/v1/choices/${choice}`, { assignees: ['ann'] }), choice);
  },
  'link.created': async () => {
    const { choice } = await asking();
    const answer = await send('POST', `/v1/choices/${choice}/links`, { for: 'ann', ttl_s: 60 });
    return done(answer, answer.json.id);
  },
  'token.created': async () => {
    const { id, answer } = await threadToken();
    return done(answer, id);
  },
  'token.revoked': async () => {
    const { thread, id } = await threadToken();
    return done(await send('DELETE', `/v1/threads/${thread}/tokens/${id}`), id);
  },
  'tool_call.sent': async () => {
    const { thread, choice, call } = await asking();
    await send('POST', `/v1/choices/${choice}`, { decision: 'allow' });
    return { answer: null, target: call, actor: thread, outcome: 'sent' };
  },
  'tool_call.cancelled': async () => {
    const { thread, call } = await asking();
    return done(await send('POST', `/v1/threads/${thread}/tool-calls/${call}/cancel`), call);
  },
  'webhook.created': async () => {
    const answer = await send('POST', '/v1/webhooks', { url: receiver.url, events: ['thread.closed'] });
    return done(answer, answer.json.id);
  },
  'webhook.changed': async () => {
    const id = await webhook();
    return done(await send('PATCH', `/v1/webhooks/${id}`, { events: ['thread.idle'] }), id);
  },
  'webhook.rotated': async () => {
    const id = await webhook();
    return done(await send('POST', `/v1/webhooks/${id}/rotate`), id);
  },
  'webhook.deleted': async () => {
    const id = await webhook();
    return done(await send('DELETE', `/v1/webhooks/${id}`), id);
  },
  'webhook.disabled': async () => {
    const id = await webhook();
    await send('POST', `/v1/webhooks/${id}/test`); // the receiver answers 410
    const detail = await eventually(async () => {
      const { data } = (await at.request('GET', '/v1/webhooks')).json;
      return data.find((each: Json) => each.id === id && each.state === 'disabled')?.problems[0].detail as string;
    });
    return { answer: null, target: id, actor: 'notifier', outcome: detail };
  },
  'source.created': async () => {
    const name = fresh();
    const fields = { kind: 'github', secret: await secret(), agent, key: '/id', message: 'An issue.' };
    return done(await send('POST', '/v1/sources', { name, ...fields }), name);
  },
  'source.deleted': async () => {
    const name = await source();
    return done(await send('DELETE', `/v1/sources/${name}`), name);
  },
  'schedule.created': async () => {
    const name = fresh();
    const fields = { cron: '0 9 * * *', time_zone: 'UTC', agent, message: 'Good morning.', missed: 'skip' };
    return done(await send('POST', '/v1/schedules', { name, ...fields }), name);
  },
  'schedule.deleted': async () => {
    const name = await schedule();
    return done(await send('DELETE', `/v1/schedules/${name}`), name);
  },
  'tenant.changed': async () => done(await platform('PATCH', `/${tenant}`, { weight: 2 }), tenant, byPlatform),
  'tenant.suspended': async () => {
    const answer = await platform('PATCH', `/${tenant}`, { state: 'suspended' });
    await platform('PATCH', `/${tenant}`, { state: 'active' });
    return done(answer, tenant, byPlatform);
  },
  'tenant.resumed': async () => {
    await platform('PATCH', `/${tenant}`, { state: 'suspended' });
    return done(await platform('PATCH', `/${tenant}`, { state: 'active' }), tenant, byPlatform);
  },
  'audit.exported': async () => done(await send('GET', '/v1/audit/export'), null),
};

/** The newest row of an action. A suspension is over everywhere within a second. */
const rowOf = (action: string, target: string | null): Promise<AuditRow> =>
  eventually(async () => {
    const { status, json } = await at.request('GET', `/v1/audit?limit=50&order=desc&action=${action}`);
    if (status === 403) return undefined;
    return (json.data as readonly AuditRow[]).find((row) => row.target === target);
  });

describe('the audit has', () => {
  it('more than twenty-five actions that are provoked here', () => {
    expect(Object.keys(provoked).length).toBeGreaterThan(25);
  });

  it.each(Object.entries(provoked))(
    '%s: who, what, from where, with which outcome and request',
    async (action, act) => {
      const { answer, target, actor = keyId, outcome = 'done' } = await act();
      const row = await rowOf(action, target);
      expect(row).toMatchObject({ action, actor, target, outcome });
      expect(row.from).toBe(answer === null ? null : '127.0.0.1');
      expect(row.request_id).toBe(answer?.headers.get('x-request-id') ?? null);
      expect(Math.abs(Date.parse(row.at) - Date.now())).toBeLessThan(60_000);
      expect(row.hash).toMatch(/^[0-9a-f]{64}$/);
    },
  );
});
