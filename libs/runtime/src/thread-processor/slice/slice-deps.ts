// Dependencies of the four steps of a slice, and the memory that a lane has from slice to slice.
import type { Clock, Commit, Logger, Stores } from '@dormouse/ports';
import type { decide, evolve, extendTranscript, isOwed } from '@dormouse/thread';
import type { HashKey } from '../../log/keyed-hash.ts';
import type { ModelPrices } from '../../tenants/model-prices.ts';
import type { TenantLimits } from '../../tenants/tenant-limits.ts';
import type { SliceTracing } from '../../tracing/slice-tracing.ts';
import type { Discarded } from './discarded.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Hold } from '../pay/held-deliveries.ts';
import type { Debtor, pay, PaymentDeps } from '../pay/payment.ts';
import type { Projections } from '../state/projections.ts';
import type { SnapshotWriter } from '../state/snapshot-writer.ts';
import type { StateCache } from '../state/state-cache.ts';
import type { Debt, readThread, ReadThread, ThreadSources, ThreadState } from '../state/thread-state.ts';
import type { confirmRefusal } from './confirm-refusal.ts';
import type { DecidedSlice } from './decide-slice.ts';
import type { SliceItem } from './slice-item.ts';

export interface SliceDeps extends Pick<Stores, 'log' | 'feed' | 'views'> {
  readonly groupCommit: GroupCommit;
  readonly sources: ThreadSources;
  readonly cache: StateCache;
  readonly snapshots: SnapshotWriter;
  readonly projections: Projections;
  readonly tracing: SliceTracing;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly entropy: { nonce(): string };
  readonly idKey: HashKey;
  readonly commitBytesMax: number;
  readonly protocol: SliceProtocol;
  readonly payment: PaymentDeps;
  readonly discarded: Discarded;
  readonly limits: Pick<TenantLimits, 'learning' | 'quotaOf' | 'committed'>;
  readonly prices: ModelPrices;
}

/** Commits with versions in `[from, to)` were paid by this lane. (V1) */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** What is known when a list of commits is about to be paid again. */
export interface Repayment {
  /** Version of the commit that decided the redelivered input, or where a recovery begins. */
  readonly from: number;
  /** Stretch of the log that this lane has paid itself. */
  readonly stretch: Stretch | null;
}

export interface LaneMemory extends Debtor {
  /** The commits that this lane has paid; null until its first reading. (V1) */
  stretch: Stretch | null;
  /** Holds of finished items that are still open. */
  openHolds: Hold[];
}

/** The functions of the four steps that the simulator can replace, see `protocol.ts`. */
export interface SliceProtocol {
  // The heart. Broken: late completions accepted, unstable refusals, a closed thread that leaves calls pending.
  readonly decide: typeof decide;
  readonly evolve: typeof evolve;
  readonly extendTranscript: typeof extendTranscript;
  /** Broken: unfiltered, or a detached call owes nothing. (V5, V9) */
  readonly isOwed: typeof isOwed;
  /**
   * Broken: paid before the append, a conflict taken for done, one duplicate taken for all, a failed slice skipped.
   * (V6, V8)
   */
  commitSlice(
    deps: SliceDeps,
    lane: LaneMemory,
    before: ThreadState,
    slice: DecidedSlice,
    at: number,
  ): Promise<readonly SliceItem[]>;
  /**
   * Whether our append with an unknown outcome happened; `stored` is what the log holds at its version. Broken: always
   * no.
   */
  wasAppended(ours: Commit, stored: Commit | null): boolean;
  /** Broken: head not read, input not looked up, neither, or looked up once for all reloads. (V4) */
  readonly confirmRefusal: typeof confirmRefusal;
  /** Broken: state from the cache, from another head, a list cut by the snapshot. (V5) */
  readonly readThread: typeof readThread;
  /** Broken: what a superseded completion held is released first, a completion holds nothing. (V1) */
  readonly pay: typeof pay;
  /** Broken: commits met on a reload are not paid. (V1) */
  payForeign(deps: SliceDeps, lane: LaneMemory, debts: readonly Debt[], state: ThreadState): Promise<void>;
  /**
   * From which version a redelivery is paid; null when this lane has paid everything. Broken: its own version always.
   * (V1, V5)
   */
  repayFrom(repayment: Repayment): number | null;
  /** Broken: none of the debts that were read, its own commit only, new ids. (V1) */
  payAgain(
    deps: SliceDeps,
    lane: LaneMemory,
    repayment: Repayment,
    read: Pick<ReadThread, 'state' | 'debts'>,
    hold: Hold,
  ): Promise<void>;
}
