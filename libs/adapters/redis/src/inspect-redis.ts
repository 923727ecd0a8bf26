// What a Redis says of itself, for an operator.
import type { ConnectionOptions } from 'node:tls';
import { type RedisAddress, redisAddress } from './redis-address.ts';
import { commandClient } from './redis-client.ts';

export interface RedisReport {
  /** How it is reached. Of a cluster, the rest is what one of its nodes says. */
  readonly kind: RedisAddress['kind'];
  readonly version: string;
  /** What it does when its memory is full. */
  readonly policy: string;
  /** 0 for no limit. */
  readonly memoryBytesMax: number;
  readonly isPersistent: boolean;
}

const withinMs = 5_000;

/** Null when it does not answer. */
export async function inspectRedis(url: string, tls: ConnectionOptions | undefined): Promise<RedisReport | null> {
  const address = redisAddress(url);
  const client = commandClient(address, {
    tls,
    isLazy: true,
    connectTimeout: withinMs,
    commandTimeout: withinMs,
    maxRetriesPerRequest: 0,
    retryMs: () => null,
  });
  client.on('error', () => {}); // the rejection below has it
  try {
    await client.connect();
    const fields = new Map(
      (await client.info()).split(/\r?\n/).map((line) => [line.split(':')[0] ?? '', line.split(':')[1] ?? ''] as const),
    );
    return {
      kind: address.kind,
      version: fields.get('redis_version') ?? 'of an unknown version',
      policy: fields.get('maxmemory_policy') ?? 'of an unknown policy',
      memoryBytesMax: Number(fields.get('maxmemory') ?? 0),
      isPersistent: fields.get('aof_enabled') === '1',
    };
  } catch {
    return null;
  } finally {
    client.disconnect();
  }
}
