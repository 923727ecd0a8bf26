// Exact counts per one-tool turn: commits, other writes, reads, HTTP requests; and whether durable writes really sync.
//
// Invariants:
//   B15. Counted over whole turns, one after another on one warm thread, with the writes that follow them included.
//   B16. A write on the path is a transaction that a turn waits for and that is not a log commit. Turn after turn on
//        one thread whose model does not answer at once, so that no commit shares its transaction, every transaction
//        beyond the commits is one, except for the few in which collected writes found no other to join: hence the
//        rounding. The raw number of transactions is reported beside it.
//   B17. A read in a slice is one that the thread-processor makes of a thread: not its check of the timers once a
//        second, nor of a tenant's state and its paused agents twice a second.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from './contestant.ts';
import { type RunningDormouse, startDormouse } from './dormouse.ts';
import type { Target, ToolCounts } from './driver-job.ts';
import type { ProbeAnswer, StatementCounts } from './probe-answer.ts';
import type { Rig } from './bench-rig.ts';
import { countSyncs, straceIsThere } from './sync-count.ts';

export interface CountsPlan {
  readonly turns: number;
  /** Threads of the second count of syncs, where commits are written together. */
  readonly manyThreads: number;
}

export interface CountsResult {
  readonly turns: number;
  readonly plain: TurnCounts;
  /** The same with an Idempotency-Key on each message. */
  readonly withKey: TurnCounts;
  readonly syncs: readonly ContestantSyncs[];
  readonly syncsCountedBy: 'strace' | 'not counted: strace is missing or may not attach';
}

/** All per turn. */
export interface TurnCounts {
  readonly logCommits: number;
  readonly events: number;
  readonly transactions: number;
  /** Transactions beyond the log commits. (B16) */
  readonly writesOnPath: number;
  /** Changes besides commits, in any transaction. */
  readonly otherStatements: number;
  readonly readsInSlices: number;
  readonly readsElsewhere: number;
  readonly invocations: number;
  readonly callbacks: number;
  /** Everything that was executed, most frequent first. */
  readonly statements: readonly { readonly statement: string; readonly perTurn: number }[];
}

export interface ContestantSyncs {
  readonly contestant: string;
  readonly threads: number;
  readonly syncsPerTurn: number;
  readonly writesPerTurn: number;
}

const warmupTurns = 60;
const behindMs = 1_500;
const hourSeconds = 3_600;
const partOfCommit =
  /\b(commits|inputs|thread_numbers)\b|INSERT INTO owed\b|^(BEGIN|COMMIT|SAVEPOINT|RELEASE|ROLLBACK|PRAGMA)\b/i;

interface Tally {
  readonly commits: number;
  readonly events: number;
  readonly statements: StatementCounts;
  readonly tools: ToolCounts;
}

export async function countExactly(
  rig: Rig,
  contestants: readonly Contestant[],
  plan: CountsPlan,
): Promise<CountsResult> {
  const running = await startDormouse({
    tools: rig.tools,
    directory: rig.room('counts'),
    probe: 'statements',
  });
  try {
    const [target] = await running.openThreads(1);
    if (!target) throw new Error('no thread was opened');
    await turnsOf(rig, target, warmupTurns);
    await sleep(behindMs);
    const plain = await countTurns(rig, running, target, plan.turns);
    const keyed = { ...target, headers: { ...target.headers, 'idempotency-key': 'bench-{token}' } };
    const withKey = await countTurns(rig, running, keyed, plan.turns);
    rig.say(
      `${plain.logCommits} log commits, ${plain.writesOnPath} other writes on the path, ${plain.readsInSlices} reads in slices per turn`,
    );
    await running.stop();
    const syncs = await countAllSyncs(rig, contestants, plan);
    return {
      turns: plan.turns,
      plain,
      withKey,
      syncs,
      syncsCountedBy: syncs.length > 0 ? 'strace' : 'not counted: strace is missing or may not attach',
    };
  } finally {
    await running.stop();
  }
}

export async function countTurns(
  rig: Rig,
  running: RunningDormouse,
  target: Target,
  count: number,
): Promise<TurnCounts> {
  const before = await tally(rig, running);
  await turnsOf(rig, target, count);
  await sleep(behindMs); // (B15)
  const after = await tally(rig, running);
  const statements = Object.entries(after.statements)
    .map(([statement, executed]) => ({ statement, perTurn: (executed - (before.statements[statement] ?? 0)) / count }))
    .filter(({ perTurn }) => perTurn > 0)
    .toSorted((one, other) => other.perTurn - one.perTurn);
  const sumOf = (wanted: (statement: string, sql: string) => boolean): number =>
    round(
      statements
        .filter(({ statement }) => wanted(statement, sqlOf(statement)))
        .reduce((total, { perTurn }) => total + perTurn, 0),
    );
  const logCommits = (after.commits - before.commits) / count;
  const transactions = sumOf((_, sql) => sql === 'COMMIT');
  return {
    logCommits,
    events: (after.events - before.events) / count,
    transactions,
    writesOnPath: Math.max(0, Math.round(transactions - logCommits)), // (B16)
    otherStatements: sumOf((statement, sql) => byWriter(statement) && !partOfCommit.test(sql)),
    readsInSlices: sumOf((statement, sql) => isInSlice(statement) && isRead(sql)),
    readsElsewhere: sumOf((statement, sql) => !byWriter(statement) && !isInSlice(statement) && isRead(sql)),
    invocations: (after.tools.invocations - before.tools.invocations) / count,
    callbacks: (after.tools.callbacks - before.tools.callbacks) / count,
    statements,
  };
}

const byWriter = (statement: string): boolean => statement.startsWith('writer: ');
/** (B17) */
const isInSlice = (statement: string): boolean =>
  statement.startsWith('thread-processor: ') && !/FROM (timers|tenants|paused_agents)\b/.test(statement);
const isRead = (sql: string): boolean => sql.startsWith('SELECT');
const sqlOf = (statement: string): string => statement.slice(statement.indexOf(': ') + 2);
const round = (value: number): number => Math.round(value * 1_000) / 1_000;

async function tally(rig: Rig, running: RunningDormouse): Promise<Tally> {
  const probe = (await running.process.ask({ ask: 'probe' })) as ProbeAnswer;
  const writer = existsSync(running.probeFile)
    ? (JSON.parse(readFileSync(running.probeFile, 'utf8')) as StatementCounts)
    : {};
  const database = new DatabaseSync(join(running.dataDirectory, 'dormouse.db'), { readOnly: true });
  const row = database.prepare('SELECT count(*) AS commits, sum(count) AS events FROM commits').get();
  database.close();
  const tools = await rig.toolCounts();
  return {
    commits: Number(row?.['commits']),
    events: Number(row?.['events']),
    statements: { ...probe.statements, ...writer },
    tools,
  };
}

async function countAllSyncs(
  rig: Rig,
  contestants: readonly Contestant[],
  plan: CountsPlan,
): Promise<readonly ContestantSyncs[]> {
  const counted: ContestantSyncs[] = [];
  if (!straceIsThere()) return counted;
  for (const contestant of contestants) {
    const directory = rig.room(`${contestant.name}-syncs`);
    const running = await contestant.start({ tools: rig.tools, directory });
    try {
      for (const threads of [1, plan.manyThreads]) {
        const targets = await running.openThreads(threads);
        const turnsMax = Math.max(2, Math.ceil(plan.turns / threads));
        const each = targets.map((target) => ({ ...target, turnsMax }));
        await rig.drive({
          targets: targets.map((target) => ({ ...target, turnsMax: 2 })),
          warmupSeconds: 0,
          seconds: hourSeconds,
        });
        await sleep(behindMs);
        const count = await countSyncs(directory, running.pids, async () => {
          await rig.drive({ targets: each, warmupSeconds: 0, seconds: hourSeconds });
        });
        if (count === null) return [];
        const total = turnsMax * threads;
        counted.push({
          contestant: contestant.name,
          threads,
          syncsPerTurn: round(count.syncs / total),
          writesPerTurn: round(count.writes / total),
        });
        rig.say(
          `${contestant.name.padEnd(16)} ${String(threads).padStart(2)} threads: ${(count.syncs / total).toFixed(2)} syncs per turn`,
        );
      }
    } finally {
      await running.stop();
    }
  }
  return counted;
}

/** One after another. */
export async function turnsOf(rig: Rig, target: Target, count: number): Promise<void> {
  await rig.drive({ targets: [{ ...target, turnsMax: count }], warmupSeconds: 0, seconds: hourSeconds });
}
