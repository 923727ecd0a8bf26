// The patches of kafkajs 2.2.4, which is not maintained any more: seven methods, a list of
// versions, and hooks between leaving one
// generation of a group and working in the next. Applied once, when this module is loaded; kafkajs is pinned exactly.
//
// Invariants:
//   P1. A method is patched only if it looks as it did when this was written: another kafkajs fails loudly at load.
//   P2. The request queue keeps no timer while nothing is pending and nothing is throttled. (Unpatched: one per
//       millisecond and connection, 5 % of a core.)
//   P3. A coordinator that moved or died is looked up again, and the membership goes on. (Unpatched: a crash.)
//   P4. The hooks of a consumer get `leaving` before each join and `joined` after it, before anything is fetched.
//   P5. A partition that returned no record is skipped. (Unpatched: each of them goes through the work of a batch.)
//   P6. After a fetch that returned many records, the next fetch of the same broker lingers for more of them.
//       (Unpatched: it returns two or three.)
//   P7. A fetched batch names the positions that it was asked with (`fetchOf`): the offset manager, which kafkajs makes
//       anew with every SyncGroup. The generation's number does not serve: JoinGroup sets it, before the positions are
//       made. (Unpatched: kafkajs has a fetcher per broker; one that waited while another joined again puts its batch
//       into the new assignment.)
//   P8. One join at a time: a fetcher that asks for a join while another fetcher joins shares that join. (Unpatched:
//       two generations follow each other, and the first is never left.)
//   P9. Where an offset is out of range the consumer decides where the partition goes on. (Unpatched: kafkajs commits
//       "the beginning" to the group and goes on there, and the consumer takes what follows for records it has had.)
//   P10. The consumer learns of a join that fails in any of its steps. (Unpatched: kafkajs tries the fetch again,
//       without a join, with positions of a generation whose claims have been left, and the coordinator may accept it.)
//   P11. Where the leader of a partition has moved, its new leader is looked up and the membership goes on. (Unpatched:
//       the consumer joins its group anew at each move, and every partition of it waits meanwhile.)
//   P12. A fetch is answered by the leader of its partitions alone: version 11, whose requests a follower answers too
//       (KIP-392), is not used. (Unpatched: a leader that became a follower goes on answering, with records that it
//       learns of late, until the metadata is five minutes old.)
import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Linger } from './linger.ts';

const require = createRequire(import.meta.url);

export interface OffsetOfPartition {
  readonly partition: number;
  readonly offset: string;
  readonly metadata?: string | null;
}

/** The coordinator of a group, as kafkajs calls it. */
export interface Coordinator {
  isConnected(): boolean;
  offsetCommit(request: {
    readonly groupId: string;
    readonly memberId: string;
    readonly groupGenerationId: number;
    readonly topics: readonly { readonly topic: string; readonly partitions: readonly OffsetOfPartition[] }[];
  }): Promise<unknown>;
  offsetFetch(request: {
    readonly groupId: string;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number }[];
    }[];
  }): Promise<{ readonly responses: readonly { readonly topic: string; readonly partitions: OffsetOfPartition[] }[] }>;
}

/** One consumer's membership, as kafkajs keeps it. */
export interface GroupMembership {
  readonly groupId: string;
  readonly generationId: number;
  readonly memberId: string;
  coordinator: Coordinator;
  /** Null before the first join. */
  readonly offsetManager: Positions | null;
  readonly cluster: {
    findGroupCoordinator(of: { readonly groupId: string }): Promise<Coordinator>;
    refreshMetadata(): Promise<void>;
    /** First or next offset of partitions, as their leaders report it. */
    fetchTopicsOffset(
      topics: readonly {
        readonly topic: string;
        readonly partitions: readonly { readonly partition: number }[];
        readonly fromBeginning: boolean;
      }[],
    ): Promise<readonly { readonly topic: string; readonly partitions: readonly OffsetOfPartition[] }[]>;
  };
  readonly subscriptionState: {
    assigned(): readonly { readonly topic: string; readonly partitions: readonly number[] }[];
  };
}

export interface MembershipHooks {
  /** Before a join: after this no record of the previous generation may be worked on. */
  leaving(): Promise<void>;
  joined(membership: GroupMembership): Promise<void>;
  /** The consumer delivers nothing until it has joined again. (P10) */
  joinFailed(error: Error): void;
  /** The broker's log does not have the next offset of this partition; resolves when it may be fetched again. (P9) */
  outOfRange(partition: number): Promise<void>;
}

/** The positions of a fetch: where each partition of one assignment goes on. Compared by identity. (P7) */
export interface Positions {
  /** The next fetch of the partition begins after this offset. */
  resolveOffset(after: { readonly topic: string; readonly partition: number; readonly offset: string }): void;
}

/** What a batch was requested with. (P7) */
export interface FetchOfBatch {
  readonly positions: Positions | null;
  /** The requested offset. */
  readonly from: number;
}

const fetches = new WeakMap<object, FetchOfBatch>();

export const fetchOf = (batch: object): FetchOfBatch | null => fetches.get(batch) ?? null;

/** Epoch of the leader that wrote a record; null where it has none. */
export const epochOf = (record: object): number | null =>
  (record as { readonly batchContext?: { readonly partitionLeaderEpoch?: number } }).batchContext
    ?.partitionLeaderEpoch ?? null;

/** The property of an assigner that holds the hooks of its consumer. */
export const hooksName = Symbol('dormouse membership hooks');
const lingersName = Symbol('dormouse lingers');
const joiningName = Symbol('dormouse join');

interface PatchedGroup extends GroupMembership {
  /** What each broker returned last. */
  [lingersName]?: Map<unknown, Linger>;
  /** The join that is under way. (P8) */
  [joiningName]?: Promise<void> | undefined;
  readonly assigners: readonly { readonly [hooksName]?: MembershipHooks }[];
  readonly offsetManager: PatchedOffsets | null;
}

interface FetchedBatch {
  readonly fetchedOffset: string;
  readonly rawMessages: readonly unknown[];
}

interface PatchedOffsets extends Positions {
  readonly groupId: string;
  readonly cluster: PatchedGroup['cluster'];
  coordinator: Coordinator;
}

interface FetchRequests {
  /** Those that kafkajs can send; it takes the newest that the broker knows. */
  readonly versions: string[];
}

interface PatchedQueue {
  readonly throttledUntil: number;
  readonly pending: readonly unknown[];
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
}

type Prototype = Record<string, unknown>;

const pendingCheckMs = 10;
const fetchVersionOfFollowers = '11';
/** Between two look-ups of a leader. */
const leaderLookAgainMs = 25;

/** The first 16 digits of SHA-256 of each method as it was when this was written. (P1) */
const known: Readonly<Record<string, string>> = {
  scheduleCheckPendingRequests: '04347ea969c6f2e3',
  heartbeat: 'ba6c66c6bb8ab3ea',
  fetch: 'e2e52d81f1e13b90',
  joinAndSync: '86569beffea31029',
  getCoordinator: '9a0246544b479c9b',
  recoverFromOffsetOutOfRange: 'a61c4ed52db5ea75',
  recoverFromFetch: 'd68791b998808783',
};

patchRequestQueue(prototypeOf('kafkajs/src/network/requestQueue'));
patchGroup(prototypeOf('kafkajs/src/consumer/consumerGroup'));
patchOffsets(prototypeOf('kafkajs/src/consumer/offsetManager'));
capFetchVersions(require('kafkajs/src/protocol/requests/fetch') as FetchRequests);

function prototypeOf(path: string): Prototype {
  return (require(path) as { readonly prototype: Prototype }).prototype;
}

export function methodOf<This, Result>(prototype: Prototype, name: string): (this: This, ...args: unknown[]) => Result {
  const method = prototype[name];
  if (typeof method !== 'function' || !hash('sha256', String(method)).startsWith(known[name] ?? 'unknown'))
    throw new Error(`the ${name} of kafkajs is not the one that is patched: its patches must be looked at`); // (P1)
  return method as (this: This, ...args: unknown[]) => Result;
}

/** (P2) */
function patchRequestQueue(prototype: Prototype): void {
  methodOf(prototype, 'scheduleCheckPendingRequests');
  prototype['scheduleCheckPendingRequests'] = function (this: PatchedQueue): void {
    const throttledMs = Math.max(0, this.throttledUntil - Date.now());
    if (this.throttleCheckTimeoutId !== null || (throttledMs === 0 && this.pending.length === 0)) return;
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null;
        this.checkPendingRequests();
      },
      throttledMs > 0 ? throttledMs : pendingCheckMs,
    );
  };
}

function patchGroup(prototype: Prototype): void {
  const heartbeat = methodOf<PatchedGroup, Promise<void>>(prototype, 'heartbeat');
  prototype['heartbeat'] = async function (this: PatchedGroup, ...args: unknown[]): Promise<void> {
    try {
      await heartbeat.apply(this, args);
    } catch (error) {
      if (!lostCoordinator(error)) throw error;
      this.coordinator = await this.cluster.findGroupCoordinator({ groupId: this.groupId }); // (P3)
      if (this.offsetManager !== null) this.offsetManager.coordinator = this.coordinator;
      await heartbeat.apply(this, args);
    }
  };
  const fetch = methodOf<PatchedGroup, Promise<readonly FetchedBatch[]>>(prototype, 'fetch');
  prototype['fetch'] = async function (this: PatchedGroup, ...args: unknown[]): Promise<readonly FetchedBatch[]> {
    const [broker] = args;
    const lingers = (this[lingersName] ??= new Map());
    const linger = lingers.get(broker) ?? new Linger();
    lingers.set(broker, linger);
    await linger.wait(); // (P6)
    const positions = this.offsetManager;
    const batches = await fetch.apply(this, args);
    for (const batch of batches) fetches.set(batch, { positions, from: Number(batch.fetchedOffset) }); // (P7)
    linger.batch(batches.reduce((records, { rawMessages }) => records + rawMessages.length, 0));
    return batches.filter(({ rawMessages }) => rawMessages.length > 0); // (P5)
  };
  const joinAndSync = methodOf<PatchedGroup, Promise<void>>(prototype, 'joinAndSync');
  prototype['joinAndSync'] = async function (this: PatchedGroup, ...args: unknown[]): Promise<void> {
    const join = async (): Promise<void> => {
      const hooks = hooksOf(this);
      try {
        await hooks?.leaving(); // (P4)
        await joinAndSync.apply(this, args);
        await hooks?.joined(this);
      } catch (error) {
        hooks?.joinFailed(error as Error); // (P10)
        throw error;
      }
    };
    this[joiningName] ??= join().finally(() => (this[joiningName] = undefined)); // (P8)
    await this[joiningName];
  };
  const recoverFromFetch = methodOf<PatchedGroup, Promise<void>>(prototype, 'recoverFromFetch');
  prototype['recoverFromFetch'] = async function (this: PatchedGroup, ...args: unknown[]): Promise<void> {
    if (hooksOf(this) === undefined || !hasMoved(args[0])) return recoverFromFetch.apply(this, args);
    await this.cluster.refreshMetadata(); // (P11)
    await sleep(leaderLookAgainMs); // the brokers may not all know it yet
  };
  const recover = methodOf<PatchedGroup, Promise<void>>(prototype, 'recoverFromOffsetOutOfRange');
  prototype['recoverFromOffsetOutOfRange'] = async function (this: PatchedGroup, ...args: unknown[]): Promise<void> {
    const [{ partition }] = args as [{ readonly partition: number }];
    const hooks = hooksOf(this);
    if (hooks === undefined) return recover.apply(this, args);
    await hooks.outOfRange(partition); // (P9)
  };
}

const hooksOf = ({ assigners }: PatchedGroup): MembershipHooks | undefined =>
  assigners.find((assigner) => assigner[hooksName] !== undefined)?.[hooksName];

/** (P3) */
function patchOffsets(prototype: Prototype): void {
  methodOf(prototype, 'getCoordinator');
  prototype['getCoordinator'] = async function (this: PatchedOffsets): Promise<Coordinator> {
    if (!this.coordinator.isConnected())
      this.coordinator = await this.cluster.findGroupCoordinator({ groupId: this.groupId });
    return this.coordinator;
  };
}

/** (P12) */
export function capFetchVersions({ versions }: FetchRequests): void {
  if (versions.at(-1) !== fetchVersionOfFollowers)
    throw new Error('kafkajs has another newest fetch: look at its patch'); // (P1)
  versions.pop();
}

/** What brokers answer who do not lead a partition any more, or not yet. */
const movedTypes = new Set([
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'UNKNOWN_TOPIC_OR_PARTITION',
]);
const hasMoved = (error: unknown): boolean => movedTypes.has((error as { readonly type?: string }).type ?? '');

export function lostCoordinator(error: unknown): boolean {
  const { type, name } = error as { readonly type?: string; readonly name?: string };
  return type === 'NOT_COORDINATOR_FOR_GROUP' || /^KafkaJS(Connection|RequestTimeout)/.test(name ?? '');
}
