// One universe: an installation, its clients, tools and model, the faults of one seed, until everything is at rest or the
// time is up; then the verdict. The same seed gives the same universe, step by step.
import { createMemoryWorld, type MemoryWorld, type ToolPeer } from '@dormouse/adapter-memory';
import { Fault, type ThreadKey, type ToolServer } from '@dormouse/ports';
import { inputIdOf, openCommit, publicId, requestNames } from '@dormouse/runtime';
import { defaultLimits, type InterruptPolicy } from '@dormouse/thread';
import { checkHistory } from '../invariants/check-history.ts';
import type { Violation } from '../invariants/history.ts';
import { drawFaults, faultsEndMs, noFaults } from './fault-mix.ts';
import { createInstallation } from './installation.ts';
import { type Mutant, soundInstallation } from './mutant.ts';
import { createObservation, type Observation, tenants } from './observation.ts';
import { createRandom, type Random } from './random.ts';
import type { Counters } from './rare-paths.ts';
import { beginningMs, createScheduler, type Process, type Scheduler, type SchedulerHooks } from './scheduler.ts';
import { runClient } from './simulated-client.ts';
import { createSimulatedToolServer, type SimulatedToolServer } from './simulated-tool-server.ts';
import { startWatcher, type Watcher } from './simulated-watcher.ts';
import { createTrace, type Trace } from './trace.ts';

export interface UniverseOptions {
  readonly seed: number;
  readonly topology: 'durable' | 'standalone';
  readonly mutant?: Mutant;
  /** Keeps the lines that a person reads. */
  readonly readable?: boolean;
}

export interface UniverseResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** Equal for equal interleavings. */
  readonly hash: string;
  readonly steps: number;
  readonly commits: number;
  readonly counters: Counters;
  readonly lines: readonly string[];
}

const threadsPerUniverse = 3;
const restWithinMs = 60_000;
/** The last ghost has landed by then. */
const ghostsEndMs = 4_100;
const stepsMax = 150_000;
const weatherEverySteps = 100;
const restCheckEverySteps = 40;
const requestTimeoutMs = 2_500;
const stopWithinMs = 15_000;

export async function runUniverse(options: UniverseOptions): Promise<UniverseResult> {
  const universe = createUniverse(options);
  const unrest = await universe.run();
  const { observation, scheduler, trace, counters, world } = universe;
  const violations = checkHistory(observation.history(unrest));
  for (const { id, text } of violations) trace.note(scheduler.now, 'VIOLATION', () => `${id} ${text}`);
  const commits = world.threads().reduce((sum, key) => sum + world.commits(key).length, 0);
  return {
    seed: options.seed,
    violations,
    hash: trace.hash(),
    steps: scheduler.moment,
    commits,
    counters,
    lines: trace.lines,
  };
}

interface Universe {
  readonly observation: Observation;
  readonly scheduler: Scheduler;
  readonly world: MemoryWorld;
  readonly trace: Trace;
  readonly counters: Counters;
  /** Why it is not at rest; empty when it is. */
  run(): Promise<readonly string[]>;
}

function createUniverse({ seed, topology, mutant = soundInstallation, readable = false }: UniverseOptions): Universe {
  const random = createRandom(seed);
  const trace = createTrace(readable);
  const counters: Counters = new Map();
  const counted = (path: string): void => void counters.set(path, (counters.get(path) ?? 0) + 1);
  let used = 0;
  const fresh = (): number => (used += 1);
  const faults = { ...drawFaults(random, topology), ...mutant.faults };

  const hooks: SchedulerHooks = {
    counted,
    applied: (node, operation) => observation.applied(node, operation),
    crashed: (process) => bury(process),
    paused: (process) => missHeartbeats(process),
  };
  const scheduler = createScheduler(random, trace, hooks, topology === 'standalone');
  const outside = scheduler.addProcess('outside');
  scheduler.revive(outside);
  const clock = scheduler.clockOf(outside);
  const observation = createObservation(
    () => world,
    () => scheduler.moment,
    counted,
  );
  const world = createMemoryWorld({
    clock,
    gate: scheduler.gate,
    topology,
    partitions: 2,
    observer: {
      appended: (commit) => {
        observation.appended(commit);
        trace.note(
          scheduler.now,
          '',
          () => `${commit.thread}@${commit.version} ${commit.inputs.join(' ')} → ${describe(commit)}`,
        );
      },
      decided: (node, delivery, version) => {
        observation.decided(node, delivery, version);
        trace.note(
          scheduler.now,
          node,
          () =>
            `decided ${delivery.what === 'input' ? delivery.input.id : 'recovery'} ${version === null ? 'refused for good' : `at ${version}`}`,
        );
      },
      handedOver: (_node, message) => observation.handedOver(message),
    },
  });
  countOutcomes(world, counted);
  mutant.world?.(world);
  const servers = createServers();
  register(
    world,
    random,
    servers.map(({ server }) => server),
  );
  scheduler.faults = faults;
  const installation = createInstallation({
    topology,
    random,
    scheduler,
    observation,
    world,
    mutant,
    skewMs: faults.skewMs,
    fresh,
    counted,
    said: (node, level, event, fields) => {
      counted(`log ${event}`);
      trace.note(scheduler.now, node, () => `says ${level} ${event} ${JSON.stringify(fields)}`);
    },
    peerAt: (url, node) => peerAt(servers, url, node),
  });
  let clientsLeft = 0;
  const watchers: Watcher[] = [];
  for (let index = 0; index < threadsPerUniverse; index += 1) startClient(index);

  function bury(process: Process): void {
    const { node } = process;
    world.durable.broker.forget(node);
    scheduler.after(random.below(500), `session of ${node} expires`, () => world.durable.broker.expire(node));
    scheduler.after(100 + random.below(1_500), `${process.name} restarts`, () => installation.restart(process));
  }

  function missHeartbeats(process: Process): void {
    const { node } = process;
    scheduler.after(500, `session of ${node} may expire`, () => {
      if (process.node === node && process.pausedUntil > scheduler.now) world.durable.broker.expire(node);
    });
  }

  function createServers(): readonly ServedServer[] {
    return tenants.flatMap((tenant) =>
      ['tools', 'more'].map((name) => {
        const baseUrl = `https://${name}.${tenant}.test`;
        const peer = createSimulatedToolServer({
          tenant,
          name,
          baseUrl,
          random,
          clock,
          fresh,
          counted,
          moment: () => scheduler.moment,
          received: (post, sender, token) => {
            observation.post(sender, post);
            observation.token(token);
          },
          noticed: (notice) => observation.notice(notice),
          sent: (callback) => observation.callback(callback),
          callBack,
        });
        return { baseUrl, peer, server: registrationOf(tenant, name, baseUrl) };
      }),
    );
  }

  async function callBack(url: string, body: string, contentType: string): Promise<number | null> {
    const token = url.slice(url.lastIndexOf('/') + 1);
    const answer = await request(
      'callback',
      () => installation.callback(),
      (gateway) => gateway.receive(token, { contentType, body, headers: {} }),
    );
    return answer?.status ?? null;
  }

  /** One HTTP request from outside: it may meet nobody, a process that dies over it, or lose its answer. */
  async function request<Serve, T>(
    name: string,
    find: () => { readonly process: Process; readonly serve: Serve } | null,
    ask: (serve: Serve) => Promise<T>,
  ): Promise<T | null> {
    await clock.sleep(2 + random.below(20));
    const up = find();
    if (up === null) return null;
    const answer = ask(up.serve).then(
      (value) => ({ value }),
      (failure: unknown) => {
        if (!(failure instanceof Fault))
          observation.witness('I-24', `${name} threw ${failure instanceof Error ? failure.stack : String(failure)}`);
        return null;
      },
    );
    const first = await Promise.race([answer, clock.sleep(requestTimeoutMs).then(() => null)]);
    await clock.sleep(1 + random.below(10));
    if (first === null || random.chance(scheduler.faults.answerLost)) return null;
    return first.value;
  }

  function startClient(index: number): void {
    const tenant = tenants[index % tenants.length] ?? 'acme';
    const mintName = requestNames({ clock, entropy: { nonce: () => '', fraction: () => 0 } });
    clientsLeft += 1;
    void runClient({
      name: `client${index}`,
      tenant,
      agent: `agent${index}`,
      random,
      clock,
      fresh,
      counted,
      moment: () => scheduler.moment,
      ask: (ask) => request('ingress', () => installation.ingress(), ask),
      idsOf: (origin) => {
        const name = mintName(origin);
        return { inputId: inputIdOf(name), messageId: publicId('msg', name), threadId: publicId('thr', name) };
      },
      opened: (key) => {
        if (random.chance(0.5)) watch(key);
      },
      sent: (sent) => observation.request(sent),
      look: (key) => observation.thread(key),
      surprised: (text) => observation.witness('I-01', text),
    }).then(() => {
      clientsLeft -= 1;
    });
  }

  function watch(key: ThreadKey): void {
    const watcher = startWatcher({
      key,
      random,
      clock,
      counted,
      ingress: () => installation.ingress(),
      surprised: (text) => observation.witness('I-19', text),
    });
    watchers.push(watcher);
    observation.watching(watcher.stream);
  }

  /** Streams that have not given everything yet. */
  const behind = (): readonly string[] =>
    watchers.flatMap(({ stream: { key, events } }) => {
      const position = observation.thread(key)?.position ?? 0;
      return events.length < position ? [`the stream of ${key.thread} is at ${events.length} of ${position}`] : [];
    });

  function weather(): void {
    const mix = scheduler.faults;
    const { broker, snapshots, dedup } = world.durable;
    if (random.chance(mix.wipeSnapshots)) {
      snapshots.clear();
      observation.wiped('snapshots');
    }
    if (random.chance(mix.wipeDedup)) {
      dedup.clear();
      observation.wiped('dedup');
    }
    if (random.chance(mix.outage)) {
      counted('outage');
      scheduler.outages[random.pick(['bus', 'store'] as const)] = scheduler.now + 200 + random.below(1_500);
    }
    if (random.chance(mix.rebalance)) {
      counted('rebalance');
      broker.rebalance(random.pick(['inputs', 'dispatches', 'notices']));
    }
    if (random.chance(mix.clockJump)) {
      counted('clock jump');
      random.pick(installation.processes).skewMs += random.below(6_000) - 4_000;
    }
    if (random.chance(mix.cutOff)) cutOff(random.pick(installation.processes));
    if (random.chance(mix.restart)) void restartInOrder(random.pick(installation.processes));
  }

  function cutOff(process: Process): void {
    const { node, alive } = process;
    if (!alive) return;
    counted('zombie');
    trace.note(scheduler.now, node, () => 'CUT OFF');
    const { broker } = world.durable;
    broker.cutOff(node);
    scheduler.after(300, `session of ${node} expires`, () => broker.expire(node));
    scheduler.after(600 + random.below(5_000), `${node} reconnects`, () => broker.reconnect(node));
  }

  /** What an operator's rollout does: stop, drain, exit, start. */
  async function restartInOrder(process: Process): Promise<void> {
    const { node, alive } = process;
    if (!alive) return;
    counted('ordered restart');
    trace.note(scheduler.now, node, () => 'STOP');
    const stopping = installation.stop(process, 200 + random.below(2_500));
    const ended = await Promise.race([stopping.then(() => true), clock.sleep(stopWithinMs).then(() => false)]);
    if (process.node !== node || !process.alive) return; // it died over it
    if (!ended) observation.witness('I-24', `${node} did not stop within ${stopWithinMs} ms`);
    scheduler.exit(process);
    bury(process);
  }

  function heal(): void {
    scheduler.faults = noFaults;
    scheduler.outages.bus = 0;
    scheduler.outages.store = 0;
    trace.note(scheduler.now, '', () => 'FAULTS STOP');
    for (const process of installation.processes) {
      process.pausedUntil = Math.min(process.pausedUntil, scheduler.now);
      world.durable.broker.reconnect(process.node);
    }
  }

  function unrest(): readonly string[] {
    const why: string[] = [];
    if (clientsLeft > 0) why.push(`${clientsLeft} clients are not answered`);
    for (const { server, peer } of servers) if (peer.busy > 0) why.push(`${server.name} of ${server.tenant} is busy`);
    if (topology === 'standalone' && world.durable.log.owed.size > 0)
      why.push(`owed rows of ${[...world.durable.log.owed.keys()].join(', ')}`);
    if (topology === 'durable') why.push(...lagging(world));
    for (const key of world.threads()) why.push(...busyWith(observation, key));
    why.push(...behind());
    return why;
  }

  return {
    observation,
    scheduler,
    world,
    trace,
    counters,
    run: async () => {
      let healed = false;
      for (let step = 1; step < stepsMax; step += 1) {
        if (!(await scheduler.step())) break;
        if (!healed && step % weatherEverySteps === 0) weather();
        if (!healed && scheduler.now > faultsEndMs) {
          healed = true;
          heal();
        }
        if (!healed || step % restCheckEverySteps !== 0 || scheduler.now < faultsEndMs + ghostsEndMs) continue;
        if (unrest().length === 0) return [];
        if (scheduler.now > faultsEndMs + restWithinMs) break;
      }
      return unrest();
    },
  };
}

/** Partitions whose committed offset is not the end, and the record it waits for. */
function lagging({ durable: { broker } }: MemoryWorld): readonly string[] {
  return (['inputs', 'dispatches', 'notices'] as const).flatMap((topic) =>
    broker.topics[topic].flatMap((records, partition) => {
      const waitsFor = records[broker.groups[topic].committed[partition] ?? 0];
      return waitsFor === undefined
        ? []
        : [`${topic} ${partition} waits for ${waitsFor.thread} ${waitsFor.value.slice(0, 120)}`];
    }),
  );
}

interface ServedServer {
  readonly baseUrl: string;
  readonly server: ToolServer;
  readonly peer: SimulatedToolServer;
}

/** The sender travels as a header, so that the diary knows who had looked up what. */
function peerAt(servers: readonly ServedServer[], url: string, sender: string): ToolPeer | null {
  const found = servers.find(({ baseUrl }) => url.startsWith(`${baseUrl}/`));
  if (found === undefined) return null;
  return {
    get: (request) => found.peer.get(request),
    post: (request) => found.peer.post({ ...request, headers: { ...request.headers, 'x-sender': sender } }),
  };
}

function busyWith(observation: Observation, key: ThreadKey): readonly string[] {
  const thread = observation.thread(key);
  if (thread === null) return [];
  const open = Object.values(thread.calls).filter((call) => call.waiting.for === 'result');
  const why = open.map((call) => `${key.thread} waits for ${call.toolCallId}`);
  if (thread.completion !== null) why.push(`${key.thread} waits for ${thread.completion.completionId}`);
  if (thread.loading !== null) why.push(`${key.thread} waits for its toolsets`);
  return why;
}

const registrationOf = (tenant: string, name: string, baseUrl: string): ToolServer => ({
  tenant,
  id: `tsv_${tenant}_${name}`,
  name,
  createdAt: beginningMs,
  updatedAt: beginningMs,
  baseUrl,
  endpointOverride: null,
  auth: null,
  forwardUserId: false,
  trustAnnotations: false,
  pinnedSha256: null,
  paused: false,
});

/** One agent per thread, with policies of its own. Every call has a timeout: a tool that never answers must not keep a universe awake. */
function register(world: MemoryWorld, random: Random, servers: readonly ToolServer[]): void {
  const { registry } = world.durable;
  for (const server of servers) registry.toolServers.set(`${server.tenant}:${server.name}`, server);
  const policy = (): InterruptPolicy => random.pick(['cancel', 'keep', 'queue', 'reject']);
  for (let index = 0; index < threadsPerUniverse; index += 1) {
    registry.agents.push({
      tenant: tenants[index % tenants.length] ?? 'acme',
      id: `agt_${index}`,
      name: `agent${index}`,
      version: 1,
      createdAt: beginningMs,
      instructions: 'help',
      contentSha256: '',
      model: {
        provider: 'scripted',
        name: 'simulated',
        baseUrl: null,
        apiKeySecret: null,
        contextWindowTokens: 100_000,
        outputTokensMax: null,
        images: true,
        parameters: {},
      },
      toolServers: random.chance(0.1) ? [] : random.chance(0.5) ? ['tools'] : ['tools', 'more'],
      policies: {
        onInterrupt: policy(),
        onInterruptHuman: policy(),
        eventStyle: random.pick(['kind', 'reserved']),
        eventChildren: 'keep',
        approve: { mode: random.pick(['none', 'none', 'destructive', 'all']), tools: {} },
        cancelSubscriptionsOnClose: false,
      },
      limits: {
        ...defaultLimits,
        completionsPerWakeMax: random.pick([3, 50]),
        toolTimeoutMs: { default: 2_000 + random.below(4_000) },
      },
    });
  }
}

/** What the stores answer, counted. */
function countOutcomes(world: MemoryWorld, counted: (path: string) => void): void {
  const { log, broker } = world.durable;
  const append = log.append.bind(log);
  log.append = (given) => {
    const outcome = append(given);
    if (outcome === 'conflict') counted('version conflict');
    if (outcome === 'duplicate') counted('duplicate found by the index');
    return outcome;
  };
  const commit = broker.commit.bind(broker);
  broker.commit = (...about) => {
    const taken = commit(...about);
    if (!taken) counted('zombie offset refused');
    return taken;
  };
}

const describe = (commit: Parameters<typeof openCommit>[0]): string => {
  const { events, effects } = openCommit(commit);
  return `${events.map((event) => event.type).join(' ')} | ${effects.map((effect) => effect.do).join(' ')}`;
};
