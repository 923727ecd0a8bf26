// One run: a cluster, people who talk to it, and mischief by seed; then peace, and the judges of the simulator read every log.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkHistory, type History, readHistory } from '@dormouse/testing';
import { type RecordingToolServer, startRecordingToolServer } from '../recovery/recording-tool-server.ts';
import { createWorkload } from '../recovery/workload.ts';
import { type ChaosCluster, startChaosCluster } from './chaos-cluster.ts';
import { chosen } from './mischief.ts';

export interface ChaosOrder {
  readonly seed: number;
  readonly seconds: number;
  readonly threads: number;
  readonly cache: string;
  readonly say: (line: string) => void;
}

export interface ChaosReport {
  readonly seed: number;
  readonly seconds: number;
  readonly messages: number;
  readonly threads: number;
  readonly commits: number;
  readonly violations: readonly unknown[];
  /** How often each mischief was done, each rare path taken, each event logged: zero proves nothing about it. */
  readonly counted: Readonly<Record<string, number>>;
  /** Rare paths of guarantees §2 that were never taken: nothing is proved about them. */
  readonly unseen: readonly string[];
}

/** The rare paths that a run is to take, by the events that tell of them. */
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

const pauseMsMax = 1_500;
const restWithinMs = 120_000;

export async function runChaos(order: ChaosOrder): Promise<ChaosReport> {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-chaos-'));
  const tools = await startRecordingToolServer(60);
  let cluster: ChaosCluster | null = null;
  let kept = false;
  try {
    cluster = await startChaosCluster(directory, order.cache, order.say);
    const report = await hurt(cluster, tools, order);
    kept = report.violations.length > 0;
    if (kept) order.say(`the output of every process is kept in ${directory}`);
    return report;
  } catch (error) {
    kept = true;
    order.say(`the output of every process is kept in ${directory}`);
    throw error;
  } finally {
    await cluster?.close();
    await tools.close();
    if (!kept) rmSync(directory, { recursive: true, force: true });
  }
}

async function hurt(cluster: ChaosCluster, tools: RecordingToolServer, order: ChaosOrder): Promise<ChaosReport> {
  const { seed, seconds, say } = order;
  const random = mulberry32(seed);
  const workload = createWorkload((...request) => cluster.request(...request));
  const threads = await workload.prepare(tools.url, order.threads);
  const counted: Record<string, number> = {};
  let talking = true;
  const talks = threads.map((thread) => workload.talk(thread, () => talking));
  for (const until = Date.now() + seconds * 1_000; Date.now() < until;) {
    await sleep(random() * pauseMsMax);
    const mischief = chosen(random);
    say(`${new Date().toISOString().slice(11, 23)}  ${mischief.name}`);
    counted[mischief.name] = (counted[mischief.name] ?? 0) + 1;
    await mischief.act(cluster, random);
  }
  await cluster.untilReady();
  talking = false;
  const messages = (await Promise.all(talks)).reduce((sum, said) => sum + said, 0);
  const history = await workload.history(tools, restWithinMs);
  const events = cluster.loggedEvents();
  return {
    ...{ seed, seconds, messages, threads: history.threads.length },
    commits: history.threads.reduce((sum, thread) => sum + thread.commits.length, 0),
    violations: checkHistory(history),
    counted: { ...counted, ...rarePaths(history, tools), ...Object.fromEntries(events) },
    unseen: Object.keys(proofs).filter((event) => !events.has(event)),
  };
}

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

/** A small generator with a seed: the same mischief in the same order. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
