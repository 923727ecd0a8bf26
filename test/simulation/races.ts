// One call of one thread in a small installation of the real services over the memory world, and the events of that
// call through the real gateways: in the order that a spec wants, with the process dying in between. Time stands still
// between two steps.
import {
  createManualClock,
  createMemoryWorld,
  createSeededEntropy,
  type Gate,
  type ManualClock,
  type MemoryWorld,
  plainSealer,
} from '@dormouse/adapter-memory';
import {
  tenantId,
  type Logger,
  type Model,
  type ModelPart,
  type SendRequest,
  type ThreadKey,
  type ToolTransport,
} from '@dormouse/ports';
import {
  type CallbackGateway,
  createCallbackGateway,
  createCallbackTokens,
  createIngress,
  createNotifier,
  createThreadProcessor,
  createToolDispatcher,
  type Ingress,
  openCommit,
  type Service,
} from '@dormouse/runtime';
import { agentOf, toolServerOf } from '@dormouse/testing';
import { defaultLimits, defaultPolicies, type RecordedEvent } from '@dormouse/thread';

export type Happening = keyof typeof happenings;

/** The outcome: the log, everything that a tool server got, and the answers its callbacks got. */
export interface Ending {
  readonly events: readonly RecordedEvent[];
  readonly posts: readonly SendRequest[];
  readonly statuses: readonly number[];
}

const tenant = tenantId('acme');
const baseUrl = 'https://tools.test';
const tokens = createCallbackTokens({
  keys: [{ id: 'k1', secret: new Uint8Array(32).fill(7), since: 0, revoked: false }],
  publicBase: 'https://dormouse.test',
});
const toolTimeoutMs = 60_000;

/** One after the other, with so much time between them, then until nothing more can follow. */
export async function race(
  order: readonly Happening[],
  topology: MemoryWorld['topology'],
  pauseMs: number,
): Promise<Ending> {
  const scene = await createScene(topology);
  for (const name of order) {
    await happenings[name](scene);
    await scene.clock.advance(pauseMs);
  }
  await scene.clock.advance(3 * toolTimeoutMs);
  return { events: scene.events(), posts: scene.posts, statuses: scene.statuses };
}

interface Scene {
  readonly clock: ManualClock;
  readonly key: ThreadKey;
  readonly posts: readonly SendRequest[];
  readonly statuses: number[];
  readonly serving: () => Serving;
  readonly events: () => readonly RecordedEvent[];
  readonly restart: () => Promise<void>;
}

interface Serving {
  readonly ingress: Ingress;
  readonly gateway: CallbackGateway;
  readonly services: readonly Service[];
}

/** The one call's id. */
const callOf = ({ events }: Scene): string => {
  const requested = events().find((event) => event.type === 'ToolCallRequested');
  if (requested?.type !== 'ToolCallRequested') throw new Error('nothing was called');
  return requested.toolCallId;
};

const origin = (path: string, idempotencyKey: string) => ({ tenant, method: 'POST', path, idempotencyKey });

/** A tool sends a message as soon as it knows its call, and never before. */
const callback =
  (message: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) =>
  async (scene: Scene): Promise<void> => {
    const invocation = scene.posts.find(({ url }) => url === `${baseUrl}/invoke`);
    if (invocation === undefined) return;
    const { id, group_id, callback_url } = JSON.parse(invocation.body) as Readonly<Record<string, string>>;
    const about = message['type'] === 'subscription_event' ? { tool_call_id: id } : { id };
    const body = JSON.stringify({ group_id, ...about, ...message });
    const token = callback_url?.split('/').at(-1) ?? '';
    const answer = scene.serving().gateway.receive(token, { contentType: 'application/json', headers, body });
    await scene.clock.advance(0);
    scene.statuses.push((await answer).status);
  };

/** A client's request, under one idempotency key. */
const request =
  (ask: 'close' | 'interrupt' | 'cancel_call') =>
  async (scene: Scene): Promise<void> => {
    const { key, serving, clock } = scene;
    const wish =
      ask === 'close'
        ? ({ ask } as const)
        : ask === 'interrupt'
          ? ({ ask, includeHuman: true } as const)
          : ({ ask, toolCallId: callOf(scene) } as const);
    const answer = serving().ingress.requests.post(key, wish, origin(`/${ask}`, ask));
    await clock.advance(0);
    await answer;
  };

const result = { type: 'tool_result', text: 'the result' };

const happenings = {
  result: callback(result),
  duplicate: callback({ ...result, text: 'another result' }),
  confirmation: callback({ ...result, subscription: true }),
  event: callback({ type: 'subscription_event', text: 'news', associative: true }, { 'webhook-id': 'evt_1' }),
  login: callback({ type: 'oauth', auth_url: 'https://login.test/' }),
  cancel: request('cancel_call'),
  interruption: request('interrupt'),
  close: request('close'),
  timeout: ({ clock }: Scene) => clock.advance(toolTimeoutMs + 2_000),
  restart: ({ restart }: Scene) => restart(),
  async approval({ key, serving, clock, events }: Scene): Promise<void> {
    const asked = events().find((event) => event.type === 'ChoiceRequested');
    if (asked?.type !== 'ChoiceRequested') return;
    const by = { actor: 'client', from: null, requestId: null };
    const answer = { answer: { answer: 'decision', decision: 'allow' }, reason: null, decidedBy: null, by } as const;
    const answered = serving().ingress.choices.answer(key, asked.choiceId, answer, origin('/choice', 'approval'));
    await clock.advance(10_000);
    await answered;
  },
} as const;

async function createScene(topology: MemoryWorld['topology']): Promise<Scene> {
  const clock = createManualClock();
  const dead = new Set<string>();
  const world = createMemoryWorld({ clock, topology, partitions: 1, gate: gateFor(dead) });
  world.durable.registry.toolServers.set(`${tenant}:tools`, toolServer);
  world.durable.registry.agents.push(agent);
  const posts: SendRequest[] = [];
  const statuses: number[] = [];
  let life = 1;
  const nodeOf = (which: number): string => `one.${which}`;
  let serving = await boot(world, clock, transportOf(nodeOf(life), dead, posts), nodeOf(life));
  const opened = serving.ingress.threads.open(tenant, opening, origin('/v1/threads', 'open'));
  await clock.advance(3_000);
  const answer = await opened;
  if (!answer.ok) throw new Error('the thread did not open');
  const [key] = world.threads();
  if (key === undefined) throw new Error('there is no thread');
  return {
    ...{ clock, key, posts, statuses },
    serving: () => serving,
    events: () => world.commits(key).flatMap((commit) => openCommit(commit).events),
    async restart() {
      const node = nodeOf(life);
      dead.add(node);
      world.durable.broker.forget(node);
      world.durable.broker.expire(node);
      life += 1;
      serving = await boot(world, clock, transportOf(nodeOf(life), dead, posts), nodeOf(life));
      await clock.advance(3_000);
    },
  };
}

/** An operation of a dead process never settles. */
const gateFor = (dead: ReadonlySet<string>): Gate => ({
  pass: (node, _operation, apply) => (dead.has(node) ? new Promise(() => {}) : Promise.resolve().then(apply)),
});

async function boot(world: MemoryWorld, clock: ManualClock, transport: ToolTransport, node: string): Promise<Serving> {
  const entropy = createSeededEntropy(1, node);
  const common = { ...world.ports(node, clock), clock, entropy, logger, transport };
  const services = [
    createThreadProcessor({ ...common, model, idKey: new Uint8Array(32).fill(3) }),
    createToolDispatcher({ ...common, callbackTokens: tokens }),
    createNotifier({ ...common, sealer: plainSealer }),
  ];
  for (const service of services) {
    const started = service.start();
    await clock.advance(0);
    await started;
  }
  const { inputs: bus, idempotency: idempotencyKeys } = common;
  const signingKey = new Uint8Array(32).fill(5);
  const auditSigner = { kid: 'unused', sign: () => '', keys: { keys: [] } };
  return {
    services,
    ingress: createIngress({
      ...common,
      ...{
        bus,
        idempotencyKeys,
        sealer: plainSealer,
        signingKey,
        auditSigner,
        callbackTokens: tokens,
        validateArguments: null,
      },
    }),
    gateway: createCallbackGateway({
      ...common,
      sealer: plainSealer,
      tokens,
      settings: { loginDeadlineMs: toolTimeoutMs },
    }),
  };
}

/** Calls once, then only talks. */
const model: Model = {
  async *complete({ ordinal }): AsyncIterable<ModelPart> {
    const usage = { inputTokens: 1, outputTokens: 1 };
    if (ordinal > 0) {
      yield { part: 'text', text: 'well' };
      return yield { part: 'finish', reason: 'stop', usage };
    }
    yield { part: 'tool_call', providerCallId: 'p1', operation: 'work', arguments: '{}' };
    return yield { part: 'finish', reason: 'tool_calls', usage };
  },
};

const manifest = JSON.stringify({
  name: 'tools',
  endpoint: `${baseUrl}/invoke`,
  tools: [{ name: 'work', description: 'Works.', inputSchema: { type: 'object' } }],
});

const transportOf = (node: string, dead: ReadonlySet<string>, posts: SendRequest[]): ToolTransport => ({
  get: () => Promise.resolve({ ok: true, status: 200, body: manifest }),
  judge: () => Promise.resolve({ ok: true }),
  post: (request) => {
    if (dead.has(node)) return new Promise(() => {});
    posts.push(request);
    return Promise.resolve({ sent: true, status: 200, retryAfterMs: null });
  },
});

const logger: Logger = {
  info: () => {},
  warn: () => {},
  error: (event, fields) => {
    throw new Error(`${event} ${JSON.stringify(fields)}`);
  },
};

const opening = {
  agent: 'worker',
  agentVersion: null,
  userId: null,
  title: null,
  externalId: null,
  ifExists: null,
  metadata: {},
  message: [{ type: 'text', text: 'work' }],
} as const;

const toolServer = toolServerOf({ tenant, baseUrl });

const agent = agentOf({
  tenant,
  policies: { ...defaultPolicies, approve: { mode: 'all', tools: {} } },
  limits: { ...defaultLimits, toolTimeoutMs: { default: toolTimeoutMs } },
});
