// Summaries of threads for lists: rebuildable from the log, never the truth. The row of a new thread comes first
// (`opening`): the ingress writes it with all that its opening needs, so that a lost opening can be produced again.
import type { ThreadOpening, WaitingOn, TenantId } from '@dormouse/thread';
import type { Page, PageRequest } from '../registry/registry.ts';
import type { ThreadKey } from './thread-key.ts';
import type { ThreadUsage, UsageQuery, UsageRange, UsageRow, UsageTotals } from './usage.ts';

export type ThreadStatus = 'opening' | 'parked' | 'closed' | 'thinking' | 'waiting' | 'idle';

/** What a thread itself may wait for; a completion that waits for a slot is known to its process alone. */
export const threadWaitKinds = ['tool_call', 'approval', 'choice', 'oauth', 'timer'] as const;
export type ThreadWaitKind = (typeof threadWaitKinds)[number];

/** Since when the oldest wait of each kind lasts, milliseconds since the epoch. */
export type OldestWaits = Readonly<Partial<Record<ThreadWaitKind, number>>>;

/** A call that its tool server owes an answer: not settled, and no person is asked. */
export interface OpenCall {
  readonly toolServer: string;
  readonly toolCallId: string;
  /** Milliseconds since the epoch: the call was requested, or a person's last answer let it go on. */
  readonly since: number;
}

/** What is open in a thread. */
export interface ThreadWaits {
  readonly oldest: OldestWaits;
  readonly subscriptions: number;
  /** The oldest call at each tool server; absent for none. */
  readonly calls?: readonly OpenCall[];
}

/** All threads of all tenants, as far as their rows are written. */
export interface ThreadCensus extends Omit<ThreadWaits, 'calls'> {
  readonly threads: Readonly<Record<ThreadStatus, number>>;
  /** The oldest call at each tool server, by its name; where tenants share a name, the oldest of them all. */
  readonly calls: readonly Pick<OpenCall, 'toolServer' | 'since'>[];
}

export interface ThreadRow extends ThreadKey {
  readonly status: ThreadStatus;
  readonly agent: string;
  readonly agentVersion: number;
  readonly parent: string | null;
  readonly family: string;
  readonly userId: string | null;
  readonly externalId: string | null;
  readonly title: string | null;
  /** First words of the first message. Absent: none yet, or a row of before. */
  readonly firstWords?: string;
  /** What the thread waited for when the row was projected; at most `waitingOnMax`. Absent: nothing. */
  readonly waitingOn?: readonly WaitingOn[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Events in the log when the row was projected; 0 while `opening`. */
  readonly position: number;
  /** Kept until the thread is open. */
  readonly opening: ThreadOpening | null;
  /** The thread whose history goes before its own; absent for none. */
  readonly forkedFrom?: string;
  /** Since when it is being removed; absent while it is not. (resting-threads) */
  readonly leavingAt?: number;
}

/** The part of a row that comes from the processor. */
export interface ThreadProjection extends ThreadKey {
  readonly status: ThreadStatus;
  readonly title: string | null;
  /** Position of the event that gave the title: a row at or behind it keeps its own title. Absent: the title is new. */
  readonly titledAt?: number;
  readonly updatedAt: number;
  readonly position: number;
  /** Absent: the row keeps what it has, and so it does with `waitingOn`. */
  readonly waits?: ThreadWaits;
  /** Read with `waits`. */
  readonly waitingOn?: readonly WaitingOn[];
  /** The row takes the first that it gets. */
  readonly firstWords?: string | null;
  /** Of the thread's last days with usage; each replaces what was known of that day, unless its position is later. */
  readonly usage?: ThreadUsage;
}

/** Entries of a row; more are left out. */
export const waitingOnMax = 50;

export interface ThreadFilter {
  readonly status?: ThreadStatus;
  /** Threads that count as `waiting` where their rows say `idle`: threads below them wait for people. */
  readonly waitingBelow?: readonly string[];
  readonly agent?: string;
  /** Threads of any of these. */
  readonly agents?: readonly string[];
  readonly parent?: string;
  readonly userId?: string;
  readonly externalId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly createdAfter?: number;
  /** Exclusive, as `createdAfter`. */
  readonly updatedAfter?: number;
  /** By creation; default: `desc`, the newest first. */
  readonly order?: 'asc' | 'desc';
}

/** What a tenant has open, as far as the rows are written. */
export interface OpenOfTenant {
  /** Threads that are not closed, children among them. */
  readonly threads: number;
  /** Of those threads. */
  readonly subscriptions: number;
}

/** Title and metadata set by a client; an erasure takes first words back. */
export interface RowPatch {
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly firstWords?: null;
}

export interface ThreadDirectory {
  /** Resolves when durable. `exists` when the thread id or the external id is taken, with the row that has it. */
  insert(
    row: ThreadRow,
  ): Promise<{ readonly inserted: true } | { readonly inserted: false; readonly existing: ThreadRow }>;
  get(key: ThreadKey): Promise<ThreadRow | null>;
  /** Newest first, unless the filter says otherwise. */
  list(tenant: TenantId, filter: ThreadFilter, page: PageRequest): Promise<Page<ThreadRow>>;
  patch(key: ThreadKey, patch: RowPatch): Promise<ThreadRow | null>;
  /** The thread has this external id no more, if it had: it is closed, and another takes its place. */
  releaseExternalId(key: ThreadKey, externalId: string): Promise<void>;
  /** Batched and lazy; an older position never overwrites a newer one. */
  project(projections: readonly ThreadProjection[]): Promise<void>;
  /** Threads that have been `opening` since before this time, with their openings. */
  stuckOpenings(before: number, limit: number): Promise<readonly ThreadRow[]>;
  /** Whether any thread that is not closed uses the agent. */
  usesAgent(tenant: TenantId, agent: string): Promise<boolean>;
  /**
   * Usage by group, as far as it was projected: by agent and by day in the order of their keys, by thread in descending
   * order of theirs. Costs grow with the groups and days, or with the threads of the page.
   */
  usage(tenant: TenantId, query: UsageQuery, page: PageRequest): Promise<Page<UsageRow>>;
  usageTotal(tenant: TenantId, range: UsageRange): Promise<UsageTotals>;
  /** Costs the same with many threads as with few, or nearly: it is asked again and again. */
  census(): Promise<ThreadCensus>;
  /** It is asked again and again: of a tenant with many threads it may cost an index scan, and no row of a thread. */
  openOf(tenant: TenantId): Promise<OpenOfTenant>;
  /** The oldest of all threads at this tool server, as far as their rows are written; null for none. */
  oldestCall(tenant: TenantId, toolServer: string): Promise<OpenCall | null>;
}
