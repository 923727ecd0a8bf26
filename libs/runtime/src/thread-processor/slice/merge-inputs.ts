// Merges inputs with equal ids before any decision: MongoDB's unique index over the input ids of a commit compares them
// with those of other commits, not with each other. (V8)
import type { InputItem } from './slice-item.ts';

/** In order of first arrival; the deliveries of equal inputs are answered and released together. */
export function mergeInputs(items: readonly InputItem[]): readonly InputItem[] {
  if (items.length < 2) return items;
  const merged = new Map<string, InputItem>();
  for (const item of items) {
    const first = merged.get(item.input.id);
    merged.set(item.input.id, first === undefined ? item : join(first, item));
  }
  return merged.size === items.length ? items : [...merged.values()];
}

function join(first: InputItem, second: InputItem): InputItem {
  first.hold.absorb(second.hold);
  return {
    ...first,
    isAnswered: first.isAnswered && second.isAnswered,
    deliveries: [first, second].flatMap(({ isAnswered, deliveries }) => (isAnswered ? [] : deliveries)),
    parkedRows: [...first.parkedRows, ...second.parkedRows],
    // One that was answered is in the log, and waits to be paid again.
    mayBeStored: [first, second].some(({ mayBeStored, isAnswered }) => mayBeStored || isAnswered),
    answerOf: first.answerOf ?? second.answerOf,
  };
}
