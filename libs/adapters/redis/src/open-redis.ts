// Opens what the cluster keeps in Redis: hints and positive facts. Everything works without them, slower.
import { type Logger, type Metrics, noMetrics, type Stores } from '@dormouse/ports';
import type { ConnectionOptions } from 'node:tls';
import { createDedup } from './dedup.ts';
import { createLiveFeed } from './live-feed.ts';
import { createRateLimits } from './rate-limits.ts';
import { redisAddress } from './redis-address.ts';
import { openCommands, openSubscriptions, readyOrAway } from './redis-link.ts';

export interface RedisOptions {
  /** In one of the forms of redis-address.ts. */
  readonly url: string;
  /** The installation's own authorities and certificate, for a URL that begins with `rediss`. */
  readonly tls?: ConnectionOptions | undefined;
  /** Prefix of every key and channel: one installation, one prefix. The tenant follows it. */
  readonly prefix: string;
  readonly logger: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
}

export interface RedisHints extends Pick<Stores, 'dedup' | 'feed' | 'rates'> {
  /** Null, or why Redis is not of use now. Never a reason not to work. */
  problem(): string | null;
  close(): Promise<void>;
}

const connectWithinMs = 2_000;
const rememberedMs = 86_400_000;

/** A Redis that is away now may come later. @throws RangeError for a URL of no known form. */
export async function openRedis({ url, tls, prefix, logger, metrics = noMetrics }: RedisOptions): Promise<RedisHints> {
  const times = (operation: string) => metrics.histogram('dormouse_store_duration_seconds', 'redis', operation);
  const link = { address: redisAddress(url), tls, logger };
  const commands = openCommands({ ...link, name: 'dormouse-commands', times: times('command') });
  const subscriptions = openSubscriptions({ ...link, name: 'dormouse-subscriptions', times: times('subscribe') });
  await Promise.all([readyOrAway(commands, connectWithinMs), readyOrAway(subscriptions, connectWithinMs)]);
  return {
    dedup: createDedup(commands, prefix, rememberedMs),
    rates: createRateLimits(commands, prefix),
    feed: createLiveFeed(commands, subscriptions, {
      ...{ prefix, deltasMax: 10_000, keptMs: 600_000 },
      isSpread: link.address.kind === 'cluster',
    }),
    problem: () => (commands.client.status === 'ready' ? null : `Redis is ${commands.client.status}`),
    close: async () => {
      await Promise.all([commands.close(), subscriptions.close()]);
    },
  };
}
