// An installation of Dormouse in a universe: which processes run which of the real services, in both topologies, and
// how they restart after a crash.
import {
  createSeededEntropy,
  type MemoryPorts,
  type MemoryWorld,
  plainSealer,
  type ToolPeer,
} from '@dormouse/adapter-memory';
import { type Clock, Fault, type Logger, type ToolTransport } from '@dormouse/ports';
import {
  type CallbackGateway,
  type CallbackTokens,
  type Holding,
  createCallbackGateway,
  createCallbackTokens,
  createHolding,
  createIngress,
  createNotifier,
  createPausedAgents,
  createTenantRecords,
  createInputSweeper,
  createThreadProcessor,
  createToolDispatcher,
  type Ingress,
  type ProcessorProtocol,
  type ProcessorSettings,
  type Service,
} from '@dormouse/runtime';
import type { Mutant, MutantContext } from '../mutant.ts';
import type { Observation } from '../observation.ts';
import type { Poison } from '../faults/poison.ts';
import { countingProtocol } from '../rare-paths.ts';
import type { Random } from './random.ts';
import { tenantLimitsOf, type TenantShares, watchedSlots } from './tenant-shares.ts';
import type { Process, Scheduler } from './scheduler.ts';
import { createSimulatedModel } from '../actors/simulated-model.ts';

export type Role = 'ingress' | 'callback' | 'processor' | 'dispatcher' | 'notifier';

export interface InstallationDeps {
  readonly topology: 'durable' | 'standalone';
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly observation: Observation;
  readonly world: MemoryWorld;
  readonly mutant: Mutant;
  readonly poison: Poison;
  readonly skewMs: number;
  /** Null where no tenant has a quota or a weight. */
  readonly shares: TenantShares | null;
  /** Whether services look for what is paused. */
  readonly hasPauses: boolean;
  readonly fresh: () => number;
  readonly counted: (path: string) => void;
  readonly said: (node: string, level: string, event: string, fields: object) => void;
  /** URL prefix to peer, as a process reaches it; `node` is the sender. */
  readonly peerAt: (url: string, node: string) => ToolPeer | null;
}

export interface Installation {
  readonly processes: readonly Process[];
  readonly tokens: CallbackTokens;
  /** The gateways first, then the services in order; resolves when none of them will touch a store again. */
  stop(process: Process, withinMs: number): Promise<void>;
  /** The next life of a process that has died. */
  restart(process: Process): void;
  /** Some living process that answers requests of this kind; null when there is none. */
  ingress(): { readonly process: Process; readonly serve: Ingress } | null;
  callback(): { readonly process: Process; readonly serve: CallbackGateway } | null;
}

interface Running {
  readonly services: readonly Service[];
  stopping: boolean;
  readonly ingress: Ingress | null;
  readonly callback: CallbackGateway | null;
}

const callbackBase = 'https://dormouse.test';

/** Delays of a real installation, shortened so that a universe takes seconds and meets every one of them. */
const dispatcherSettings = {
  ackTimeoutMs: 600,
  retryTotalMs: 4_000,
  retryFirstMs: 60,
  retryMaxMs: 1_000,
  unknownOutcomeGraceMs: 500,
  discoveryTimeoutMs: 500,
  breaker: { failuresMax: 5, holdFirstMs: 200, holdMaxMs: 1_000 },
};

export function createInstallation(deps: InstallationDeps): Installation {
  const { random, scheduler } = deps;
  const running = new Map<Process, Running>();
  const tokens = createCallbackTokens({
    keys: [{ id: 'k1', secret: new Uint8Array(32).fill(7), since: 0, revoked: false }],
    publicBase: callbackBase,
  });
  const settings = {
    ...drawSettings(random),
    ...(deps.shares !== null && { completionsInFlightMax: deps.shares.slots }),
  };
  const processes = planOf(deps).map(([name, roles]) => {
    const skewMs = deps.skewMs === 0 ? 0 : random.below(2 * deps.skewMs) - deps.skewMs;
    const process = scheduler.addProcess(name, { faulty: true, skewMs });
    return { process, roles };
  });

  function boot(process: Process, roles: readonly Role[]): void {
    scheduler.revive(process);
    const { node } = process;
    const clock = scheduler.clockOf(process);
    const context: MutantContext = {
      node,
      clock,
      ports: watchedHolds(countingClaims(deps.world.ports(node, clock), deps.counted), deps),
      world: deps.world,
      random,
    };
    const ports = deps.mutant.ports === undefined ? context.ports : deps.mutant.ports(context);
    const { services, ingress, callback } = createServices(deps, context, ports, roles, tokens, settings);
    running.set(process, { services, stopping: false, ingress, callback });
    void startAll(services).catch((failure: unknown) => {
      if (process.node !== node || !process.alive) return;
      if (!(failure instanceof Fault)) throw failure;
      deps.counted('start failed');
      scheduler.crash(process); // its supervisor starts it again
    });
  }

  function serving<Kind extends 'ingress' | 'callback'>(
    kind: Kind,
  ): { readonly process: Process; readonly serve: NonNullable<Running[Kind]> } | null {
    const up = [...running].flatMap(([process, services]) => {
      const serve = services[kind];
      return process.alive && !services.stopping && serve !== null ? [{ process, serve }] : [];
    });
    return up.length === 0 ? null : random.pick(up);
  }

  for (const { process, roles } of processes) boot(process, roles);
  return {
    processes: processes.map(({ process }) => process),
    tokens,
    stop: async (process, withinMs) => {
      const services = running.get(process);
      if (services === undefined) return;
      services.stopping = true;
      for (const service of services.services) await service.stop(withinMs);
    },
    restart: (process) => boot(process, processes.find((other) => other.process === process)?.roles ?? []),
    ingress: () => serving('ingress'),
    callback: () => serving('callback'),
  };
}

function countingClaims(ports: MemoryPorts, counted: (path: string) => void): MemoryPorts {
  const claim: typeof ports.ledger.claim = async (...about) => {
    const won = await ports.ledger.claim(...about);
    if (!won) counted('claim lost');
    return won;
  };
  return { ...ports, ledger: { ...ports.ledger, claim } };
}

function watchedHolds(ports: MemoryPorts, { counted, observation }: InstallationDeps): MemoryPorts {
  const hold: typeof ports.heldThreads.hold = (key, by) => {
    counted(`held by ${by.split(':')[0]}`);
    if (by.startsWith('agent:')) observation.held(key);
    return ports.heldThreads.hold(key, by);
  };
  return { ...ports, heldThreads: { ...ports.heldThreads, hold } };
}

async function startAll(services: readonly Service[]): Promise<void> {
  for (const service of services) await service.start();
}

function planOf({ topology, random }: InstallationDeps): readonly (readonly [string, readonly Role[]])[] {
  if (topology === 'standalone') return [['one', ['ingress', 'callback', 'processor', 'dispatcher', 'notifier']]];
  const processors = Array.from(
    { length: 2 + random.below(2) },
    (_, index) => [`processor${index + 1}`, ['processor']] as const,
  );
  return [
    ['ingress1', ['ingress']],
    ['callback1', ['callback']],
    ...processors,
    ['dispatcher1', ['dispatcher']],
    ['dispatcher2', ['dispatcher']],
    ['notifier1', ['notifier']],
    ['notifier2', ['notifier']],
  ];
}

/** Limits that are reached in every universe: small caches, short pages, frequent snapshots. */
function drawSettings(random: Random): Partial<ProcessorSettings> {
  const cacheBytesMax = random.pick([1, 60_000, 10_000_000]);
  return {
    cacheBytesMax,
    completionsInFlightMax: cacheBytesMax === 1 ? 1 : 2_000, // queued completions find nothing cached when they start
    transcriptBytesMax: random.pick([2_000, 1_000_000]),
    inputsPerSliceMax: random.pick([1, 4, 32]),
    queuedInputsMax: random.pick([3, 10_000]),
    snapshotEveryEvents: random.pick([3, 10, 200]),
    loadPageCommits: random.pick([2, 7, 500, 500]),
    groupCommitsMax: random.pick([1, 512]),
    groupsInFlightMax: random.pick([1, 2, 2, 5]),
    retryDelayMsMax: 500,
    modelStartTimeoutMs: 3_000,
    modelStallTimeoutMs: 3_000,
    modelRetryDelayMsFirst: 50,
    modelRetryDelayMsMax: 500,
    modelRetryTotalMs: 4_000,
    completionMsMax: 10_000,
    completionCheckMs: 700,
    timerPollMs: 700,
    projectionDelayMs: 200,
  };
}

function createServices(
  deps: InstallationDeps,
  context: MutantContext,
  ports: MemoryPorts,
  roles: readonly Role[],
  callbackTokens: CallbackTokens,
  settings: Partial<ProcessorSettings>,
): Omit<Running, 'stopping'> {
  const { node, clock } = context;
  const { random, counted } = deps;
  const logger = createSimulatedLogger(deps, node);
  const entropy = createSeededEntropy(random.below(2 ** 31), node);
  const transport = createSimulatedTransport(deps, node, clock);
  const common = {
    ...ports,
    clock,
    entropy,
    logger,
    transport: deps.mutant.transport?.(transport, context) ?? transport,
    ...(deps.shares !== null && { limits: tenantLimitsOf(ports, { clock, entropy, logger }) }),
  };
  const has = (role: Role): boolean => roles.includes(role);
  const holding = deps.hasPauses ? createHoldingOf(ports, clock) : null;
  const services: Service[] = [];
  if (has('processor')) {
    const sound = createSimulatedModel({
      random,
      clock,
      fresh: deps.fresh,
      counted,
      seen: (prompt) => deps.observation.prompt(prompt),
    });
    const model = deps.mutant.model?.(sound, context) ?? sound;
    const protocol = watched(
      deps,
      node,
      countingProtocol(deps.poison.in(deps.mutant.protocol?.(context) ?? {}), counted),
    );
    services.push(
      createThreadProcessor({
        ...{ ...common, model, idKey: new Uint8Array(32).fill(3), settings, protocol },
        ...(deps.hasPauses && { tenantStores: ports }),
      }),
    );
  }
  if (has('dispatcher'))
    services.push(createToolDispatcher({ ...common, holding, callbackTokens, settings: dispatcherSettings }));
  if (has('notifier'))
    services.push(createNotifier({ ...common, holding, sealer: plainSealer, settings: { noticeTimeoutMs: 500 } }));
  const ingress = has('ingress') ? createIngressOf(common, callbackTokens) : null;
  if (has('ingress'))
    services.push(
      createInputSweeper({
        directory: ports.directory,
        parked: ports.parked,
        bus: ports.inputs,
        clock,
        failed: () => counted('sweep failed'),
      }),
    );
  const callback = has('callback')
    ? createCallbackGateway({ ...common, sealer: plainSealer, tokens: callbackTokens })
    : null;
  return { services, ingress, callback };
}

/** Its slots are watched where tenants share them. */
function watched(
  { shares, observation }: InstallationDeps,
  process: string,
  protocol: ProcessorProtocol,
): ProcessorProtocol {
  if (shares === null) return protocol;
  const createSlots = watchedSlots(protocol.createSlots, (tenant, step) =>
    observation.slot({ process, step, tenant, weight: shares.weights.get(tenant) ?? null }),
  );
  return { ...protocol, createSlots };
}

const createHoldingOf = (ports: MemoryPorts, clock: Clock): Holding =>
  createHolding({
    ...ports,
    records: createTenantRecords({ tenants: ports.tenants, clock }),
    pausedAgents: createPausedAgents({ agents: ports.agents, clock }),
  });

function createIngressOf(
  common: MemoryPorts & { readonly clock: Clock; readonly entropy: ReturnType<typeof createSeededEntropy> },
  callbackTokens: CallbackTokens,
): Ingress {
  return createIngress({
    ...common,
    bus: common.inputs,
    idempotencyKeys: common.idempotency,
    sealer: plainSealer,
    signingKey: new Uint8Array(32).fill(5),
    auditSigner: { kid: 'unused', sign: () => '', keys: { keys: [] } },
    callbackTokens,
    validateArguments: null,
  });
}

function createSimulatedLogger({ said, observation, poison }: InstallationDeps, node: string): Logger {
  return {
    info: (event, fields = {}) => said(node, 'info', event, fields),
    warn: (event, fields = {}) => said(node, 'warn', event, fields),
    error: (event, fields = {}) => {
      said(node, 'error', event, fields);
      if (!poison.explains(event)) observation.witness('I-24', `${node} says ${event}: ${JSON.stringify(fields)}`); // a bug of ours, not a fault
    },
  };
}

/** Sending is a step of the sender's process; what happens outside belongs to the peer. */
function createSimulatedTransport(
  { scheduler, peerAt, counted }: InstallationDeps,
  node: string,
  clock: Clock,
): ToolTransport {
  const leave = <T>(
    url: string,
    name: 'transport.post' | 'transport.get',
    go: () => T,
  ): Promise<{ readonly answer: T }> =>
    scheduler.gate.pass(node, { name, about: url, kind: 'read' }, () => ({ answer: go() }));
  return {
    post: async (request) => {
      const { answer } = await leave(request.url, 'transport.post', () => peerAt(request.url, node)?.post(request));
      const outcome = (await answer) ?? { sent: false, reached: false, code: 'ENOTFOUND', detail: 'nobody there' };
      await clock.sleep(0); // only a living process gets an answer
      counted(outcome.sent ? `POST answered ${Math.floor(outcome.status / 100)}xx` : `POST ${outcome.code}`);
      return outcome;
    },
    get: async (request) => {
      const { answer } = await leave(request.url, 'transport.get', () => peerAt(request.url, node)?.get(request));
      const outcome = (await answer) ?? { ok: false, code: 'TOOLSET_UNREACHABLE', detail: 'nobody there' };
      await clock.sleep(0);
      return outcome;
    },
    judge: () => Promise.resolve({ ok: true }),
  };
}
