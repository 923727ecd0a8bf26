// The scenarios of the cluster, one after the other over one set of servers.
//
// Invariants:
//   B30. Both builds share broker, store, Redis, tool server and driver; while one is measured the other is stopped.
//   B31. Counts come from a run of their own, through a counting proxy: no time is measured there.
//   B32. A figure that could not be measured is null and is reported as such; it is never a zero.
import { setTimeout as sleep } from 'node:timers/promises';
import { startNode } from '../child-process.ts';
import type { Running } from '../contestant.ts';
import { measureTurns, type TurnsMeasurement } from '../one-tool-turns.ts';
import { figuresOf } from '../process-figures.ts';
import type { Rig } from '../bench-rig.ts';
import { median } from '../statistics.ts';
import { type ClusterOptions, type RunningCluster, startCluster } from './cluster-dormouse.ts';
import { startNaive } from './cluster-naive.ts';
import { type ClusterServers, startServers } from './cluster-servers.ts';
import { type Floors, measureFloors } from './floors.ts';
import { tapMongo } from './mongo-tap.ts';

export interface ClusterPlan {
  readonly rounds: number;
  readonly seconds: number;
  /** Both work for so long at the widest before anything is measured. */
  readonly firstWarmupSeconds: number;
  readonly historyTurns: number;
  readonly slowThreads: number;
  readonly idleSeconds: number;
}

export interface ClusterResult {
  readonly floors: Floors;
  readonly turns: readonly TurnsMeasurement[];
  readonly history: HistoryResult;
  readonly slow: SlowResult;
  readonly duplicates: readonly DuplicatesResult[];
  readonly counts: CountsPerTurn;
  readonly idle: readonly { readonly service: string; readonly cpuPercent: number | null }[];
  readonly takeover: TakeoverResult;
}

export interface HistoryResult {
  readonly turnsBefore: number;
  /** Events of the thread when it was measured. */
  readonly dormouseEvents: number;
  readonly naiveEvents: number;
  readonly dormouseP50Ms: number;
  readonly naiveP50Ms: number;
}

export interface SlowResult {
  readonly threads: number;
  readonly partitions: number;
  /** Completions that were running at once, at most, as counted by the model itself. */
  readonly dormouseInFlight: number;
  readonly naiveInFlight: number;
}

export interface DuplicatesResult {
  readonly contestant: string;
  readonly turnsPerSecond: number;
  readonly wrongAnswers: number;
}

export interface CountsPerTurn {
  readonly logCommits: number;
  /** Insert commands of the thread-processor at 64 threads, per turn: grouped commits. */
  readonly storeRoundTrips: number;
  /** Reads of the thread-processor on warm threads, per turn. */
  readonly reads: number;
}

export interface TakeoverResult {
  readonly completions: number;
  readonly sessionTimeoutMs: number;
  readonly lost: number;
  readonly doubled: number;
  /** From the kill to the last answer, without the two seconds that the model takes. */
  readonly untilAllGoOnMs: number;
  /** Completions that were retried after a clean stop of one processor, and those in flight on its partitions. */
  readonly boughtTwiceOnRollingRestart: number;
  readonly inFlightOnRollingRestart: number;
}

const partitions = 12;
const longSessionMs = 120_000;
const shortSessionMs = 6_000;
const modelMs = 2_000;
/** Long enough for all completions to be in flight at the same time. */
const takeoverModelMs = 10_000;

export async function measureCluster(rig: Rig, plan: ClusterPlan): Promise<ClusterResult> {
  const servers = await startServers(rig.room('servers'), (line) => rig.say(line));
  try {
    rig.say('raw floors');
    const floors = await measureFloors(servers, rig.tools);
    const base = { tools: rig.tools, servers, partitions };
    const { turns, history } = await measureBoth(rig, plan, base);
    const duplicates = await measureDuplicates(rig, plan, base);
    const slow = await measureSlow(rig, plan, base);
    const { counts, idle } = await measureCounts(rig, plan, base);
    const takeover = await measureTakeover(rig, plan, base);
    return { floors, turns, history, slow, duplicates, counts, idle, takeover };
  } finally {
    await servers.stop();
  }
}

type Base = Pick<ClusterOptions, 'tools' | 'partitions'> & { readonly servers: ClusterServers };

const contestants = {
  dormouse: { name: 'dormouse', is: 'five services', durable: 'every event, before it is acknowledged' },
  naive: { name: 'naive', is: 'NestJS ServerKafka, eachMessage', durable: 'every event, when it is handled' },
} as const;

/** (B30) */
async function measureBoth(rig: Rig, plan: ClusterPlan, base: Base): Promise<Pick<ClusterResult, 'turns' | 'history'>> {
  const options = { ...base, sessionTimeoutMs: longSessionMs };
  const turns = await measureTurns(
    rig,
    [
      { ...contestants.dormouse, start: ({ directory }) => startCluster({ ...options, directory }) },
      { ...contestants.naive, start: ({ directory }) => startNaive({ ...options, directory }) },
    ],
    { ...plan, warmupSeconds: 1, threads: [1, 64] },
  );
  rig.say(`a thread of ${plan.historyTurns} turns`);
  const cluster = await startCluster({ ...options, directory: rig.room('history') });
  const dormouse = await growAndMeasure(rig, cluster, plan);
  const [threads] = await threadsOf(cluster);
  await cluster.stop();
  const naive = await startNaive({ ...options, directory: rig.room('history-naive') });
  const naiveP50Ms = await growAndMeasure(rig, naive, plan);
  await naive.stop();
  const naiveEvents = 4 * plan.historyTurns;
  const history = { turnsBefore: plan.historyTurns, dormouseEvents: threads ?? 0, naiveEvents };
  return { turns, history: { ...history, dormouseP50Ms: dormouse, naiveP50Ms } };
}

/** Positions of the threads, newest first. */
async function threadsOf(cluster: RunningCluster): Promise<readonly number[]> {
  const { data } = (await cluster.get('/v1/threads?limit=1')) as {
    readonly data: readonly { readonly position: number }[];
  };
  return data.map(({ position }) => position);
}

/** One thread talks until it has its history; then the p50 of more turns of it. */
async function growAndMeasure(rig: Rig, running: Running, plan: ClusterPlan): Promise<number> {
  const [target] = await running.openThreads(1);
  if (target === undefined) throw new Error('no thread was opened');
  await rig.drive({ targets: [{ ...target, turnsMax: plan.historyTurns }], warmupSeconds: 0, seconds: 600 });
  const { latenciesMs } = await rig.drive({ targets: [target], warmupSeconds: 1, seconds: plan.seconds });
  return median(latenciesMs);
}

/** Each result is sent twice with a chance of one in five, the second after later ones. */
async function measureDuplicates(rig: Rig, plan: ClusterPlan, base: Base): Promise<readonly DuplicatesResult[]> {
  rig.say('duplicates: one result in five comes twice');
  await rig.duplicate(0.2);
  const options = { ...base, sessionTimeoutMs: longSessionMs };
  const results: DuplicatesResult[] = [];
  try {
    for (const start of [startCluster, startNaive]) {
      const running = await start({ ...options, directory: rig.room('duplicates') });
      const targets = await running.openThreads(64);
      const job = { targets, warmupSeconds: 1, seconds: plan.seconds, toleratesErrors: true };
      const { latenciesMs, seconds, errorCount } = await rig.drive(job);
      results.push({
        contestant: running.name,
        turnsPerSecond: latenciesMs.length / seconds,
        wrongAnswers: errorCount,
      });
      await running.stop();
    }
  } finally {
    await rig.duplicate(0);
  }
  return results;
}

async function startSlowModel(rig: Rig, waitMs: number) {
  const args = [String(waitMs)];
  const child = await startNode('slow-model', `${import.meta.dirname}/slow-model.ts`, rig.room('model'), { args });
  return {
    url: (await child.ask({ ask: 'base' })) as string,
    counts: async () =>
      (await child.ask({ ask: 'counts' })) as { readonly calls: readonly number[]; readonly inFlightMost: number },
    stop: () => child.stop(1_000),
  };
}

/** Every thread gets a message; the number of completions that run at the same time is the model's own count. */
async function measureSlow(rig: Rig, plan: ClusterPlan, base: Base): Promise<SlowResult> {
  rig.say(`slow model: ${plan.slowThreads} threads, ${modelMs / 1_000} s, ${partitions} partitions`);
  const model = await startSlowModel(rig, modelMs);
  const options = { ...base, model: model.url, sessionTimeoutMs: longSessionMs };
  const turn = { body: JSON.stringify({ text: 'think about {token}' }), expect: 'thought about it' };
  try {
    const cluster = await startCluster({ ...options, directory: rig.room('slow') });
    const threads = await cluster.openAgentThreads('slow', plan.slowThreads);
    const targets = threads.map((thread) => ({ ...cluster.turnOf(thread, turn), turnsMax: 1 }));
    await rig.drive({ targets, warmupSeconds: 0, seconds: 120 });
    await cluster.stop();
    const { inFlightMost: dormouseInFlight } = await model.counts();
    const naive = await startNaive({ ...options, directory: rig.room('slow-naive') });
    const urls = await naive.openUrls(plan.slowThreads);
    const headers = { 'content-type': 'application/json' };
    const some = urls.map((url) => ({ url, headers, status: 200, turnsMax: 1, ...turn }));
    await rig.drive({ targets: some, warmupSeconds: 0, seconds: 20, toleratesErrors: true });
    await naive.stop();
    const { inFlightMost: naiveInFlight } = await model.counts();
    rig.say(`in flight at once: dormouse ${dormouseInFlight}, naive ${naiveInFlight}`);
    return { threads: plan.slowThreads, partitions, dormouseInFlight, naiveInFlight };
  } finally {
    await model.stop();
  }
}

/** (B31) */
async function measureCounts(rig: Rig, plan: ClusterPlan, base: Base): Promise<Pick<ClusterResult, 'counts' | 'idle'>> {
  rig.say('exact counts, and idle processes');
  const tap = await tapMongo(base.servers.mongo);
  const directory = rig.room('counts');
  const cluster = await startCluster({ ...base, directory, sessionTimeoutMs: longSessionMs, processorMongo: tap.url });
  try {
    const targets = await cluster.openThreads(64);
    await rig.drive({ targets, warmupSeconds: 0, seconds: 4 });
    const before = await commitsOf(cluster);
    tap.take();
    const turnsMax = 20;
    await rig.drive({ targets: targets.map((target) => ({ ...target, turnsMax })), warmupSeconds: 0, seconds: 120 });
    const commands = tap.take();
    const turns = targets.length * turnsMax;
    const count = (names: RegExp): number =>
      [...commands].reduce((sum, [name, times]) => sum + (names.test(name) ? times : 0), 0);
    const counts = {
      logCommits: ((await commitsOf(cluster)) - before) / turns,
      storeRoundTrips: count(/^insert commits$/) / turns,
      reads: count(/^(find|aggregate|getMore) (commits|snapshots|parked)/) / turns,
    };
    await sleep(3_000);
    return { counts, idle: await idleOf(cluster, plan.idleSeconds) };
  } finally {
    await cluster.stop();
    await tap.close();
  }
}

/** Commits of the 64 threads together, read from the logs. */
async function commitsOf(cluster: RunningCluster): Promise<number> {
  const { data } = (await cluster.get('/v1/threads?limit=200')) as {
    readonly data: readonly { readonly id: string }[];
  };
  let commits = 0;
  for (const { id } of data) {
    for (let cursor: string | null = '0'; cursor !== null;) {
      const page = (await cluster.get(`/v1/threads/${id}/commits?limit=200&cursor=${cursor}`)) as {
        readonly data: readonly object[];
        readonly next_cursor: string | null;
      };
      commits += page.data.length;
      cursor = page.next_cursor;
    }
  }
  return commits;
}

async function idleOf(cluster: RunningCluster, seconds: number): Promise<ClusterResult['idle']> {
  const before = [...cluster.services].map(([service, { pid }]) => ({ service, pid, figures: figuresOf([pid]) }));
  await sleep(seconds * 1_000);
  return before.map(({ service, pid, figures }) => {
    const after = figuresOf([pid]);
    const cpuPercent = figures && after ? ((after.cpuSeconds - figures.cpuSeconds) / seconds) * 100 : null;
    return { service, cpuPercent };
  });
}

async function measureTakeover(rig: Rig, plan: ClusterPlan, base: Base): Promise<TakeoverResult> {
  rig.say(`takeover: a processor is killed with ${plan.slowThreads} completions in flight`);
  const model = await startSlowModel(rig, takeoverModelMs);
  const options = { ...base, model: model.url, sessionTimeoutMs: shortSessionMs, processors: 2 };
  const cluster = await startCluster({ ...options, directory: rig.room('takeover') });
  try {
    const threads = await cluster.openAgentThreads('slow', plan.slowThreads);
    const turn = { body: JSON.stringify({ text: 'think about {token}' }), expect: 'thought about it' };
    const targets = threads.map((thread) => ({ ...cluster.turnOf(thread, turn), turnsMax: 1 }));
    await rig.drive({ targets: targets.slice(0, 50), warmupSeconds: 0, seconds: 60 }); // both processors are warm
    await model.counts();
    const driven = rig.drive({ targets, warmupSeconds: 0, seconds: 120, toleratesErrors: true });
    await untilInFlight(model, plan.slowThreads);
    const killedAt = performance.now();
    process.kill(cluster.services.get('thread-processor')?.pid ?? 0, 'SIGKILL');
    const { errorCount } = await driven;
    const untilAllGoOnMs = performance.now() - killedAt - takeoverModelMs;
    const doubled = await doubledAnswers(cluster, threads);
    const rolling = await rollingRestart(rig, plan, { ...options, directory: rig.room('rolling') }, model);
    return {
      completions: plan.slowThreads,
      sessionTimeoutMs: shortSessionMs,
      lost: errorCount,
      doubled,
      untilAllGoOnMs,
      ...rolling,
    };
  } finally {
    await cluster.stop();
    await model.stop();
  }
}

type SlowModel = Awaited<ReturnType<typeof startSlowModel>>;

async function untilInFlight(model: SlowModel, completions: number): Promise<void> {
  for (const until = Date.now() + 30_000; Date.now() < until; await sleep(50)) {
    const { inFlightMost } = await model.counts();
    if (inFlightMost >= completions * 0.9) return;
  }
  throw new Error(
    `there were never ${completions * 0.9} completions in flight, so nothing can be said about a takeover`,
  );
}

/** Answers beyond one per message, over all threads. */
async function doubledAnswers(cluster: RunningCluster, threads: readonly string[]): Promise<number> {
  let doubled = 0;
  for (const thread of threads) {
    const { data } = (await cluster.get(`/v1/threads/${thread}/messages?limit=200`)) as {
      readonly data: readonly { readonly role: string }[];
    };
    const said = data.filter(({ role }) => role === 'user').length;
    doubled += Math.max(0, data.filter(({ role }) => role === 'assistant').length - said);
  }
  return doubled;
}

/** A processor is stopped while completions run: it lets them finish. */
async function rollingRestart(
  rig: Rig,
  plan: ClusterPlan,
  options: ClusterOptions,
  model: SlowModel,
): Promise<Pick<TakeoverResult, 'boughtTwiceOnRollingRestart' | 'inFlightOnRollingRestart'>> {
  rig.say('a processor is stopped cleanly with completions in flight');
  const cluster = await startCluster(options);
  try {
    const threads = await cluster.openAgentThreads('slow', plan.slowThreads);
    const turn = { body: JSON.stringify({ text: 'think about {token}' }), expect: 'thought about it' };
    const targets = threads.map((thread) => ({ ...cluster.turnOf(thread, turn), turnsMax: 1 }));
    await rig.drive({ targets: targets.slice(0, 50), warmupSeconds: 0, seconds: 60 });
    await model.counts();
    const driven = rig.drive({ targets, warmupSeconds: 0, seconds: 120 });
    await sleep(1_000);
    await cluster.services.get('thread-processor')?.stop(30_000);
    await driven;
    const { calls, inFlightMost } = await model.counts();
    const boughtTwice = calls.reduce((sum, times) => sum + times - 1, 0);
    return { boughtTwiceOnRollingRestart: boughtTwice, inFlightOnRollingRestart: inFlightMost };
  } finally {
    await cluster.stop();
  }
}
