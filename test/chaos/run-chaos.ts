// One run in three phases: clients that talk to a quiet cluster; the same beside a crowd; the same with faults by seed,
// until the time is over. Then the crowd leaves, everything may take minutes to come to rest, and the judges read every
// log.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type History, readHistory } from '@dormouse/testing';
import { type RecordingToolServer, serverName, startRecordingToolServer } from '../recovery/recording-tool-server.ts';
import { createWorkload, onInterrupts, type PauseMs } from '../recovery/workload.ts';
import { type ChaosCluster, instances, startChaosCluster } from './chaos-cluster.ts';
import { type CrowdKind, createCrowd } from './crowd.ts';
import { countFindings, type Finding, judge } from './judge.ts';
import { faultKinds, type FaultKind } from './mischief.ts';
import { type Phase, phasesOfFaults, type Waits, waitsOf } from './neighbours.ts';
import { between, mulberry32 } from './random.ts';

export interface ChaosOrder {
  readonly seed: number;
  /** Of faults; the phases before come on top. */
  readonly seconds: number;
  /** For first toolsets and cold programs, measured by no phase. */
  readonly warmSeconds: number;
  readonly quietSeconds: number;
  readonly crowdSeconds: number;
  /** How long everything may take to come to rest afterwards. */
  readonly restSeconds: number;
  readonly threads: number;
  readonly crowd: CrowdKind;
  readonly faults: FaultKind;
  readonly cache: string;
  readonly say: (line: string) => void;
}

export interface ChaosReport {
  readonly seed: number;
  readonly seconds: number;
  readonly messages: number;
  readonly threads: number;
  readonly commits: number;
  readonly violations: readonly Finding[];
  readonly found: Readonly<Record<'lost' | 'doubled' | 'unended', number>>;
  /** How long healthy threads waited, by phase. */
  readonly waits: Readonly<Record<string, Waits>>;
  /** How often each fault happened, each rare path was taken, each event was logged: zero proves nothing about it. */
  readonly counted: Readonly<Record<string, number>>;
  /** Rare paths that were never taken: nothing is proved about them. */
  readonly unseen: readonly string[];
}

/** The rare paths that a run is to take, by the events that show them. */
export const proofs: Readonly<Record<string, string>> = {
  commit_conflict: 'a version that somebody else had taken',
  commit_duplicate: 'an input found by the index',
  commit_read_back: 'a commit whose answer was lost',
  redelivery_repaid: 'a redelivery that was paid again',
  foreign_commits_paid: 'a commit met on a reload and paid',
  callback_discarded: 'a refusal that the log confirmed',
  offsets_not_committed: 'a former owner, or a broker that was away, refused an offset',
  claim_lost: 'a call at most once that another process had claimed',
};

const firstFaults = 5;
/** Pauses keep two cores from being busy with the healthy load alone: a wait is then caused by something else. */
const pauses: Readonly<Record<(typeof onInterrupts)[number], PauseMs>> = {
  cancel: { from: 0, to: 4_000 },
  keep: { from: 0, to: 4_000 },
  queue: { from: 1_000, to: 3_000 },
};

export async function runChaos(order: ChaosOrder): Promise<ChaosReport> {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-chaos-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  process.once('exit', remove); // ended in the middle, by a signal
  const tools = await startRecordingToolServer(60);
  let cluster: ChaosCluster | null = null;
  let kept = false;
  try {
    cluster = await startChaosCluster(directory, order.cache, order.say);
    order.say(`${timeOfDay()}  everything is ready`);
    const report = await hurt(cluster, tools, order);
    kept = report.violations.length > 0;
    return report;
  } catch (error) {
    kept = true;
    throw error;
  } finally {
    await cluster?.close();
    await tools.close();
    process.off('exit', remove);
    if (kept) order.say(`the output of every process is kept in ${directory}`);
    else remove();
  }
}

async function hurt(cluster: ChaosCluster, tools: RecordingToolServer, order: ChaosOrder): Promise<ChaosReport> {
  const { seed, seconds, say } = order;
  const workload = createWorkload((...request) => cluster.request(...request));
  const threads = await workload.prepare(tools.url, order.threads);
  const crowd = await createCrowd({
    ...{ workload, instances, kind: order.crowd },
    request: (...request) => cluster.request(...request),
  });
  try {
    say(`${timeOfDay()}  all threads are open`);
    let talking = true;
    const talks = threads.map((thread, person) =>
      workload.talk(thread, () => talking, pauses[onInterrupts[person % onInterrupts.length] ?? 'queue']),
    );
    const phases: Phase[] = [];
    const phase = async (name: 'quiet' | 'crowd' | 'faults', work: () => Promise<unknown>): Promise<void> => {
      say(`${timeOfDay()}  phase: ${name}`);
      const from = Date.now();
      await work();
      phases.push({ name, from, until: Date.now() });
    };
    await sleep(order.warmSeconds * 1_000);
    await phase('quiet', () => sleep(order.quietSeconds * 1_000));
    await crowd.come();
    await phase('crowd', () => sleep(order.crowdSeconds * 1_000));
    const counted: Record<string, number> = {};
    const faults: Phase[] = [];
    await phase('faults', () => mischiefFor(cluster, order, counted, faults));
    await cluster.untilReady();
    await crowd.leave();
    talking = false;
    const messages = (await Promise.all(talks)).reduce((sum, said) => sum + said, 0);
    say(`${timeOfDay()}  peace`);
    const history = await workload.history(tools, order.restSeconds * 1_000);
    const hurtPhase = phases.at(-1);
    const parts = hurtPhase === undefined ? [] : phasesOfFaults(hurtPhase, faults);
    const waits = waitsOf(history, serverName, [...phases, ...parts]);
    const violations = judge(history, waits);
    const events = cluster.loggedEvents();
    if (!events.has('limits_lowered')) throw new Error('the services did not take the lowered limits');
    return {
      ...{ seed, seconds, messages, threads: history.threads.length },
      commits: history.threads.reduce((sum, thread) => sum + thread.commits.length, 0),
      ...{ violations, waits },
      found: countFindings(violations),
      counted: {
        ...counted,
        ...rarePaths(history, tools),
        'POSTs to the dead tool server': crowd.posts(),
        ...Object.fromEntries(events),
      },
      unseen: Object.keys(proofs).filter((event) => !events.has(event)),
    };
  } finally {
    await crowd.close();
  }
}

/** The faults of its kind, one after the other, until the time is over; the first five whatever the time is. */
async function mischiefFor(
  cluster: ChaosCluster,
  { seed, seconds, faults: kind, say }: ChaosOrder,
  counted: Record<string, number>,
  times: Phase[],
): Promise<void> {
  const random = mulberry32(seed);
  const { faults, pauseMs } = faultKinds[kind];
  const until = Date.now() + seconds * 1_000;
  let done = 0;
  for (const mischief of faults(random)) {
    if (done >= firstFaults && Date.now() >= until) return;
    done += 1;
    await sleep(between(random, pauseMs.from, pauseMs.to));
    say(`${timeOfDay()}  ${mischief.name}`);
    counted[mischief.name] = (counted[mischief.name] ?? 0) + 1;
    const from = Date.now();
    await mischief.act(cluster, random);
    times.push({ name: mischief.name, from, until: Date.now() });
  }
}

const timeOfDay = (): string => new Date().toISOString().slice(11, 23);

function rarePaths(history: History, tools: RecordingToolServer): Record<string, number> {
  const outcomes = Map.groupBy(
    [...readHistory(history).calls.values()].flatMap(({ settled }) => settled),
    (event) => event.outcome,
  );
  return {
    'POSTs to tools': tools.posts.length,
    'POSTs repeated': tools.posts.length - new Set(tools.posts.map((post) => post.toolCallId)).size,
    'callbacks cut off': tools.callbacks.filter(({ status }) => status === null).length,
    'callbacks refused for now': tools.callbacks.filter(({ status }) => status !== null && status >= 500).length,
    ...Object.fromEntries([...outcomes].map(([outcome, events]) => [`calls settled: ${outcome}`, events.length])),
  };
}
