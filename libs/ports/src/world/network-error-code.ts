// Finds the system's error code for a server that was not reached, in an error or any of its causes.
const codes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']);
const depthMax = 8;

/** The code when there was no connection at all, else null. */
export function networkErrorCode(error: unknown, depth = 0): string | null {
  if (typeof error !== 'object' || error === null || depth > depthMax) return null;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' && codes.has(code) ? code : networkErrorCode(cause, depth + 1);
}
