// What is attacked, and what the names of a plan stand for. Each round has registrations and threads of its own: what
// earlier cases did to theirs changes nothing, so a round can be repeated alone.
import { createHash } from 'node:crypto';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventually, openThread, scriptedAgent, type System, untilStatus } from '../e2e/conversation.ts';
import type { Json } from '../e2e/standalone-process.ts';
import type { Canary } from './canary.ts';
import type { NameReader } from './request-plan.ts';

/** The registrations of a round. */
interface Attacked {
  readonly server: RecordingToolServer;
  readonly agent: string;
  readonly asking: string;
  readonly fixed: ReadonlyMap<string, string>;
}

const callsMax = 60;
const blob = 'a text that is long enough to be kept beside the log '.repeat(1_500);

/** Registers what is attacked, in the tenant that attacks. */
async function registered(at: System, round: number): Promise<Attacked> {
  const [secretName, sourceName] = [`fuzz-secret-${round}`, `fuzz-source-${round}`];
  const server = await recordToolServer(at);
  const calls = Array.from({ length: callsMax }, (_, index) => [
    { tool_call: { name: 'work', arguments: { what: String(index) } } },
  ]);
  const limits = { completions_per_wake_max: 1_000 };
  const agent = await scriptedAgent(at, calls, { tool_servers: [server.name], limits });
  const policies = { approve: { mode: 'all' } };
  const asking = await scriptedAgent(at, calls, { tool_servers: [server.name], limits, policies });
  await made(at, 'PUT', `/v1/secrets/${secretName}`, { value: 'fuzz' });
  const spare = await made(at, 'POST', '/v1/api-keys', { name: 'spare', scopes: ['read'] });
  const webhook = await made(at, 'POST', '/v1/webhooks', { url: 'https://hooks.example/x', events: ['thread.closed'] });
  const hook = { kind: 'github', secret: secretName, agent, key: '/id', message: 'x' };
  const source = await made(at, 'POST', '/v1/sources', { name: sourceName, ...hook });
  const names: Readonly<Record<string, string>> = {
    ...{ key: at.key, agent, tools: server.name, 'tools.url': server.url, secret: secretName, user: 'fuzz-user' },
    'source.path': new URL(source.url).pathname,
    ...{ 'key.spare': spare.id, webhook: webhook.id, source: sourceName, 'tenant.other': 'beside', one: '1' },
    ...{ none: 'none', external: 'fuzz-chat', 'thread.unknown': 'thr_01KE6HWA00J3Q7ZVY6M4T8C2PD' },
    ...{ blob: createHash('sha256').update(blob).digest('hex'), 'host.api': new URL(at.url).host },
  };
  return { server, agent, asking, fixed: new Map(Object.entries(names)) };
}

async function made(at: System, method: string, path: string, body: object): Promise<Json> {
  const answer = await at.request(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.text === '' ? {} : answer.json;
}

export interface Attack {
  readonly names: NameReader;
  close(): Promise<void>;
}

/** What one round attacks, and what its names stand for. */
export async function beginAttack(at: System, round: number, same: Canary, other: Canary): Promise<Attack> {
  const { server, agent, asking, fixed } = await registered(at, round);
  const own = await openThread(at, agent, { user_id: 'fuzz-user' });
  const callsOf = (thread: string): readonly Json[] =>
    server.invocations().flatMap(({ json }) => (json.group_id === thread ? [json] : []));
  await made(at, 'POST', `/v1/threads/${own}/messages`, { text: blob });
  const settled = await eventually(async () => callsOf(own)[0]);
  await server.send(settled, { type: 'tool_result', text: 'first' });
  await eventually(async () => callsOf(own).length > 1);
  const [questioned, quiet, closed] = await Promise.all([
    openThread(at, asking),
    openThread(at, agent),
    openThread(at, agent),
  ]);
  await made(at, 'POST', `/v1/threads/${questioned}/messages`, { text: 'go' });
  const choice = await eventually(
    async () => (await at.request('GET', `/v1/threads/${questioned}/choices`)).json.data[0],
  );
  await made(at, 'POST', `/v1/threads/${closed}/close`, {});
  await untilStatus(at, closed, 'closed');
  const can = ['read', 'message', 'answer'];
  const token = await made(at, 'POST', `/v1/threads/${own}/tokens`, { can, ttl_s: 3_600 });
  const schedule = { cron: '0 9 1 1 *', time_zone: 'Europe/Vienna', message: 'x', missed: 'skip' };
  await made(at, 'POST', `/v1/threads/${own}/schedules`, schedule);
  const { id: scheduled } = await eventually(
    async () => (await at.request('GET', `/v1/threads/${own}/schedules`)).json.data[0],
  );
  const known = new Map<string, string>([
    ...fixed,
    ...Object.entries({
      ...{
        thread: own,
        'thread.own': own,
        'thread.asking': questioned,
        'thread.quiet': quiet,
        'thread.closed': closed,
      },
      ...{ 'thread.same': same.thread, 'thread.other': other.thread, 'call.same': same.call, 'call.other': other.call },
      ...{ choice: choice.id, 'token.thread': token.token, 'token.id': token.id, schedule: scheduled },
      'host.callback': new URL(settled.callback_url).host,
      'callback.settled': tokenOf(settled),
      'callback.tampered': tampered(tokenOf(settled)),
    }),
  ]);
  const names: NameReader = (name) => {
    const open = callsOf(own).at(-1); // results open further calls
    if (name === 'call.own') return open.id;
    if (name === 'callback.own') return tokenOf(open);
    const found = known.get(name);
    if (found === undefined) throw new Error(`{{${name}}} stands for nothing`);
    return found;
  };
  return { names, close: () => server.close() };
}

const tokenOf = (call: Json): string => String(call.callback_url).split('/callback/')[1] ?? '';

/** One character of it is another. */
const tampered = (token: string): string => {
  const at = Math.floor(token.length / 2);
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
};
