// The condition of a page of a list: what is behind its cursor.
import { type PageRequest, placeBefore } from '@dormouse/ports';

/** For a list in the order of a number and then of a text, rising or falling. */
export function behindCursor(
  page: PageRequest,
  [numberField, textField]: readonly [string, string],
  order: '$gt' | '$lt',
): { readonly $or?: object[] } {
  const place = placeBefore(page);
  if (place === null) return {};
  const [number, text] = place;
  return {
    $or: [{ [numberField]: { [order]: number } }, { [numberField]: number, [textField]: { [order]: text } }],
  };
}
