// Finds what commits owe and nothing answers, and lets the owners of their threads pay it again: after a topic was
// lost, or a store was restored from a backup.
//
// Invariants:
//   C1. A debt counts as unanswered by what its payment leaves behind: the ledger's outcome of a call, the claim of a
//       notice, the input in its receiver's log. Where nothing is left behind (a completion, a toolset, a migration, a
//       timer), it counts while its thread waits for it.
//   C2. Debts of a commit that is younger than `olderThanMs` do not count: they are being paid.
//   C3. Nothing is paid here. The thread's owner pays in its lane, under the ids of the commits, as after a takeover;
//       twice is harmless, and so is a debt that was on its way.
//   C4. Undecided inputs are in no store: what a lost topic had of them is lost.
import { type PageRequest, repayWake, type ThreadKey, type TenantId } from '@dormouse/ports';
import { callOf, isOwed, type Thread, type ThreadEffect } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { openCommit } from '../../log/envelope.ts';
import { loadThread } from '../../log/thread-reader.ts';

export const debtKinds = [
  'calls',
  'completions',
  'toolsets',
  'migrations',
  'timers',
  'notices',
  'choice_answers',
  'children',
  'letters',
] as const;
export type DebtKind = (typeof debtKinds)[number];

export type DebtCounts = Readonly<Record<DebtKind, number>>;

export interface OwingThread {
  readonly threadId: string;
  /** Version of the first commit with a debt that nothing answers. */
  readonly from: number;
  readonly owed: DebtCounts;
}

export interface ReconcilePage {
  /** Threads that were looked at. */
  readonly threads: number;
  /** Those that owe. */
  readonly data: readonly OwingThread[];
  /** True when their owners were told to pay. */
  readonly paid: boolean;
  readonly nextCursor: string | null;
}

export interface ReconcileOptions {
  /** (C2) */
  readonly olderThanMs: number;
  /** False: nothing changes. */
  readonly pay: boolean;
}

export interface ReconcileApi {
  /** One page of the tenant's threads, oldest first. @throws Fault UNAVAILABLE. */
  page(tenant: TenantId, options: ReconcileOptions, page: PageRequest): Promise<ReconcilePage>;
}

export type ReconcilePorts = Pick<
  IngressParts,
  'log' | 'snapshots' | 'directory' | 'ledger' | 'toolServers' | 'bus' | 'clock'
>;

const commitsAtOnce = 500;

export function createReconcileApi(ports: ReconcilePorts): ReconcileApi {
  const { directory, bus, clock } = ports;
  return {
    page: async (tenant, { olderThanMs, pay }, page) => {
      const listed = await directory.list(tenant, { order: 'asc' }, page);
      const before = clock.now() - olderThanMs;
      const owing: OwingThread[] = [];
      for (const { thread, status } of listed.data) {
        if (status === 'parked') continue; // its debts wait for an operator, as its inputs do
        const found = await owingOf(ports, { tenant, thread }, before);
        if (found === null) continue;
        owing.push(found);
        if (pay) await bus.publish({ tenant, thread }, repayWake(found.from)); // (C3)
      }
      return { threads: listed.data.length, data: owing, paid: pay, nextCursor: listed.nextCursor };
    },
  };
}

async function owingOf(ports: ReconcilePorts, key: ThreadKey, before: number): Promise<OwingThread | null> {
  const { thread } = await loadThread(ports, key);
  const owed = Object.fromEntries(debtKinds.map((kind) => [kind, 0])) as Record<DebtKind, number>;
  let first: number | null = null;
  for (let next = 0; next < thread.position;) {
    const commits = await ports.log.read(key, next, commitsAtOnce);
    for (const commit of commits) {
      if (commit.at > before) return answerOf(key, first, owed); // (C2) later ones are younger
      for (const effect of openCommit(commit).effects) {
        const kind = isOwed(thread, effect) ? await unanswered(ports, key, thread, effect, before) : null;
        if (kind === null) continue;
        owed[kind] += 1;
        first ??= commit.version;
      }
    }
    const last = commits.at(-1);
    if (last === undefined) break;
    next = last.version + last.count;
  }
  return answerOf(key, first, owed);
}

const answerOf = ({ thread }: ThreadKey, from: number | null, owed: DebtCounts): OwingThread | null =>
  from === null ? null : { threadId: thread, from, owed };

/** What kind of debt it is; null when something answers it. (C1) */
async function unanswered(
  ports: ReconcilePorts,
  key: ThreadKey,
  thread: Thread,
  effect: ThreadEffect,
  before: number,
): Promise<DebtKind | null> {
  const { ledger } = ports;
  switch (effect.do) {
    case 'InvokeTool': // open: with an outcome that is a failure, what reports it was lost
      return (await ledger.read(key, effect.toolCallId))?.outcome === 'sent' ? null : 'calls';
    case 'RequestCompletion':
      return 'completions';
    case 'LoadToolsets':
      return 'toolsets';
    case 'MigrateToolServers':
      return 'migrations';
    case 'SetTimer':
      return effect.due <= before ? 'timers' : null;
    case 'SendCancelNotices':
    case 'SendCloseNotices':
      return (await isNoticeClaimed(ports, key, effect.id, effect.toolServers)) ? null : 'notices';
    case 'AnswerChoice': {
      const isOpen = callOf(thread, effect.toolCallId) !== undefined;
      return !isOpen || (await ledger.read(key, effect.id))?.outcome === 'sent' ? null : 'choice_answers';
    }
    case 'SpawnChild':
      return (await ports.log.head({ ...key, thread: effect.childId })) === null ? 'children' : null;
    case 'ReportToParent':
      return (await isRead(ports, { ...key, thread: effect.parentId }, effect.id)) ? null : 'letters';
    case 'SendToChild':
      return (await isRead(ports, { ...key, thread: effect.childId }, effect.id)) ? null : 'letters';
    default:
      return null; // paid by the slice itself, or void with the call that it withdraws
  }
}

async function isNoticeClaimed(
  { ledger, toolServers }: ReconcilePorts,
  key: ThreadKey,
  id: string,
  names: readonly string[],
): Promise<boolean> {
  for (const name of names) {
    if ((await toolServers.get(key.tenant, name)) === null) continue; // it can have none any more
    if ((await ledger.read(key, `${id}:${name}`)) === null) return false;
  }
  return true;
}

/** A closed thread refuses a letter without a commit. */
async function isRead({ log, directory }: ReconcilePorts, receiver: ThreadKey, input: string): Promise<boolean> {
  const [commit] = await log.findByInputs(receiver, [input]);
  if (commit !== null && commit !== undefined) return true;
  const row = await directory.get(receiver);
  return row === null || row.status === 'closed';
}
