// What clients, tools and models see while a server is away: nothing proceeds on a state that could not be read,
// nothing that was accepted is lost, and nothing happens twice when it comes back. Callbacks need Kafka alone, the
// client API Kafka and MongoDB, and no service needs Redis.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../chaos/fault-proxy.ts';
import { type RecordingModel, startRecordingModel } from '../conformance/recording-model.ts';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventsOf, eventually, openThread, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { openStream } from '../e2e/event-stream.ts';
import { recipe as kafkaRecipe } from '../services/kafka/recipe.ts';
import { patienceMs } from '../patience.ts';
import { withServices } from '../services/needed-services.ts';
import type { RunningService } from '../services/service.ts';
import { serviceCache } from '../services/service-cache.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

const longerThanAnyRetryMs = 3_000;
const platformKey = 'platform-key-of-the-specs';
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const noProxy = (name: string): never => {
  throw new Error(name);
};

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-outage-'));
  let at: Cluster;
  let model: RecordingModel;
  let server: RecordingToolServer;
  /** A broker of our own: clients connect to its advertised address, so that has to be a proxy's. */
  let broker: RunningService;
  let missing: string | null = null;
  const network = new Map<string, { readonly proxy: FaultProxy; readonly port: number }>();

  async function proxied(name: string, url: string): Promise<string> {
    const port = Number(/:(\d+)(?:\/|$)/.exec(url)?.[1]);
    const proxy = await startFaultProxy([port]);
    network.set(name, { proxy, port });
    return url.replace(`:${port}`, `:${proxy.port}`);
  }

  beforeAll(async () => {
    const toBroker = await startFaultProxy([]);
    const where = { directory, cache: serviceCache, own: true, say: () => {} } as const;
    const started = await kafkaRecipe.start({ ...where, advertisedPort: toBroker.port });
    if (!started.available) {
      missing = `${started.reason} ${started.remedy}`;
      await toBroker.close();
      return;
    }
    broker = started.service;
    const port = Number(broker.url.split(':')[1]);
    toBroker.targets = [port];
    network.set('kafka', { proxy: toBroker, port });
    const servers = {
      kafka: `127.0.0.1:${toBroker.port}`,
      mongo: await proxied('mongo', urls.mongo),
      redis: await proxied('redis', urls.redis),
    };
    [at, model] = await Promise.all([
      startCluster(servers, { DORMOUSE_PLATFORM_KEY: platformKey }),
      startRecordingModel(),
    ]);
    server = await recordToolServer(at);
  });
  beforeEach((context) => context.skip(missing !== null, missing ?? undefined));
  afterEach(() => {
    for (const name of network.keys()) back(name);
  });
  afterAll(async () => {
    await endClusters();
    await Promise.all([...network.values()].map(({ proxy }) => proxy.close()));
    if (missing === null) await Promise.all([model.close(), server.close(), broker.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  function away(name: string): void {
    const { proxy } = network.get(name) ?? noProxy(name);
    proxy.targets = [];
    proxy.cut();
  }

  function back(name: string): void {
    const { proxy, port } = network.get(name) ?? noProxy(name);
    proxy.targets = [port];
  }

  /** The readiness of the process behind the client API. */
  const readiness = async (): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${Number(new URL(at.url).port) + 10}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  };

  async function waitingThread(): Promise<{ readonly thread: string; readonly prompts: readonly unknown[] }> {
    const played = model.plays([[toolCall('work')], [{ text: 'understood' }], [{ text: 'yes' }]]);
    const name = `outage-${randomUUID()}`;
    await at.request('POST', '/v1/agents', { name, model: played.model, tool_servers: [server.name] });
    const thread = await openThread(at, name);
    await untilStatus(at, thread, 'idle');
    return { thread, prompts: played.prompts };
  }

  const poster = (thread: string) => {
    const headers = { 'idempotency-key': `of-${thread}` };
    return () => at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' }, { headers });
  };

  const countOf = async (thread: string, wanted: string): Promise<number> =>
    (await eventsOf(at, thread)).filter(({ type }) => type === wanted).length;

  const untilIdle = (thread: string): Promise<unknown> =>
    eventually(async () => {
      const answer = await at.request('GET', `/v1/threads/${thread}`);
      return answer.status === 200 && answer.json.status === 'idle';
    });

  /** The health of each process, in the order of their ports. */
  const services = ['ingress-gateway', 'callback-gateway', 'thread-processor', 'tool-dispatcher', 'notifier'] as const;
  const statusOf = async (path: string, service: (typeof services)[number]): Promise<number> => {
    const port = Number(new URL(at.url).port) + 10 + services.indexOf(service);
    return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  };
  const ready = async (): Promise<readonly string[]> => {
    const statuses = await Promise.all(services.map((service) => statusOf('/readyz', service)));
    return services.filter((_, index) => statuses[index] === 200);
  };

  describe('whether a process is ready', () => {
    it.each<readonly [string, readonly (typeof services)[number][]]>([
      ['mongo', ['callback-gateway']],
      ['kafka', []],
      ['redis', services],
    ])(
      'while %s is away depends on what its service needs, and all are ready when it is back',
      async (name, expected) => {
        await expect.poll(ready, { timeout: patienceMs }).toEqual(services);
        away(name);
        await expect.poll(ready, { timeout: patienceMs }).toEqual(expected);
        await pause(longerThanAnyRetryMs);
        expect(await ready()).toEqual(expected); // and it stays so
        for (const service of services) expect([service, await statusOf('/healthz', service)]).toEqual([service, 200]);
        back(name);
        await expect.poll(ready, { timeout: patienceMs }).toEqual(services);
      },
    );
  });

  it('a message that no record holds is refused for good, and is not in the thread', async () => {
    const { thread } = await waitingThread();
    const content = Array.from({ length: 60 }, () => ({ type: 'text', text: 'x'.repeat(60_000) }));
    const refused = await at.request('POST', `/v1/threads/${thread}/messages`, { content });
    expect([refused.status, refused.json.code, refused.headers.has('retry-after')]).toEqual([
      413,
      'RECORD_TOO_LARGE',
      false,
    ]);
    expect(await countOf(thread, 'message_accepted')).toBe(0);
  });

  describe('while MongoDB is away', () => {
    it('R54 a message is answered with 503, no model and no tool hears of it, and sent again later it counts once', async () => {
      const { thread, prompts } = await waitingThread();
      const before = server.invocations().length;
      const post = poster(thread);
      away('mongo');
      const refused = await post();
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
      await pause(longerThanAnyRetryMs);
      expect([prompts.length, server.invocations().length - before]).toEqual([0, 0]);
      back('mongo');
      await eventually(async () => (await post()).status === 202);
      const call = await server.invocation(before);
      await server.send(call, { type: 'tool_result', text: 'done' });
      await untilStatus(at, thread, 'idle');
      expect(await countOf(thread, 'message_accepted')).toBe(1);
    });

    it('R57 a result is taken, waits, and is in the history once when it can be written', async () => {
      const { thread, prompts } = await waitingThread();
      const before = server.invocations().length;
      await poster(thread)();
      const call = await server.invocation(before);
      away('mongo');
      const result = { type: 'tool_result', text: 'written down once' };
      for (let sent = 0; sent < 3; sent++) expect((await server.send(call, result)).status).toBe(200);
      await pause(longerThanAnyRetryMs);
      expect(prompts).toHaveLength(1);
      back('mongo');
      await untilIdle(thread);
      const settled = (await eventsOf(at, thread)).filter(({ type }) => type === 'tool_call_settled');
      expect(settled).toMatchObject([{ outcome: 'result', content: [{ text: 'written down once' }] }]);
      expect(prompts).toHaveLength(2);
    });

    it('nobody is let in on a key that cannot be looked up, and the process says that it is not ready', async () => {
      away('mongo');
      for (const key of [`dm_${'x'.repeat(32)}`, 'nobody'])
        expect((await at.request('GET', '/v1/threads', undefined, { key })).status).toBe(503);
      await expect.poll(readiness).toMatch(/^503 .*DORMOUSE_MONGO_URL/);
      back('mongo');
      await expect.poll(readiness).toMatch(/^200/);
      expect((await at.request('GET', '/v1/threads', undefined, { key: 'nobody' })).status).toBe(401);
    });
  });

  describe('while Kafka is away', () => {
    it('a message is answered with 503, and sent again later it counts once', async () => {
      const { thread, prompts } = await waitingThread();
      const before = server.invocations().length;
      const post = poster(thread);
      away('kafka');
      const refused = await post();
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
      expect((await at.request('GET', `/v1/threads/${thread}`)).status).toBe(200);
      expect(prompts).toHaveLength(0);
      back('kafka');
      await eventually(async () => (await post()).status === 202);
      const call = await server.invocation(before);
      await server.send(call, { type: 'tool_result', text: 'done' });
      await untilIdle(thread);
      expect(await countOf(thread, 'message_accepted')).toBe(1);
    });

    it('R57 a result is answered with 503 and Retry-After, and sent again later it counts once', async () => {
      const { thread } = await waitingThread();
      const before = server.invocations().length;
      await poster(thread)();
      const call = await server.invocation(before);
      const result = { type: 'tool_result', text: 'at last' };
      away('kafka');
      const refused = await server.send(call, result);
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
      back('kafka');
      await eventually(async () => (await server.send(call, result)).status === 200);
      await untilIdle(thread);
      expect(await countOf(thread, 'tool_call_settled')).toBe(1);
    });
  });

  describe('while Redis is away', () => {
    it('a turn is had, a result that comes three times counts once, and who watches is told, if later', async () => {
      const { thread, prompts } = await waitingThread();
      const before = server.invocations().length;
      away('redis');
      expect((await poster(thread)()).status).toBe(202);
      const stream = await openStream(at, thread);
      const call = await server.invocation(before);
      const result = { type: 'tool_result', text: 'without hints' };
      for (let sent = 0; sent < 3; sent++) expect((await server.send(call, result)).status).toBe(200);
      await untilIdle(thread);
      const frames = await stream.until(({ event }) => event === 'tool_call_settled');
      expect(frames.filter(({ event }) => event === 'tool_call_settled')).toHaveLength(1);
      stream.close();
      expect(await countOf(thread, 'tool_call_settled')).toBe(1);
      expect(prompts).toHaveLength(2);
      expect(await readiness()).toMatch(/^200/);
    });

    it('who goes too fast is told so all the same: each process counts for itself', async () => {
      // so low a rate that the slowest machine exceeds it
      const slow = { id: 'one-per-second', name: 'One per second', quotas: { requests_per_s: 1 } };
      const { key } = (await at.request('POST', '/v1/tenants', slow, { key: platformKey })).json;
      away('redis');
      const statuses = new Set<number>();
      await eventually(async () => {
        const answers = await Promise.all(
          Array.from({ length: 30 }, () => at.request('GET', '/v1/threads', undefined, { key })),
        );
        for (const { status } of answers) statuses.add(status);
        return statuses.has(429) && statuses.has(200);
      });
      expect([...statuses].toSorted((one, other) => one - other)).toEqual([200, 429]);
    });
  });
});
