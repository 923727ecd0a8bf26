// The Redis adapter passes its contracts on a real server, and no service fails because Redis is away or empty.
import { openRedis, type RedisHints } from '@dormouse/adapter-redis';
import { noMetrics, tenantId, type Hint, type Logger } from '@dormouse/ports';
import { commitOf, dedupContract, freshKey, liveFeedContract, rateLimitsContract } from '@dormouse/ports/contracts';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withServices } from '../services/needed-services.ts';
import { recipe } from '../services/redis/recipe.ts';
import { serviceCache } from '../services/service-cache.ts';

const acme = tenantId('acme');

const freshPrefix = (): string => `test-${randomBytes(6).toString('hex')}:`;

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };

withServices(['redis'], ({ redis }) => {
  const open = (url = redis): Promise<RedisHints> => openRedis({ url, prefix: freshPrefix(), logger: silent });

  dedupContract('redis', async () => {
    const hints = await open();
    return { port: hints.dedup, close: () => hints.close() };
  });
  rateLimitsContract('redis', async () => {
    const hints = await open();
    return { port: hints.rates, close: () => hints.close() };
  });
  it('a refused tenant is refused here until its time, without a question to Redis', async () => {
    let answered = 0;
    const histogram = () => ({ record: () => void (answered += 1) });
    const hints = await openRedis({
      url: redis,
      prefix: freshPrefix(),
      logger: silent,
      metrics: { ...noMetrics, histogram },
    });
    const take = (perSecond: number) => hints.rates.take(acme, 'storm', { perSecond, burst: 1 });
    expect((await take(2)).allowed).toBe(true);
    const first = await take(2);
    const before = answered;
    const others = await Promise.all(Array.from({ length: 100 }, () => take(2)));
    for (const { allowed, retryAfterMs } of others) {
      expect(allowed).toBe(false);
      expect(retryAfterMs).toBeLessThanOrEqual(first.retryAfterMs);
    }
    expect(answered).toBe(before);
    await take(4); // another limit
    expect(answered).toBe(before + 1);
    await new Promise((resolve) => setTimeout(resolve, first.retryAfterMs + 2));
    expect((await take(2)).allowed).toBe(true);
    await hints.close();
  });
  liveFeedContract('redis', async () => {
    const hints = await open();
    return { port: hints.feed, close: () => hints.close() };
  });

  describe('two processes', () => {
    it('hear of each other: what one publishes the other is told', async () => {
      const prefix = freshPrefix();
      const [one, other] = await Promise.all([1, 2].map(() => openRedis({ url: redis, prefix, logger: silent })));
      const key = freshKey();
      const heard: Hint[] = [];
      await other?.feed.subscribe(key, (hint) => heard.push(hint));
      const hint: Hint = { hint: 'committed', commit: commitOf(key, 0) };
      one?.feed.publish(key, hint);
      await expect.poll(() => heard).toEqual([hint]);
      await Promise.all([one?.close(), other?.close()]);
    });

    it('F6 tell each other of many threads in one command', async () => {
      const prefix = freshPrefix();
      const [one, other] = await Promise.all([1, 2].map(() => openRedis({ url: redis, prefix, logger: silent })));
      const keys = Array.from({ length: 40 }, () => freshKey());
      const heard = new Set<string>();
      for (const key of keys) await other?.feed.subscribe(key, () => heard.add(key.thread));
      const admin = new Redis(redis);
      const monitor = await admin.monitor(); // other specs talk to this server too: only commands with our prefix count
      const scripts: string[] = [];
      monitor.on('monitor', (_time: string, [command = '', ...given]: string[]) => {
        if (/^eval/i.test(command) && given.some((each) => each.includes(prefix))) scripts.push(command);
      });
      for (const key of keys) one?.feed.publish(key, { hint: 'committed', commit: commitOf(key, 0) });
      await expect.poll(() => heard.size).toBe(40);
      await expect.poll(() => scripts.length).toBe(1);
      monitor.disconnect();
      admin.disconnect();
      await Promise.all([one?.close(), other?.close()]);
    });
  });

  describe('a Redis that is away or empty', () => {
    it('forgets what it remembered, and invents nothing', async () => {
      const hints = await open();
      await hints.dedup.remember(acme, 'id');
      const admin = new Redis(redis);
      await admin.flushall();
      admin.disconnect();
      expect(await hints.dedup.seen(acme, 'id')).toBe(false);
      await hints.close();
    });

    it('is never there: everything answers at once', async () => {
      const hints = await open('redis://127.0.0.1:1');
      const began = performance.now();
      expect(await hints.dedup.seen(acme, 'id')).toBe(false);
      await hints.dedup.remember(acme, 'id');
      const key = freshKey();
      const end = await hints.feed.subscribe(key, () => {});
      hints.feed.publish(key, { hint: 'committed', commit: commitOf(key, 0) });
      expect(await hints.feed.soFar(key)).toEqual([]);
      end();
      expect(performance.now() - began).toBeLessThan(2_000);
      expect(hints.problem()).not.toBeNull();
      await hints.close();
    });

    it('is killed and comes back: subscriptions hear again', async (context) => {
      const directory = mkdtempSync(join(tmpdir(), 'dormouse-redis-'));
      const started = await recipe.start({ directory, cache: serviceCache, own: true, say: () => {} });
      if (!started.available) return context.skip(`${started.reason} ${started.remedy}`);
      try {
        const hints = await open(started.service.url);
        const key = freshKey();
        const heard: Hint[] = [];
        await hints.feed.subscribe(key, (hint) => heard.push(hint));
        started.service.kill('SIGKILL');
        await expect.poll(() => hints.problem()).not.toBeNull();
        hints.feed.publish(key, { hint: 'committed', commit: commitOf(key, 0) });
        await started.service.restart();
        await expect.poll(() => hints.problem()).toBeNull();
        const hint: Hint = { hint: 'committed', commit: commitOf(key, 1) };
        await expect
          .poll(() => {
            hints.feed.publish(key, hint);
            return heard;
          })
          .toContainEqual(hint);
        await hints.close();
      } finally {
        await started.service.stop();
        rmSync(directory, { recursive: true, force: true });
      }
    });

    it('stands still: nobody waits for it longer than a moment, and when it goes on, so does everything', async (context) => {
      const directory = mkdtempSync(join(tmpdir(), 'dormouse-redis-'));
      const started = await recipe.start({ directory, cache: serviceCache, own: true, say: () => {} });
      if (!started.available) return context.skip(`${started.reason} ${started.remedy}`);
      try {
        const hints = await open(started.service.url);
        await hints.dedup.remember(acme, 'id');
        expect(await hints.dedup.seen(acme, 'id')).toBe(true);
        started.service.kill('SIGSTOP');
        const began = performance.now();
        expect(await hints.dedup.seen(acme, 'id')).toBe(false);
        expect(performance.now() - began).toBeLessThan(5_000);
        await expect.poll(() => hints.problem()).not.toBeNull();
        const seenWithinMs = async (): Promise<number> => {
          const again = performance.now();
          expect(await hints.dedup.seen(acme, 'id')).toBe(false);
          return performance.now() - again;
        };
        await expect.poll(seenWithinMs).toBeLessThan(500); // it is known to be away, so not even a second
        started.service.kill('SIGCONT');
        await expect.poll(() => hints.dedup.seen(acme, 'id')).toBe(true);
        await hints.close();
      } finally {
        started.service.kill('SIGCONT');
        await started.service.stop();
        rmSync(directory, { recursive: true, force: true });
      }
    });
  });
});
