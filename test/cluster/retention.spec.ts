// Retention in a cluster: a sweep whose clock is forty days ahead, beside the running services. It removes what rests
// from MongoDB, by inputs over Kafka, and places of the tenant's log stay good.
import { openKafka, type KafkaBus } from '@dormouse/adapter-kafka';
import { openMongo, type MongoStores } from '@dormouse/adapter-mongo';
import { type Clock, localTenant, type Logger, noMetrics } from '@dormouse/ports';
import { createAuditor, createRetention } from '@dormouse/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventsOf, eventually, openThread, say } from '../e2e/conversation.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

const dayMs = 86_400_000;
const platformKey = 'platform-key-of-retention';
const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** Each of its sleeps takes a moment, and moves it by as much as it was to take. */
function hurriedClock(aheadMs: number): Clock {
  let ahead = aheadMs;
  const now = (): number => Date.now() + ahead;
  return {
    now,
    sleep: async (ms, signal) => {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 200);
        signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
      });
      ahead += ms;
    },
    alarm: () => () => {},
  };
}

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  let at: Cluster;
  let mongo: MongoStores;
  let kafka: KafkaBus;
  beforeAll(async () => {
    at = await startCluster(urls, { DORMOUSE_PLATFORM_KEY: platformKey });
    kafka = await openKafka({ brokers: urls.kafka.split(','), prefix: at.prefix, clientId: 'spec', logger: silent });
    const { partitions } = kafka;
    mongo = await openMongo({ url: urls.mongo, database: at.database, indexes: 'check', partitions });
  });
  afterAll(async () => {
    await Promise.all([kafka?.close(), mongo?.close()]);
    await endClusters();
  });

  const statusOf = async (thread: string): Promise<number> => (await at.request('GET', `/v1/threads/${thread}`)).status;
  const key = (thread: string) => ({ tenant: localTenant, thread });

  it('removes what rests, with its log, and leaves what has something open', async () => {
    const patched = await at.request('PATCH', `/v1/tenants/${localTenant}`, { retention_days: 30 }, { key: platformKey });
    expect(patched.status, patched.text).toBe(200);
    const large = 'A long story. '.repeat(10_000);
    const rests = await Promise.all(Array.from({ length: 8 }, () => openThread(at)));
    for (const thread of rests) await say(at, thread, thread === rests[0] ? large : 'Hello');
    const used = await openThread(at);
    await say(at, used, 'Sleep for 9000000 seconds.');
    const { data: all } = (await at.request('GET', '/v1/events?limit=200')).json;
    expect(all.length).toBeGreaterThan(20);

    const clock = hurriedClock(40 * dayMs);
    const audit = createAuditor({ auditLog: mongo.auditLog, clock });
    const sweeps = [1, 2].map(() =>
      createRetention({
        ...{ ...mongo, inputs: kafka.inputs, audit, clock, logger: silent, metrics: noMetrics },
        limits: { stored: () => {} },
        settings: { days: null, auditDays: null },
      }),
    );
    for (const sweep of sweeps) await sweep.start();
    for (const thread of rests)
      await eventually(async () => (await mongo.directory.get(key(thread))) === null);
    for (const sweep of sweeps) await sweep.stop(10_000);

    for (const thread of rests) {
      expect(await mongo.log.read(key(thread), 0)).toEqual([]);
      await eventually(async () => (await statusOf(thread)) === 404);
    }
    expect(await statusOf(used)).toBe(200);
    const opened = (await eventsOf(at, used)).map(({ type }) => type);
    expect(opened).toContain('timer_set');
    const rows = (await at.request('GET', '/v1/audit?action=threads.removed')).json.data;
    expect(rows.length).toBeGreaterThan(0);
    // A reader of everything passes over what is gone, and gets what comes next.
    const next = await openThread(at);
    await say(at, next, 'Hello');
    await eventually(async () => {
      const threads = new Set<string>();
      for (let after = ''; ;) {
        const { json } = await at.request('GET', `/v1/events?limit=100${after === '' ? '' : `&after=${after}`}`);
        for (const { thread_id: thread } of json.data) threads.add(thread);
        if (json.data.length === 0) break;
        after = json.data.at(-1).cursor;
      }
      return threads.has(next) && !rests.some((thread) => threads.has(thread));
    });
  });
});
