// The `Retry-After` header: seconds or a date; any other value is ignored.
const longestMs = 24 * 3_600_000;

/** Milliseconds to wait, at most a day; null when the header is absent or unreadable. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined || text === '') return null;
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * 1_000, longestMs);
  const date = Date.parse(text);
  return Number.isNaN(date) || !text.endsWith('GMT') ? null : Math.min(Math.max(0, date - nowMs), longestMs);
}
