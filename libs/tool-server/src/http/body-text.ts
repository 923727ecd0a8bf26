/**
 * Owns: the text of a body.
 */

/** The text of a body; null when it is not UTF-8. */
export function textOf(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    if (error instanceof TypeError) return null; // how TextDecoder reports invalid UTF-8
    throw error;
  }
}
