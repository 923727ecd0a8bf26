// Why nobody was reached, by the code of the system: found below whatever was made of it.
const codes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']);
const depthMax = 8;

/** The code when there was no connection at all, else null. */
export function unreachableCode(error: unknown, depth = 0): string | null {
  if (typeof error !== 'object' || error === null || depth > depthMax) return null;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' && codes.has(code) ? code : unreachableCode(cause, depth + 1);
}
