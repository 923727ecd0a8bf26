// Headers on every response: X-Request-Id, X-Content-Type-Options: nosniff, and Vary: Origin. (cross-origin X4)

export type StandardHeaders = Readonly<Record<'x-request-id' | 'x-content-type-options' | 'vary', string>>;

export const standardHeaders = (requestId: string): StandardHeaders => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
  vary: 'Origin',
});

/** A new id with every call. */
export function requestIds(): () => string {
  let requests = 0;
  const start = Date.now().toString(36);
  return () => `req-${start}-${(++requests).toString(36)}`;
}
