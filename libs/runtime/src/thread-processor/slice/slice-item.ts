// What waits in a lane: an input with every delivery of it, the answer of a completion, or a debt to recover.
import type { InputDelivery, RecoveryDelivery, ViewUpdate } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import type { CompletionRun } from '../completion/completion-run.ts';
import { Hold } from '../held-deliveries.ts';

export interface InputItem {
  readonly what: 'input';
  readonly input: ThreadInput;
  readonly trace: string | null;
  /** Empty for an answer: it came through memory, and its run holds what led to it. (V2) */
  readonly deliveries: readonly InputDelivery[];
  readonly hold: Hold;
  /** The run whose answer this is; an answer counts only while its run is the lane's. */
  readonly answerOf: CompletionRun | null;
  /** Set once the deliveries have been told. */
  told: boolean;
}

export interface RecoveryItem {
  readonly what: 'recovery';
  readonly delivery: RecoveryDelivery;
  readonly deliveries: readonly RecoveryDelivery[];
  readonly hold: Hold;
  told: boolean;
}

/** Kept in the order of the lane, decided by nobody. */
export interface ViewItem {
  readonly what: 'view';
  readonly update: ViewUpdate;
  readonly deliveries: readonly InputDelivery[];
  readonly hold: Hold;
  told: boolean;
}

export type SliceItem = InputItem | RecoveryItem | ViewItem;

export function deliveredItem(delivery: InputDelivery | RecoveryDelivery): SliceItem {
  const hold = new Hold([delivery]);
  if (delivery.what === 'recovery') return { what: 'recovery', delivery, deliveries: [delivery], hold, told: false };
  const { input } = delivery;
  if (input.kind === 'ViewUpdate') return { what: 'view', update: input, deliveries: [delivery], hold, told: false };
  return {
    what: 'input',
    input,
    trace: delivery.trace,
    deliveries: [delivery],
    hold,
    answerOf: null,
    told: false,
  };
}

export function answerItem(input: ThreadInput, run: CompletionRun): InputItem {
  return { what: 'input', input, trace: run.trace, deliveries: [], hold: new Hold(), answerOf: run, told: false };
}

/** An input that was put aside while its thread was parked: its delivery is gone, it is kept by the store. */
export function replayedItem(input: ThreadInput, trace: string | null): InputItem {
  return { what: 'input', input, trace, deliveries: [], hold: new Hold(), answerOf: null, told: false };
}

/** Every sender of it was told that it was not taken. */
export const isWithdrawn = ({ deliveries }: SliceItem): boolean =>
  deliveries.length > 0 && deliveries.every((delivery) => delivery.isWithdrawn?.() === true);

/** Tells every delivery, once, what was decided. */
export function tell(item: SliceItem, version: number | null): void {
  if (item.told) return;
  item.told = true;
  for (const delivery of item.deliveries) delivery.decided(version);
}
