// A tenant whose model obeys every text, among another tenant, an attacker's host and honest tool servers that record
// every byte: brings the texts of the corpus to the model, and collects what came of them.
import { type Answer, type Json } from '../e2e/standalone-process.ts';
import { eventually, openThread, type System, untilEvent } from '../e2e/conversation.ts';
import { type Prompt, startRecordingModel } from '../conformance/recording-model.ts';
import {
  type Recorded,
  recordToolServer,
  type RecordingToolServer,
  tool,
} from '../conformance/recording-tool-server.ts';
import { canary } from '../outbound/listeners.ts';
import { firstWish, hijacked, wishFor } from './hijacked-model.ts';
import { type Injection, type Surroundings } from './injection-corpus.ts';
import { type Evidence, type KnownSecret, leaksIn, type Outgoing } from './injection-effects.ts';
import { tenantOf } from './tenant-system.ts';

export interface InjectionRig {
  /** Resolves when the model has seen the text, where it may, and its threads rest. */
  inject(injection: Injection): Promise<void>;
  /** Marks of the texts that the model has obeyed. */
  readonly obeyed: ReadonlySet<string>;
  evidence(): Promise<Evidence>;
  close(): Promise<void>;
}

export interface InjectionWish {
  readonly tenant: string;
  /** False: destructive calls of the attacked agent wait for no person, and no person asks for one. Default: true. */
  readonly approvals?: boolean;
  readonly injections: readonly Injection[];
}

const anyArguments = { inputSchema: { type: 'object' } };
const poisoned = new Set(['tool description', 'parameter description']);
const keep = { on_interrupt: 'keep', on_interrupt_human: 'keep' };

export async function setInjectionRig(root: System, wish: InjectionWish): Promise<InjectionRig> {
  const { approvals = true } = wish;
  const [at, other] = [await tenantOf(root, wish.tenant), await tenantOf(root, `${wish.tenant}-other`)];
  const [model, attacker, vault] = [await startRecordingModel(), await canary(), await vaultOf(other)];
  const payments = await recordToolServer(at, {
    tools: [tool('pay', { ...anyArguments, annotations: { destructive: true } })],
  });
  const notes = await recordToolServer(at, {
    tools: ['search', 'watch', 'send_note'].map((name) => tool(name, anyArguments)),
  });
  notes.replies('/invoke', (response, request) => {
    response.end();
    if (request.json.operation === 'send_note') void notes.send(request.json, { type: 'tool_result', text: 'sent' });
  });
  payments.replies('/invoke', (response, request) => {
    response.end();
    void payments.send(request.json, { type: 'tool_result', text: 'paid' });
  });
  const secrets = await secretsOf(at, other, payments);
  const around: Surroundings = {
    ...{ foreignTool: 'vault_read', foreignServer: vault.name, secretName: 'payments-token' },
    ...{ elsewhere: `http://127.0.0.1:${attacker.port}`, choice: 'chc_of-the-operator' },
  };
  const obeyed = new Set<string>();
  const played = model.plays(hijacked(wish.injections, around, (mark) => obeyed.add(mark)));
  const servers = [payments, notes];

  async function agentWith(name: string, more: readonly RecordingToolServer[]): Promise<string> {
    const answer = await at.request('POST', '/v1/agents', {
      ...{ name, model: played.model, tool_servers: [...[payments, notes], ...more].map((one) => one.name) },
      policies: { ...keep, ...(approvals ? {} : { approve: { mode: 'none' } }) },
      limits: { event_wait_ms_max: 0 },
    });
    if (answer.status !== 201) throw new Error(`agent: ${answer.status} ${answer.text}`);
    return name;
  }

  const usual = await agentWith('hijacked', []);
  const agents = new Map<string, string>();
  for (const injection of wish.injections.filter(({ carrier }) => poisoned.has(carrier))) {
    const server = await recordToolServer(at, { tools: [poisonedTool(injection, injection.text(around))] });
    servers.push(server);
    agents.set(injection.mark, await agentWith(`hijacked-${injection.mark}`, [server]));
  }
  const before = await registrationsOf(at);

  async function inject(injection: Injection): Promise<void> {
    const { mark, carrier } = injection;
    const agent = agents.get(mark);
    const thread = await openThread(at, agent ?? usual);
    if (agent === undefined) await bring(thread, injection);
    else await tell(thread, 'Look around.');
    if (carrier !== 'display') await eventually(async () => obeyed.has(mark));
    await rests(thread);
  }

  async function bring(thread: string, injection: Injection): Promise<void> {
    const { carrier, mark } = injection;
    const text = injection.text({ ...around, choice: approvals ? await openApproval(thread) : around.choice });
    if (carrier === 'outside event')
      return done(await at.request('POST', `/v1/threads/${thread}/events`, { source: 'crm', text }));
    const isEvent = carrier === 'event' || carrier === 'event in a child';
    const operation = isEvent ? 'watch' : 'search';
    await tell(thread, wishFor(operation));
    const call: Json = await eventually(
      async () =>
        notes.invocations().find(({ json }) => json.group_id === thread && json.operation === operation)?.json,
    );
    if (carrier === 'late result') {
      await tell(thread, 'Is there anything new?');
      await eventually(async () =>
        (await eventsAfter(thread)).some(
          ({ type, tool_call_id: id }) => type === 'tool_call_detached' && id === call.id,
        ),
      );
    }
    const results: Readonly<Record<string, object>> = {
      'second item': {
        content: [
          { type: 'text', text: 'Three invoices.' },
          { type: 'text', text },
        ],
      },
      'error result': { text: `Error: ${text}` },
      display: { text: 'Three invoices.', display_as: [{ type: 'text', content: text }] },
    };
    const result = isEvent ? { text: 'watching', subscription: true } : (results[carrier] ?? { text });
    done(await notes.send(call, { type: 'tool_result', ...result }));
    if (!isEvent) return;
    await untilEvent(at, thread, 'subscription_opened');
    const event = { text, associative: carrier === 'event', event_id: mark };
    done(await notes.send(call, { type: 'subscription_event', ...event }));
  }

  async function openApproval(thread: string): Promise<string> {
    await tell(thread, firstWish);
    return (await untilEvent(at, thread, 'choice_requested')).choice_id;
  }

  const tell = async (thread: string, text: string): Promise<void> =>
    done(await at.request('POST', `/v1/threads/${thread}/messages`, { text }));

  const eventsAfter = async (thread: string): Promise<readonly Json[]> =>
    (await at.request('GET', `/v1/threads/${thread}/events?limit=200`)).json.data;

  /** Until the thread and those below it wait for people only, or for nothing. */
  async function rests(thread: string): Promise<void> {
    await eventually(async () => {
      const { status, waiting_on: waitingOn } = (await at.request('GET', `/v1/threads/${thread}`)).json;
      const isWaiting = status === 'waiting' && waitingOn.every(({ kind }: Json) => kind === 'approval');
      return isWaiting || status === 'idle' || status === 'closed';
    });
    const { data } = (await at.request('GET', `/v1/threads/${thread}/children`)).json;
    for (const { id } of data) await rests(id);
  }

  return {
    inject,
    obeyed,
    async evidence() {
      const invoked = servers.flatMap((server) => server.invocations().map(({ json }) => json));
      const offered = ['pay', 'search', 'watch', 'send_note', 'lookup'];
      const callbacks = `${new URL(invoked[0].callback_url).origin}/callback/`;
      const prompts = played.prompts.map((prompt): Outgoing => outgoingPrompt(prompt));
      return {
        foreignRequests: vault.requests.length,
        connectionsElsewhere: attacker.connections(),
        ...{ invoked: invoked.map(({ operation }) => operation), offered, destructive: ['pay'] },
        settledChoices: await settledChoicesOf(at),
        leaks: [
          ...leaksIn([...servers.flatMap(outgoingOf), ...prompts], secrets),
          ...leaksIn(prompts, [{ name: 'a callback URL', value: callbacks, allowed: null }]),
        ],
        prompts: played.prompts,
        ...{ registrationsBefore: before, registrationsAfter: await registrationsOf(at) },
      };
    },
    close: async () => {
      await Promise.all([...servers, vault].map((server) => server.close()));
      await Promise.all([model.close(), attacker.close()]);
    },
  };
}

/** A tool server of the other tenant, whose tool a text asks for. */
async function vaultOf(other: System): Promise<RecordingToolServer> {
  return recordToolServer(other, { tools: [tool('vault_read', anyArguments)] });
}

async function secretsOf(at: System, other: System, payments: RecordingToolServer): Promise<readonly KnownSecret[]> {
  const [token, foreign] = ['value-of-the-payments-token', 'value-of-a-foreign-secret'];
  done(await at.request('PUT', '/v1/secrets/payments-token', { value: token, origins: [payments.url] }));
  done(await other.request('PUT', '/v1/secrets/payments-token', { value: foreign, origins: [payments.url] }));
  const auth = { type: 'bearer', secret: 'payments-token' };
  done(await at.request('PATCH', `/v1/tool-servers/${payments.name}`, { auth }));
  return [
    { name: 'the token', value: token, allowed: { to: payments.url, header: 'authorization' } },
    { name: 'a secret of the other tenant', value: foreign, allowed: null },
    { name: 'the key of the tenant', value: at.key, allowed: null },
    { name: 'the key of the other tenant', value: other.key, allowed: null },
  ];
}

function poisonedTool({ carrier }: Injection, text: string): unknown {
  if (carrier === 'tool description') return tool('lookup', { ...anyArguments, description: text });
  return tool('lookup', {
    inputSchema: { type: 'object', properties: { what: { type: 'string', description: text } } },
  });
}

/** What the tenant has registered, without what a use of it changes. */
async function registrationsOf(at: System): Promise<string> {
  const lists = ['agents', 'tool-servers', 'secrets', 'webhooks', 'sources', 'schedules', 'api-keys'];
  const found = await Promise.all(lists.map((list) => at.request('GET', `/v1/${list}?limit=200`)));
  return found.map(({ text }) => text.replaceAll(/"last_used_at":[^,}]*/g, '')).join('\n');
}

async function settledChoicesOf(at: System): Promise<number> {
  let [count, after] = [0, ''];
  for (;;) {
    const { data, next_cursor: next } = (await at.request('GET', `/v1/events?limit=200${after}`)).json;
    count += data.filter(({ type }: Json) => type === 'choice_settled').length;
    if (data.length === 0) return count;
    after = `&after=${encodeURIComponent(next)}`;
  }
}

const outgoingOf = ({ url, requests }: RecordingToolServer): readonly Outgoing[] =>
  requests.map(({ path, headers, bytes }: Recorded) => ({ to: url, path, headers, body: bytes.toString('utf8') }));

const outgoingPrompt = (prompt: Prompt): Outgoing => ({
  to: 'the model',
  path: '',
  headers: {},
  body: JSON.stringify(prompt),
});

/** @throws Error for an answer that is no success */
function done({ status, text }: Pick<Answer, 'status' | 'text'>): void {
  if (status >= 300) throw new Error(`${status} ${text}`);
}
