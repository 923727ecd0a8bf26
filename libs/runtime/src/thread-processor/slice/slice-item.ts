// What waits in a lane: an input with every delivery of it, the answer of a completion, a debt to recover, a view to
// show, or the wake for a replay that an operator requested.
import type { InputDelivery, RecoveryDelivery, ViewUpdate } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import type { CompletionRun } from '../completion/completion-run.ts';
import { Hold } from '../pay/held-deliveries.ts';

export interface InputItem {
  readonly what: 'input';
  readonly input: ThreadInput;
  readonly trace: string | null;
  /** Empty for an answer: it came through memory, and its run holds what led to it. (V2) */
  readonly deliveries: readonly InputDelivery[];
  /** The rows of an input that had been put aside; two where a replay began anew before the input was decided. */
  readonly kept: readonly KeptInput[];
  readonly hold: Hold;
  /** The run whose answer this is; an answer counts only while its run is the lane's. */
  readonly answerOf: CompletionRun | null;
  /** Set, for good, when a commit of it had an unknown outcome: it may be in the log. */
  mayBeStored: boolean;
  /** Set once the deliveries have been answered. */
  told: boolean;
}

/** A row of the store of parked threads, which goes with the item's hold. */
export interface KeptInput {
  /** The input is put aside again: its row stays. */
  putBack(): void;
}

export interface RecoveryItem {
  readonly what: 'recovery';
  readonly delivery: RecoveryDelivery;
  readonly deliveries: readonly RecoveryDelivery[];
  readonly hold: Hold;
  told: boolean;
}

/** Kept in the order of the lane, but never decided. */
export interface ViewItem {
  readonly what: 'view';
  readonly update: ViewUpdate;
  readonly deliveries: readonly InputDelivery[];
  readonly hold: Hold;
  told: boolean;
}

/** Not for a slice: the lane looks for the mark of its thread. */
export interface WakeItem {
  readonly what: 'wake';
  readonly deliveries: readonly InputDelivery[];
  readonly hold: Hold;
  told: boolean;
}

const noRows: readonly KeptInput[] = [];

export type SliceItem = InputItem | RecoveryItem | ViewItem;
export type LaneItem = SliceItem | WakeItem;

export function deliveredItem(delivery: InputDelivery | RecoveryDelivery): LaneItem {
  const hold = new Hold([delivery]);
  if (delivery.what === 'recovery') return { what: 'recovery', delivery, deliveries: [delivery], hold, told: false };
  const { input } = delivery;
  if (input.kind === 'ViewUpdate') return { what: 'view', update: input, deliveries: [delivery], hold, told: false };
  if (input.kind === 'ReplayWake') return { what: 'wake', deliveries: [delivery], hold, told: false };
  return {
    what: 'input',
    input,
    trace: delivery.trace,
    deliveries: [delivery],
    kept: noRows,
    hold,
    answerOf: null,
    mayBeStored: false,
    told: false,
  };
}

export function answerItem(input: ThreadInput, run: CompletionRun): InputItem {
  return { ...undelivered(input, run.trace), answerOf: run };
}

/** An input without a delivery: the answer of a completion, or one that was put aside while its thread was parked. */
export const undelivered = (input: ThreadInput, trace: string | null): InputItem => ({
  what: 'input',
  input,
  trace,
  deliveries: [],
  kept: noRows,
  hold: new Hold(),
  answerOf: null,
  mayBeStored: false,
  told: false,
});

/**
 * Whether the item was reported to every sender as not taken, and that is true: an item that is in the log, or may be,
 * has to be paid, and one that the store of parked threads keeps waits there, whatever became of its delivery.
 */
export function isWithdrawn(item: LaneItem): boolean {
  if (item.told || (item.what === 'input' && (item.mayBeStored || item.answerOf !== null || item.kept.length > 0)))
    return false;
  return item.deliveries.length > 0 && item.deliveries.every((delivery) => delivery.isWithdrawn?.() === true);
}

/** Answers every delivery, once, with the version that was decided. */
export function tell(item: LaneItem, version: number | null): void {
  if (item.told) return;
  item.told = true;
  for (const delivery of item.deliveries) delivery.decided(version);
}
