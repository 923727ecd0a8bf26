// Pages of lists: the condition behind a cursor, and the cursor of the next page. A query asks for one document more
// than a page has, which says whether another page follows.
import { decodeCursor, encodeCursor, invalidCursor, type Page, type PageRequest } from '@dormouse/ports';

/** `found` has at most one item more than the page; `placeOf` is an item's place in the order of the list. */
export function pageOf<Item>(
  found: readonly Item[],
  { limit }: PageRequest,
  placeOf: (item: Item) => readonly (string | number)[],
): Page<Item> {
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: found.length > limit && last ? encodeCursor(placeOf(last)) : null };
}

/** For a list in the order of one text: that of the last item before the page, null before the first page. */
export function textBefore({ cursor }: PageRequest): string | null {
  if (cursor === null) return null;
  const [text] = decodeCursor(cursor);
  if (typeof text !== 'string') throw invalidCursor();
  return text;
}

/** For a list in the order of a number and then of a text, rising or falling: what is behind the cursor. */
export function behindCursor(
  { cursor }: PageRequest,
  [numberField, textField]: readonly [string, string],
  order: '$gt' | '$lt',
): { readonly $or?: object[] } {
  if (cursor === null) return {};
  const [number, text] = decodeCursor(cursor);
  if (typeof number !== 'number' || typeof text !== 'string') throw invalidCursor();
  return {
    $or: [{ [numberField]: { [order]: number } }, { [numberField]: number, [textField]: { [order]: text } }],
  };
}
