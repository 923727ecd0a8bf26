// Pages of a list that is held whole: choices, keys, schedules, other lists that are short.
//
// Invariants:
//   O1. The order is that of the places, and a cursor is the place of the last item given: an item that exists
//       throughout is given once, whatever comes or goes between two pages.
//   O2. `nextCursor` is null on the last page.
import { decodeCursor, encodeCursor, invalidCursor, type PageRequest, type Page } from '@dormouse/ports';

/** Where an item stands in its list; the last part is unique to it. */
export type Place = readonly (string | number)[];

export function cutPage<T>(items: readonly T[], { limit, cursor }: PageRequest, placeOf: (item: T) => Place): Page<T> {
  const ordered = items.toSorted((a, b) => compare(placeOf(a), placeOf(b)));
  const after = cursor === null ? null : placeIn(cursor);
  const rest = after === null ? ordered : ordered.filter((item) => compare(placeOf(item), after) > 0); // (O1)
  const data = rest.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: rest.length > limit && last !== undefined ? encodeCursor(placeOf(last)) : null }; // (O2)
}

function placeIn(cursor: string): Place {
  const parts = decodeCursor(cursor);
  if (parts.length === 0 || !parts.every((part) => typeof part === 'string' || typeof part === 'number'))
    throw invalidCursor();
  return parts;
}

function compare(a: Place, b: Place): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined || typeof other !== typeof part) throw invalidCursor();
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}
