// The `Prefer` header (RFC 7240), of which `wait` is known here.

export const waitSMax = 120;

/** How long the client would wait, in milliseconds, or null when it does not ask for that. */
export function preferredWaitMs(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header.join(',') : header;
  const wait = text === undefined ? null : /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(text);
  return wait?.[1] === undefined ? null : Math.min(Number(wait[1]), waitSMax) * 1_000;
}
