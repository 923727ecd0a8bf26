// A failover under load: clients talk to a cluster before, while and after something is done to it, and until then
// nothing else is. Then everything comes to rest, and the judges of chaos runs read every log.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChaosCluster, type ClusterVariant, startChaosCluster } from '../chaos/chaos-cluster.ts';
import { countFindings, type Finding, judge } from '../chaos/judge.ts';
import { type Phase, type Waits, waitsOf } from '../chaos/neighbours.ts';
import { mountDisk, type SmallDisk } from '../e2e/small-disk.ts';
import { type RecordingToolServer, serverName, startRecordingToolServer } from '../recovery/recording-tool-server.ts';
import { createWorkload } from '../recovery/workload.ts';
import { ServerMissing } from '../services/service.ts';
import { serviceCache } from '../services/service-cache.ts';
import { watchAnswers } from './answer-watch.ts';
import { longestPauses, turnEnds } from './pauses.ts';

export interface FailoverOrder {
  readonly variant?: ClusterVariant;
  /** A server's directory below the run's, which gets a disk of its own, and its bytes. */
  readonly disk?: { readonly of: string; readonly bytes: number };
  /** Under load; what it waits for is part of the time that is called `during`. */
  readonly act: (cluster: ChaosCluster, say: (line: string) => void, disk: SmallDisk | null) => Promise<void>;
  readonly threads?: number;
  readonly warmSeconds?: number;
  /** Before it, and after it. */
  readonly quietSeconds?: number;
  readonly restSeconds?: number;
}

export type PhaseName = 'before' | 'during' | 'after';

export interface FailoverReport {
  readonly messages: number;
  readonly threads: number;
  readonly commits: number;
  readonly turns: number;
  readonly duringSeconds: number;
  readonly violations: readonly Finding[];
  readonly found: Readonly<Record<'lost' | 'doubled' | 'unended', number>>;
  /** From a message to the answer that a client could read, of threads whose messages wait for the turn that runs. */
  readonly waits: Readonly<Record<PhaseName, Waits>>;
  /** The longest time without the end of a turn, milliseconds. */
  readonly pausesMs: Readonly<Record<PhaseName, number>>;
  /** How often each event is in the logs of the services. */
  readonly logged: ReadonlyMap<string, number>;
}

/** What follows an action within this time is its consequence. */
const consequencesMs = 5_000;
/** Between two messages of a client: together the clients need about half of two cores. */
const pauseMs = { from: 500, to: 2_500 };

/** @throws ServerMissing when this machine cannot have the servers, or no disk. */
export async function runFailover(title: string, order: FailoverOrder): Promise<FailoverReport> {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-failover-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  process.once('exit', remove); // ended in the middle, by a signal
  const say = (line: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 23)}  ${line}\n`);
  const tools = await startRecordingToolServer(60);
  let cluster: ChaosCluster | null = null;
  let disk: SmallDisk | null = null;
  let kept = true;
  try {
    if (order.disk !== undefined) {
      disk = mountDisk(join(directory, order.disk.of), order.disk.bytes);
      if (disk === null) throw new ServerMissing('a disk of its own takes root on Linux');
    }
    cluster = await startChaosCluster(directory, serviceCache, say, { places: 'usual', ...order.variant });
    const report = await underLoad({ cluster, disk }, tools, order, say);
    say(lineOf(title, report));
    kept = report.violations.length > 0;
    return report;
  } finally {
    await cluster?.close();
    await tools.close();
    process.off('exit', remove);
    disk?.unmount();
    if (kept) say(`the output of every process is kept in ${directory}`);
    else remove();
  }
}

async function underLoad(
  { cluster, disk }: { readonly cluster: ChaosCluster; readonly disk: SmallDisk | null },
  tools: RecordingToolServer,
  { act, threads: clients = 24, warmSeconds = 15, quietSeconds = 30, restSeconds = 180 }: FailoverOrder,
  say: (line: string) => void,
): Promise<FailoverReport> {
  const workload = createWorkload((...request) => cluster.request(...request));
  const threads = await workload.prepare(tools.url, clients);
  const watch = watchAnswers((...request) => cluster.request(...request));
  let talking = true;
  const talks = threads.map((thread) => workload.talk(thread, () => talking, pauseMs));
  const phases: Phase[] = [];
  const phase = async (name: PhaseName, work: () => Promise<unknown>): Promise<void> => {
    say(name);
    const from = Date.now();
    await work();
    phases.push({ name, from, until: Date.now() });
  };
  await sleep(warmSeconds * 1_000);
  await phase('before', () => sleep(quietSeconds * 1_000));
  await phase('during', async () => {
    await act(cluster, say, disk);
    await cluster.untilReady();
    await sleep(consequencesMs);
  });
  await phase('after', () => sleep(quietSeconds * 1_000));
  talking = false;
  const messages = (await Promise.all(talks)).reduce((sum, said) => sum + said, 0);
  const history = await workload.history(tools, restSeconds * 1_000);
  const answeredAt = await watch.end();
  const waits = waitsOf(history, serverName, phases, answeredAt) as FailoverReport['waits'];
  const ends = turnEnds(history, answeredAt);
  const violations = judge(history, waits);
  const during = phases.find(({ name }) => name === 'during');
  return {
    ...{ messages, threads: history.threads.length, turns: ends.length, waits, violations },
    commits: history.threads.reduce((sum, thread) => sum + thread.commits.length, 0),
    duringSeconds: Math.round(((during?.until ?? 0) - (during?.from ?? 0)) / 1_000),
    found: countFindings(violations),
    pausesMs: longestPauses(ends, phases) as FailoverReport['pausesMs'],
    logged: cluster.loggedEvents(),
  };
}

/** As docs/failover.md has it. */
function lineOf(title: string, { messages, turns, found, waits, pausesMs, duringSeconds }: FailoverReport): string {
  const names = ['before', 'during', 'after'] as const;
  const of = (name: PhaseName): string =>
    `${name}: ${waits[name].messages} messages, p50 ${waits[name].p50}, p99 ${waits[name].p99}, longest pause ${pausesMs[name]} ms`;
  const { lost, doubled, unended } = found;
  return `${title}: ${messages} messages, ${turns} turns; lost ${lost}, doubled ${doubled}, never at rest ${unended}; ${duringSeconds} s; ${names.map(of).join('; ')}`;
}
