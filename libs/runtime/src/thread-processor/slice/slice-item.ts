// The items that wait in a lane: an input with all its deliveries, the answer of a completion, a recovery, a view
// update, or the wake for a replay that an operator requested.
import type { InputDelivery, RecoveryDelivery, ViewUpdate } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import type { CompletionRun } from '../completion/completion-run.ts';
import { Hold } from '../pay/held-deliveries.ts';

interface Held<Delivery extends InputDelivery | RecoveryDelivery> {
  /** Empty for the answer of a completion: it comes from memory, and its run holds the deliveries before it. (V2) */
  readonly deliveries: readonly Delivery[];
  readonly hold: Hold;
  /** Set once the deliveries have been answered. */
  isAnswered: boolean;
}

export interface InputItem extends Held<InputDelivery> {
  readonly what: 'input';
  readonly input: ThreadInput;
  readonly trace: string | null;
  /** Rows of this input in the store of parked threads; two if a replay began again before the input was decided. */
  readonly parkedRows: readonly ParkedRow[];
  /** The run whose answer this is; it counts only while that run is the lane's current one. */
  readonly answerOf: CompletionRun | null;
  /** Set when a commit of this input had an unknown outcome, and never reset: the input may be in the log. */
  mayBeStored: boolean;
}

/** A row of the store of parked threads: removed when the item's hold is released. */
export interface ParkedRow {
  /** Keeps the row: the input is parked again. */
  putBack(): void;
}

export interface RecoveryItem extends Held<InputDelivery | RecoveryDelivery> {
  readonly what: 'recovery';
  /** Version of the first commit to pay again. */
  readonly from: number;
  /** True when an operator wants it: also what this lane has paid itself is paid again. */
  readonly isWanted: boolean;
}

/** Takes its turn in the lane, but is never decided. */
export interface ViewItem extends Held<InputDelivery> {
  readonly what: 'view';
  readonly update: ViewUpdate;
}

/** Never in a slice: it makes the lane read the replay mark of its thread. */
export interface WakeItem extends Held<InputDelivery> {
  readonly what: 'wake';
}

const noRows: readonly ParkedRow[] = [];

export type SliceItem = InputItem | RecoveryItem | ViewItem;
export type LaneItem = SliceItem | WakeItem;

export function deliveredItem(delivery: InputDelivery | RecoveryDelivery): LaneItem {
  const hold = new Hold([delivery]);
  if (delivery.what === 'recovery') return recoveryItem(delivery, delivery.from, false, hold);
  const { input } = delivery;
  if (input.kind === 'ViewUpdate')
    return { what: 'view', update: input, deliveries: [delivery], hold, isAnswered: false };
  if (input.kind === 'ReplayWake' && input.repayFrom !== undefined)
    return recoveryItem(delivery, input.repayFrom, true, hold);
  if (input.kind === 'ReplayWake') return { what: 'wake', deliveries: [delivery], hold, isAnswered: false };
  return inputItem(input, delivery.trace, [delivery], hold);
}

const inputItem = (
  input: ThreadInput,
  trace: string | null,
  deliveries: readonly InputDelivery[],
  hold: Hold,
): InputItem => ({
  what: 'input',
  input,
  trace,
  deliveries,
  parkedRows: noRows,
  hold,
  answerOf: null,
  mayBeStored: false,
  isAnswered: false,
});

const recoveryItem = (
  delivery: InputDelivery | RecoveryDelivery,
  from: number,
  isWanted: boolean,
  hold: Hold,
): RecoveryItem => ({ what: 'recovery', from, isWanted, deliveries: [delivery], hold, isAnswered: false });

export function answerItem(input: ThreadInput, run: CompletionRun): InputItem {
  return { ...undelivered(input, run.trace), answerOf: run };
}

/** An input without a delivery: the answer of a completion, or an input that was stored while its thread was parked. */
export const undelivered = (input: ThreadInput, trace: string | null): InputItem =>
  inputItem(input, trace, [], new Hold());

/**
 * Whether every sender was answered that the item was not accepted, so that the lane may drop it. Never true of an item
 * that is or may be in the log, which has to be paid, nor of one with a row in the store of parked threads.
 */
export function isWithdrawn(item: LaneItem): boolean {
  if (
    item.isAnswered ||
    (item.what === 'input' && (item.mayBeStored || item.answerOf !== null || item.parkedRows.length > 0))
  )
    return false;
  return item.deliveries.length > 0 && item.deliveries.every((delivery) => delivery.isWithdrawn?.() === true);
}

/** Answers every delivery, once, with the version that was decided. */
export function answerDeliveries(item: LaneItem, version: number | null): void {
  if (item.isAnswered) return;
  item.isAnswered = true;
  for (const delivery of item.deliveries) delivery.decided(version);
}
