// The `Prefer` header (RFC 7240), of which `wait` is supported.

export const waitSMax = 120;

/** How long the client is willing to wait, in milliseconds, or null when the header does not say. */
export function preferredWaitMs(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header.join(',') : header;
  const wait = text === undefined ? null : /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(text);
  return wait?.[1] === undefined ? null : Math.min(Number(wait[1]), waitSMax) * 1_000;
}
