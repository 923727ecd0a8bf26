// A rig for specs: one memory world, a model that plays lines, a recorded work bus, processors that come and go.
import {
  createManualClock,
  createMemoryWorld,
  createSeededEntropy,
  type Gate,
  type ManualClock,
  type MemoryPorts,
  type MemoryWorld,
  type Topology,
} from '@dormouse/adapter-memory';
import {
  tenantId,
  type Agent,
  type Commit,
  type InputBus,
  type Logger,
  type Metrics,
  type Model,
  type ModelPart,
  type ModelRequest,
  type ThreadKey,
  type ThreadRow,
  type WorkTopics,
} from '@dormouse/ports';
import {
  defaultLimits,
  defaultPolicies,
  inputIds,
  type LoadedToolset,
  type Policies,
  type ThreadInput,
  text,
} from '@dormouse/thread';
import { openCommit } from '../../log/envelope.ts';
import { hashKeyOf } from '../../log/keyed-hash.ts';
import { measuredProcessorPorts } from '../../metrics/measured-processor.ts';
import type { Service } from '../../service.ts';
import { limitsOver } from '../../tenants/spec/limits-over.ts';
import type { ProcessorProtocol } from '../rules/protocol.ts';
import type { ProcessorSettings } from '../settings.ts';
import { createThreadProcessor } from '../thread-processor.ts';

export const key: ThreadKey = { tenant: tenantId('acme'), thread: 'thr_1' };
const secret = new TextEncoder().encode('a key for specs');
export const idKey = hashKeyOf(secret);

/** What the model does when asked; the default says `ok`. */
export type Play = (request: ModelRequest) => AsyncIterable<ModelPart>;
export type Dispatch = WorkTopics['dispatches'];

export interface RigOptions {
  readonly topology?: Topology;
  readonly gate?: Gate;
  readonly play?: Play;
  readonly policies?: Partial<Policies>;
  /** The processor's ports are measured. */
  readonly metrics?: Metrics;
  /** The processor looks whether a tenant is suspended, and what its quotas are. */
  readonly hasTenants?: boolean;
}

export interface Actor {
  readonly service: Service;
  readonly ports: MemoryPorts;
}

export interface Rig {
  readonly clock: ManualClock;
  readonly world: MemoryWorld;
  readonly asked: ModelRequest[];
  readonly dispatched: Dispatch['effect'][];
  readonly noticed: WorkTopics['notices']['effect'][];
  readonly lines: string[];
  processor(
    node: string,
    options?: {
      readonly protocol?: Partial<ProcessorProtocol>;
      readonly settings?: Partial<ProcessorSettings>;
      /** The bus that the processor consumes, where it is not the world's own. */
      readonly inputs?: (bus: InputBus) => InputBus;
    },
  ): Promise<Actor>;
  /** Types of all events so far. */
  told(thread?: ThreadKey): readonly string[];
  commits(thread?: ThreadKey): readonly Commit[];
}

const toolset: LoadedToolset = {
  toolServer: 'tools',
  name: 'tools',
  sha256: 'a'.repeat(64),
  tools: ['weather'],
  destructive: [],
  atMostOnce: [],
  stale: false,
};

export function createRig(options: RigOptions = {}): Rig {
  const clock = createManualClock();
  const world = createMemoryWorld({
    clock,
    topology: options.topology ?? 'standalone',
    ...(options.gate === undefined ? {} : { gate: options.gate }),
  });
  const asked: ModelRequest[] = [];
  const dispatched: Dispatch['effect'][] = [];
  const noticed: WorkTopics['notices']['effect'][] = [];
  const lines: string[] = [];
  const model: Model = {
    complete: (request) => {
      asked.push(request);
      return (options.play ?? says('ok'))(request);
    },
  };

  return {
    clock,
    world,
    asked,
    dispatched,
    noticed,
    lines,
    commits: (thread = key) => world.commits(thread),
    told: (thread = key) =>
      world.commits(thread).flatMap((commit) => openCommit(commit).events.map((event) => event.type)),
    processor: async (node, { protocol, settings, inputs } = {}) => {
      const ports = world.ports(node);
      await ports.agents.insert(agent);
      await ports.toolsets.put({
        tenant: key.tenant,
        sha256: toolset.sha256,
        manifest: JSON.stringify({ tools: [{ name: 'weather', description: 'w', inputSchema: { type: 'object' } }] }),
      });
      await ports.work.consume('dispatches', async ({ effect }) => void dispatched.push(effect));
      await ports.work.consume('notices', async ({ effect }) => void noticed.push(effect));
      const service = createThreadProcessor({
        ...ports,
        ...(inputs === undefined ? {} : { inputs: inputs(ports.inputs) }),
        model,
        ...measuredBy(options.metrics, { ...ports, model }, clock),
        clock,
        entropy: createSeededEntropy(1, node),
        logger: logger(lines),
        idKey: secret,
        ...(options.hasTenants === true ? { tenantStores: ports, limits: limitsOver(ports, clock, node) } : {}),
        ...(protocol === undefined ? {} : { protocol }),
        ...(settings === undefined ? {} : { settings }),
      });
      await service.start();
      return { service, ports };
    },
  };
}

const measuredBy = (
  metrics: Metrics | undefined,
  ports: Parameters<typeof measuredProcessorPorts>[0],
  clock: ManualClock,
): Partial<ReturnType<typeof measuredProcessorPorts>> =>
  metrics === undefined ? {} : measuredProcessorPorts(ports, { metrics, now: () => clock.now() }, clock);

const logger = (lines: string[]): Logger => {
  const line =
    (level: string) =>
    (event: string, fields: object = {}) =>
      void lines.push(`${level} ${event} ${JSON.stringify(fields)}`);
  return { info: line('info'), warn: line('warn'), error: line('error') };
};

const agent: Agent = {
  tenant: key.tenant,
  id: 'agt_1',
  name: 'weather',
  version: 1,
  createdAt: 0,
  instructions: 'Be brief.',
  model: {
    provider: 'scripted',
    name: '',
    baseUrl: null,
    apiKeySecret: null,
    contextWindowTokens: 1_000,
    outputTokensMax: null,
    images: false,
    parameters: {},
  },
  toolServers: ['tools'],
  policies: defaultPolicies,
  limits: defaultLimits,
  contentSha256: '',
};

export const opening = (policies: Partial<Policies> = {}, limits = defaultLimits): ThreadInput => ({
  kind: 'ThreadOpening',
  id: inputIds.opening(key.thread),
  agent: {
    name: 'weather',
    version: 1,
    model: 'scripted',
    toolServers: ['tools'],
    policies: { ...defaultPolicies, ...policies },
    limits,
  },
  userId: null,
  title: null,
  message: null,
});

/** The answer to the load that the opening requested. */
export const toolsLoaded = (dispatched: readonly Dispatch['effect'][]): ThreadInput => {
  const load = dispatched.find((effect) => effect.do === 'LoadToolsets');
  if (load === undefined) throw new Error('no toolsets were asked for');
  return {
    kind: 'ToolsetsResult',
    id: inputIds.toolsets(load.loadId),
    loadId: load.loadId,
    toolsets: [toolset],
    withheld: [],
    rejected: [],
  };
};

const usage = { inputTokens: 1, outputTokens: 1 };

async function* spoken(parts: readonly ModelPart[]): AsyncIterable<ModelPart> {
  yield* parts;
}

export const says =
  (words: string): Play =>
  () =>
    spoken([
      { part: 'text', text: words },
      { part: 'finish', reason: 'stop', usage },
    ]);

export const calls =
  (operation: string, args: string): Play =>
  () =>
    spoken([
      { part: 'tool_call', providerCallId: 'p1', operation, arguments: args },
      { part: 'finish', reason: 'tool_calls', usage },
    ]);

export const message = (id: string, words = id): ThreadInput => ({
  kind: 'UserMessage',
  id: `c:${id}`,
  messageId: id,
  content: [text(words)],
});

export const interrupt = (id: string): ThreadInput => ({
  kind: 'InterruptRequest',
  id: `c:${id}`,
  requestId: id,
  includeHuman: false,
});

export const result = (toolCallId: string, words = 'sunny'): ThreadInput => ({
  kind: 'ToolResult',
  id: inputIds.result(toolCallId),
  toolCallId,
  toolServer: 'tools',
  content: [text(words)],
  displayAs: null,
  subscription: false,
});

/** Opens the thread on one processor, up to the point where it is idle. */
export async function opened(
  options: RigOptions = {},
  node = 'p1',
  settings: Partial<ProcessorSettings> = {},
): Promise<{ rig: Rig; actor: Actor }> {
  const rig = createRig(options);
  const actor = await rig.processor(node, { settings });
  await actor.ports.inputs.publish(key, opening(options.policies));
  await rig.clock.advance(50);
  await actor.ports.inputs.publish(key, toolsLoaded(rig.dispatched));
  await rig.clock.advance(50);
  return { rig, actor };
}

export const inTurn = (...plays: readonly Play[]): Play => {
  let turn = 0;
  return (request) => (plays[Math.min(turn++, plays.length - 1)] ?? says('ok'))(request);
};

export function invoked(rig: Rig): string {
  const call = rig.dispatched.find((effect) => effect.do === 'InvokeTool');
  if (call?.do !== 'InvokeTool') throw new Error('no tool was invoked');
  return call.toolCallId;
}

/** The row of `key`, as the ingress gateway makes it. */
export const newRow: ThreadRow = {
  ...key,
  ...{
    status: 'opening',
    position: 0,
    opening: null,
    agent: 'weather',
    agentVersion: 1,
    parent: null,
    family: key.thread,
  },
  ...{ userId: null, externalId: null, title: null, metadata: {}, createdAt: 0, updatedAt: 0 },
};
