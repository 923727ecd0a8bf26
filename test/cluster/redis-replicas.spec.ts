// The Redis adapter passes its contracts on a cluster and behind Sentinels, and finds a replica that has been promoted.
import { openRedis, type RedisHints } from '@dormouse/adapter-redis';
import { tenantId, type Delta, type Hint, type Logger } from '@dormouse/ports';
import { commitOf, dedupContract, freshKey, liveFeedContract, rateLimitsContract } from '@dormouse/ports/contracts';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../chaos/fault-proxy.ts';
import { patienceMs } from '../patience.ts';
import { withServices } from '../services/needed-services.ts';
import { type ReplicatedRedis, startClusteredRedis, startSentinels } from '../services/redis/several-servers.ts';
import { serviceCache } from '../services/service-cache.ts';

const acme = tenantId('acme');

interface Logged {
  readonly event: string;
  readonly fields: object;
}

withServices(['redis'], ({ redis: single }) => {
  describe.each([
    ['a Redis Cluster', startClusteredRedis],
    ['Sentinels', startSentinels],
  ] as const)('over %s', (_, start) => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-redis-'));
    let servers: ReplicatedRedis | null = null;
    beforeAll(async () => {
      servers = await start({ directory, cache: serviceCache, say: () => {} });
    });
    afterAll(async () => {
      await servers?.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    const logged: Logged[] = [];
    const note = (event: string, fields: object = {}): void => void logged.push({ event, fields });
    const logger: Logger = { info: note, warn: note, error: note };
    const freshPrefix = (): string => `test-${randomBytes(6).toString('hex')}:`;
    const open = (prefix = freshPrefix()): Promise<RedisHints> =>
      openRedis({ url: servers?.url ?? '', prefix, logger });

    dedupContract('redis', async () => {
      const hints = await open();
      return { port: hints.dedup, close: () => hints.close() };
    });
    rateLimitsContract('redis', async () => {
      const hints = await open();
      return { port: hints.rates, close: () => hints.close() };
    });
    liveFeedContract('redis', async () => {
      const hints = await open();
      return { port: hints.feed, close: () => hints.close() };
    });

    it('F8 hints of many threads come to another process, those of one in order, and their deltas are kept', async () => {
      const prefix = freshPrefix();
      const [one, other] = [await open(prefix), await open(prefix)];
      const keys = Array.from({ length: 40 }, () => freshKey());
      const heard = new Map<string, number[]>(keys.map(({ thread }) => [thread, []]));
      for (const key of keys)
        await other.feed.subscribe(key, (hint) => {
          if (hint.hint === 'committed') heard.get(key.thread)?.push(hint.commit.version);
        });
      for (const version of [0, 1, 2, 3])
        for (const key of keys) one.feed.publish(key, { hint: 'committed', commit: commitOf(key, version) });
      await expect.poll(() => [...heard.values()].flat().length).toBe(160);
      for (const versions of heard.values()) expect(versions).toEqual([0, 1, 2, 3]);
      const deltaOf = (thread: string): Delta =>
        ({ completionId: `cmp_${thread}`, attempt: 1, delta: { text: thread } }) as never;
      for (const key of keys) one.feed.publish(key, { hint: 'delta', delta: deltaOf(key.thread) });
      for (const key of keys) await expect.poll(() => other.feed.soFar(key)).toEqual([deltaOf(key.thread)]);
      await Promise.all([one.close(), other.close()]);
    });

    it('a URL for a single server that names one of them says what it has to be', async () => {
      const before = logged.length;
      const [, place = ''] = /\/\/([^,/]+)/.exec(servers?.url ?? '') ?? [];
      const hints = await openRedis({ url: `redis://${place}`, prefix: freshPrefix(), logger });
      for (let nth = 0; nth < 20; nth += 1) await hints.dedup.seen(acme, `id-${nth}`);
      const reasons = logged.slice(before).map(({ fields }) => String((fields as { readonly reason?: string }).reason));
      expect(reasons.join('\n')).toMatch(/DORMOUSE_REDIS_URL must begin with redis\+(cluster|sentinel):\/\//);
      await hints.close();
    });
  });

  it('L1 a master of a cluster that is lost is replaced: what is asked meanwhile is answered, and everything works again', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-redis-'));
    const servers = await startClusteredRedis({ directory, cache: serviceCache, say: () => {} });
    const logger: Logger = { info: () => {}, warn: () => {}, error: () => {} };
    const open = (): Promise<RedisHints> => openRedis({ url: servers.url, prefix: 'lost:', logger });
    try {
      const [one, other] = [await open(), await open()];
      const keys = Array.from({ length: 12 }, () => freshKey());
      const heard = new Map<string, Hint[]>(keys.map(({ thread }) => [thread, []]));
      for (const key of keys) await other.feed.subscribe(key, (hint) => heard.get(key.thread)?.push(hint));
      let losing = true;
      const lost = servers.loseMaster().finally(() => (losing = false));
      let longestMs = 0;
      for (let nth = 0; losing; nth += 1) {
        const from = performance.now();
        await one.dedup.remember(acme, `id-${nth}`);
        await one.dedup.seen(acme, `id-${nth}`);
        longestMs = Math.max(longestMs, performance.now() - from);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await lost;
      expect(longestMs).toBeLessThan(patienceMs / 3); // a silence of a second, a new connection of three
      for (const key of keys) {
        const id = `after-${key.thread}`;
        await expect
          .poll(async () => {
            await one.dedup.remember(acme, id);
            return other.dedup.seen(acme, id);
          })
          .toBe(true);
        const hint: Hint = { hint: 'committed', commit: commitOf(key, 7) };
        await expect
          .poll(() => {
            one.feed.publish(key, hint);
            return heard.get(key.thread);
          })
          .toContainEqual(hint);
      }
      expect(one.problem()).toBeNull();
      await Promise.all([one.close(), other.close()]);
    } finally {
      await servers.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('L5 every one of many processes finds the new master, also when Sentinels are slow to say which it is', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-redis-'));
    const servers = await startSentinels({ directory, cache: serviceCache, say: () => {} });
    const proxies: FaultProxy[] = [];
    const logger: Logger = { info: () => {}, warn: () => {}, error: () => {} };
    try {
      let { url } = servers;
      for (const [, port] of servers.url.matchAll(/:(\d+)/g)) {
        const proxy = await startFaultProxy([Number(port)]);
        proxies.push(proxy);
        url = url.replace(`:${port}`, `:${proxy.port}`);
      }
      const all = await Promise.all(Array.from({ length: 12 }, () => openRedis({ url, prefix: 'slow:', logger })));
      await expect.poll(() => all.map((hints) => hints.problem())).toEqual(all.map(() => null));
      for (const proxy of proxies) proxy.latencyMs = 200;
      await servers.loseMaster();
      await expect.poll(() => all.map((hints) => hints.problem())).toEqual(all.map(() => null));
      for (const { feed } of all) {
        const key = freshKey();
        const heard: Hint[] = [];
        await feed.subscribe(key, (hint) => heard.push(hint));
        const hint: Hint = { hint: 'committed', commit: commitOf(key, 1) };
        await expect
          .poll(() => {
            feed.publish(key, hint);
            return heard;
          })
          .toContainEqual(hint);
      }
      await Promise.all(all.map((hints) => hints.close()));
    } finally {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await servers.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('a cluster or a master that is none is away, with the reason and without the URL', async () => {
    for (const [form, path, words] of [
      ['redis+cluster', '', 'This Redis is no node of a cluster'],
      ['redis+sentinel', '/nobody', 'No Sentinel answers, or none knows a master of that name'],
    ] as const) {
      const reasons: string[] = [];
      const note = (_: string, fields: object = {}): void => void reasons.push(JSON.stringify(fields));
      const url = single.replace('redis://', `${form}://:canary@`) + path;
      const hints = await openRedis({ url, prefix: 'x:', logger: { info: note, warn: note, error: note } });
      await expect.poll(() => reasons.join('\n')).toContain(words);
      expect(reasons.join('\n')).not.toContain('canary');
      expect(hints.problem()).not.toBeNull();
      await hints.close();
    }
  });
});
