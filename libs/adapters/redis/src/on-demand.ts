// Only a process that opens a connection loads the client.
import type { ConnectionOptions } from 'node:tls';
import type { RedisReport } from './inspect-redis.ts';
import type { RedisHints, RedisOptions } from './open-redis.ts';

/** A Redis that is away now may come later. @throws RangeError for a URL of no known form. */
export const openRedis = async (options: RedisOptions): Promise<RedisHints> =>
  (await import('./open-redis.ts')).openRedis(options);

/** Null when it does not answer. */
export const inspectRedis = async (url: string, tls: ConnectionOptions | undefined): Promise<RedisReport | null> =>
  (await import('./inspect-redis.ts')).inspectRedis(url, tls);
