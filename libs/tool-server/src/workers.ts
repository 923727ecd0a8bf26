/**
 * Owns: whether this is Cloudflare Workers, whose runtime (workerd) differs from Node where it matters here: it has no
 * SQLite file, its `node:http` sends no bytes of its own, and what one request has begun ends with that request.
 */

/** The name that Cloudflare gives its runtime, locally too. */
export const isWorkers = (): boolean => typeof navigator === 'object' && navigator.userAgent === 'Cloudflare-Workers';
