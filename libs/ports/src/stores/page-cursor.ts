// The cursor of a page: the last row's place in the order of its list, opaque to the client. Percent-encoded JSON with
// `~` for `%`, so that it stands in a query as it is.
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
