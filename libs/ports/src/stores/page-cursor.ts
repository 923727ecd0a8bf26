// The cursor of a page: the last row's place in the order of its list, opaque to the client. Percent-encoded JSON with
// `~` for `%`, so that it stands in a query as it is. A store asks for one row more than a page has, which says whether
// another page follows.
import type { Page, PageRequest } from '../registry/registry.ts';
import { Fault } from '../world/fault.ts';

export function encodeCursor(parts: readonly (string | number)[]): string {
  return encodeURIComponent(JSON.stringify(parts)).replaceAll('~', '%7E').replaceAll('%', '~');
}

/** @throws Fault CURSOR_INVALID for a text that `encodeCursor` did not write. */
export function decodeCursor(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(decodeURIComponent(cursor.replaceAll('~', '%')));
    if (Array.isArray(parts)) return parts;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof URIError)) throw error;
  }
  throw invalidCursor();
}

export const invalidCursor = (): Fault => new Fault('CURSOR_INVALID', 'This cursor was not made by this list.');

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

/** For a list in the order of a number and then of a text: those of the last item before the page. */
export function placeBefore({ cursor }: PageRequest): readonly [number, string] | null {
  if (cursor === null) return null;
  const [number, text] = decodeCursor(cursor);
  if (typeof number !== 'number' || typeof text !== 'string') throw invalidCursor();
  return [number, text];
}
