// What the four steps need: the processor's parts, and what a lane remembers between its slices.
import type { Clock, LiveFeed, ThreadLog, Views } from '@dormouse/ports';
import type { HashKey } from '../../keyed-hash.ts';
import type { AskAtOnce } from '../completion/answer-at-once.ts';
import type { Discarded } from '../discarded.ts';
import type { GroupCommit } from '../group-commit.ts';
import type { Hold } from '../held-deliveries.ts';
import type { Debtor, PaymentDeps } from '../payment.ts';
import type { Projections } from '../projections.ts';
import type { ProcessorProtocol, Stretch } from '../protocol.ts';
import type { SnapshotWriter } from '../snapshot-writer.ts';
import type { StateCache } from '../state-cache.ts';
import type { ThreadSources } from '../thread-state.ts';

export interface SliceDeps {
  readonly log: ThreadLog;
  readonly groupCommit: GroupCommit;
  readonly sources: ThreadSources;
  readonly cache: StateCache;
  readonly snapshots: SnapshotWriter;
  readonly projections: Projections;
  readonly feed: LiveFeed;
  readonly views: Views;
  readonly clock: Clock;
  readonly entropy: { nonce(): string };
  readonly idKey: HashKey;
  readonly commitBytesMax: number;
  readonly inputsPerSliceMax: number;
  readonly protocol: ProcessorProtocol;
  readonly payment: PaymentDeps;
  readonly askAtOnce: AskAtOnce;
  readonly discarded: Discarded;
}

export interface LaneMemory extends Debtor {
  /** What this lane has paid itself; null until it knows. (V1) */
  stretch: Stretch | null;
  /** Of finished items, those that something still holds. */
  openHolds: Hold[];
}
