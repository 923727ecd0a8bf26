// Merges inputs with equal ids before any decision: an index over arrays does not compare an array with itself. (V8)
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
    deliveries: [...first.deliveries, ...second.deliveries],
    parkedRows: [...first.parkedRows, ...second.parkedRows],
    mayBeStored: first.mayBeStored || second.mayBeStored,
    answerOf: first.answerOf ?? second.answerOf,
  };
}
