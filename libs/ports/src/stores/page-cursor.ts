// The cursor of a page: the last row's place in the order of its list, opaque to the client.
import { Fault } from '../world/fault.ts';

export function encodeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** @throws Fault CURSOR_INVALID for a text that `encodeCursor` did not write. */
export function decodeCursor(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(parts)) return parts;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw invalidCursor();
}

export const invalidCursor = (): Fault => new Fault('CURSOR_INVALID', 'This cursor was not made by this list.');
