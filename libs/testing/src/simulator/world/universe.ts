// One universe: an installation, its clients, tools and model, the faults of one seed, until everything is at rest or
// the time is up; then the verdict. The same seed gives the same universe, step by step.
import { createMemoryWorld, type WorldObserver } from '@dormouse/adapter-memory';
import { type Ingress, openCommit } from '@dormouse/runtime';
import { checkHistory } from '../../invariants/check-history.ts';
import type { Violation } from '../../invariants/history.ts';
import { drawCrowd, drawFaults, drawBrokerFaults, drawPauses, drawPoison, faultsEndMs } from '../faults/fault-mix.ts';
import { createPauses, noPauses, type Pauses } from '../faults/pauses.ts';
import { createInstallation, type Installation } from './installation.ts';
import { registerShares } from './tenant-shares.ts';
import { type Mutant, soundInstallation } from '../mutant.ts';
import { createObservation, type Observation } from '../observation.ts';
import { countOutcomes } from '../outcome-counters.ts';
import { createOutside, type Outside } from '../actors/outside.ts';
import { createPoison, noPoison, type Poison } from '../faults/poison.ts';
import { createRandom, type Random } from './random.ts';
import type { Counters } from '../rare-paths.ts';
import { register } from './registration.ts';
import { createScheduler, type SchedulerHooks } from './scheduler.ts';
import type { Rig } from './universe-rig.ts';
import { createTrace, type Trace } from '../trace.ts';
import { unrestOf } from '../faults/unrest.ts';
import { createWeather, type Weather } from '../faults/weather.ts';

export interface UniverseOptions {
  readonly seed: number;
  readonly topology: 'durable' | 'standalone';
  readonly mutant?: Mutant;
  /** Keeps the lines for a reader. */
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

/** A family may work for long: a model that hangs costs each of its threads ten seconds. */
const restWithinMs = 240_000;
/** The last delayed write has been applied by then. */
const ghostsEndMs = 4_100;
const stepsMax = 150_000;
const weatherEverySteps = 100;
/** Of its own: crowds move no other universe. */
const crowdSeeds = 2 ** 30;
const restCheckEverySteps = 40;

export async function runUniverse(options: UniverseOptions): Promise<UniverseResult> {
  const counters: Counters = new Map();
  const universe = createUniverse(options, counters);
  const { rig } = universe;
  const unrest = await live(universe);
  const { observation, scheduler, trace, world } = rig;
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

/** Steps until everything is at rest after the faults, or the time is up; says why it is not at rest. */
async function live({ rig, outside, weather, poison, pauses }: Universe): Promise<readonly string[]> {
  const { scheduler } = rig;
  const unrest = (): readonly string[] => [
    ...unrestOf(rig),
    ...outside.unrest(),
    ...poison.unrest(),
    ...pauses.unrest(),
  ];
  let healed = false;
  for (let step = 1; step < stepsMax; step += 1) {
    if (!(await scheduler.step())) break;
    if (!healed && step % weatherEverySteps === 0) weather.strike();
    if (!healed && scheduler.now > faultsEndMs) {
      healed = true;
      weather.heal();
    }
    if (!healed || step % restCheckEverySteps !== 0 || scheduler.now < faultsEndMs + ghostsEndMs) continue;
    if (unrest().length === 0) return [];
    if (scheduler.now > faultsEndMs + restWithinMs) break;
  }
  return unrest();
}

interface Universe {
  readonly rig: Rig;
  readonly outside: Outside;
  readonly weather: Weather;
  readonly poison: Poison;
  readonly pauses: Pauses;
}

function createUniverse(
  { seed, topology, mutant = soundInstallation, readable = false }: UniverseOptions,
  counters: Counters,
): Universe {
  const random = createRandom(seed);
  const beside = createRandom(-2 - seed);
  const ofOperator = createRandom(2 ** 30 + seed);
  const faults = {
    ...drawFaults(random, topology),
    poison: drawPoison(beside),
    crowd: drawCrowd(createRandom(crowdSeeds + seed)),
    pauses: drawPauses(ofOperator),
    ...(topology === 'durable' && drawBrokerFaults(beside)),
    ...mutant.faults,
  };
  const counted = (path: string): void => void counters.set(path, (counters.get(path) ?? 0) + 1);
  const rig = createRig(topology, random, createTrace(readable), counted, () => weather);
  const weather = createWeather(rig, () => installation);
  const outside = createOutside(rig, () => installation);
  const operator = { random: beside, ask: <T>(ask: (ingress: Ingress) => Promise<T>) => outside.askIngress(ask) };
  const poison = faults.poison > 0 ? createPoison({ ...rig, ...operator, probability: faults.poison }) : noPoison;
  const pauses = faults.pauses > 0 ? createPauses({ ...rig, ...operator, random: ofOperator }) : noPauses;
  mutant.world?.(rig.world);
  register(rig.world, random, outside.registrations);
  const shares = faults.crowd > 0 ? registerShares(rig.world, random) : null;
  rig.scheduler.faults = faults;
  const installation: Installation = createInstallation({
    ...rig,
    mutant,
    poison,
    skewMs: faults.skewMs,
    shares,
    hasPauses: faults.pauses > 0,
    said: (node, level, event, fields) => {
      counted(`log ${event}`);
      rig.trace.note(rig.scheduler.now, node, () => `says ${level} ${event} ${JSON.stringify(fields)}`);
    },
    peerAt: (url, node) => outside.peerAt(url, node),
  });
  outside.startClients(faults.crowd);
  poison.start();
  pauses.start();
  return { rig, outside, weather, poison, pauses };
}

function createRig(
  topology: UniverseOptions['topology'],
  random: Random,
  trace: Trace,
  counted: Rig['counted'],
  weather: () => Weather,
): Rig {
  let used = 0;
  const hooks: SchedulerHooks = {
    counted,
    applied: (node, operation) => observation.applied(node, operation),
    crashed: (process) => weather().bury(process),
    paused: (process) => weather().missHeartbeats(process),
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
  const observer = tracing(observation, trace, () => scheduler.now);
  const world = createMemoryWorld({ clock, gate: scheduler.gate, topology, partitions: 2, observer });
  countOutcomes(world, counted);
  return { topology, random, scheduler, clock, world, observation, trace, fresh: () => (used += 1), counted };
}

/** What the world reports to its observer, readable between the steps. */
function tracing(observation: Observation, trace: Trace, now: () => number): WorldObserver {
  return {
    appended: (commit) => {
      observation.appended(commit);
      trace.note(
        now(),
        '',
        () => `${commit.thread}@${commit.version} ${commit.inputs.join(' ')} → ${describe(commit)}`,
      );
    },
    decided: (node, delivery, version) => {
      observation.decided(node, delivery, version);
      const what = delivery.what === 'input' ? delivery.input.id : 'recovery';
      trace.note(now(), node, () => `decided ${what} ${version === null ? 'refused for good' : `at ${version}`}`);
    },
    handedOver: (_node, message) => observation.handedOver(message),
  };
}

const describe = (commit: Parameters<typeof openCommit>[0]): string => {
  const { events, effects } = openCommit(commit);
  return `${events.map((event) => event.type).join(' ')} | ${effects.map((effect) => effect.do).join(' ')}`;
};
