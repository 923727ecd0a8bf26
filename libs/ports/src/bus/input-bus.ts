// The topic `inputs`: the only way to change a thread. Ordered per thread, at least once.
//
// Contract (contracts/input-bus.contract.ts):
//   B1. `publish` resolves when the input is durable and will be delivered until it is released. In a topology without
//       a durable queue that moment is its commit, so `publish` waits for `decided`.
//   B2. Deliveries of one thread arrive in publish order; a delivery not released is delivered again to the next owner,
//       as itself or (after its commit) as a `Recovery` of what its commit may still owe. (V10)
//   B3. An assignment is (partition, generation). After `revoked` no delivery of it follows, and releases are ignored.
//   B4. `deliver` returns at once; the consumer reports through `busy` when it has enough.
import type { ThreadInput } from '@dormouse/thread';
import type { ThreadKey } from '../log/thread-key.ts';

/**
 * Not an input of the heart: it changes no history, and passes its thread's lane only so that the newest one stays.
 * RAP view-updates
 */
export interface ViewUpdate {
  readonly kind: 'ViewUpdate';
  /** Random: an update that comes twice is the same update. */
  readonly id: string;
  readonly viewType: string;
  /** JSON text, character for character. R98 */
  readonly content: string;
}

/** An operator wants a parked thread to continue: its owner checks it. Changes no history; twice is once. ADR 20 */
export interface ReplayWake {
  readonly kind: 'ReplayWake';
  readonly id: 'w:replay';
  /**
   * The owner also pays again what the commits from this version on still owe, whatever it has paid before: a topic may
   * have lost it. A version that does not know this field only looks for the mark.
   */
  readonly repayFrom?: number;
  /** Of the thread whose debts were held: the mark is removed when this wake is released. */
  readonly heldMark?: number;
}

export const replayWake: ReplayWake = { kind: 'ReplayWake', id: 'w:replay' };
export const repayWake = (from: number): ReplayWake => ({ ...replayWake, repayFrom: from });

/** What the bus carries. */
export type BusInput = ThreadInput | ViewUpdate | ReplayWake;

/** True for inputs of the heart. */
export const isThreadInput = (input: BusInput): input is ThreadInput =>
  input.kind !== 'ViewUpdate' && input.kind !== 'ReplayWake';

export interface Assignment {
  readonly partition: number;
  readonly generation: number;
}

interface Delivery extends ThreadKey {
  /** W3C trace context of the sender, if any. */
  readonly trace: string | null;
  /** The input is decided for good: by a commit, or refused without one (null). Called once, before `release`. */
  decided(version: number | null): void;
  /** True once its sender was refused: deciding it now would contradict that. Absent where senders get no answer. */
  isWithdrawn?(): boolean;
  /** Nothing is owed because of this delivery any more. Called once. */
  release(): void;
}

export interface InputDelivery extends Delivery {
  readonly what: 'input';
  readonly input: BusInput;
  /** An earlier owner had it, or a later record of its partition. A hint: absent where that is not known. */
  readonly isRedelivery?: boolean;
  /** When it was published, in milliseconds of this process's monotonic clock. A hint, likewise. */
  readonly publishedAt?: number;
  /** Wall clock at which its process took it, where tracing is on. */
  takenAt?: number;
}

/** Pay what the commits from `from` on still owe: their inputs are durable, their deliveries no longer exist. */
export interface RecoveryDelivery extends Delivery {
  readonly what: 'recovery';
  readonly from: number;
}

export type ThreadDelivery = InputDelivery | RecoveryDelivery;

export interface InputConsumer {
  assigned(assignment: Assignment): void;
  /** Stops work of this assignment; resolves when no part of it will touch a store again. */
  revoked(assignment: Assignment): Promise<void>;
  deliver(assignment: Assignment, delivery: ThreadDelivery): void;
  /** True while no more deliveries are wanted (backpressure). */
  busy(): boolean;
}

export interface Subscription {
  /** Stops fetching, revokes, and resolves when drained or after `withinMs`. */
  close(withinMs: number): Promise<void>;
}

export interface InputBus {
  /** @throws Fault UNAVAILABLE when it cannot be made durable now: it was not accepted, or is a duplicate later. */
  publish(key: ThreadKey, input: BusInput, trace?: string | null): Promise<void>;
  consume(consumer: InputConsumer): Promise<Subscription>;
}
