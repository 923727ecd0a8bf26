// `npm run services` with a real server: it stays, there is one however often it is requested, and it ends.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, describe, expect, it } from 'vitest';
import type { ServiceRecord } from '../services/kept-service.ts';
import { recipe as kafka } from '../services/kafka/recipe.ts';
import { withServices } from '../services/needed-services.ts';
import { isRunning, signalTo } from '../services/process-identity.ts';
import { serviceCache } from '../services/service-cache.ts';

const program = fileURLToPath(new URL('../services/main.ts', import.meta.url));

withServices(['redis'], () => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-kept-'));
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_TEST_')));
  const services = (...args: readonly string[]) => {
    const ran = spawnSync(process.execPath, [program, ...args, '--directory', directory], { encoding: 'utf8', env });
    return { code: ran.status, out: ran.stdout, said: ran.stderr };
  };
  const record = (): ServiceRecord & { readonly state: 'up' } =>
    JSON.parse(readFileSync(join(directory, 'redis', 'record.json'), 'utf8'));
  afterAll(() => {
    services('down');
    rmSync(directory, { recursive: true, force: true });
  });

  describe('npm run services', () => {
    it('leaves a server running, and prints the name and address that the tests read', async () => {
      const { code, out } = services('up', 'redis');
      expect(code).toBe(0);
      const [, url = ''] = /^DORMOUSE_TEST_REDIS_URL=(redis:\S+)\n$/.exec(out) ?? [];
      const client = new Redis(url);
      expect(await client.ping()).toBe('PONG');
      client.disconnect();
      expect(services('up', 'redis').out).toBe(out);
      expect(services('logs', 'redis').out).toContain('Ready to accept connections');
      expect(services('status', 'redis')).toMatchObject({ code: 0, out: expect.stringContaining(url) });
      expect(services('status', 'kafka', '--json')).toMatchObject({
        code: 1,
        out: '[{"name":"kafka","variable":"DORMOUSE_TEST_KAFKA_BROKERS","state":"down"}]\n',
      });
    });

    it('starts it anew when something of it was killed, and leaves nothing behind', async () => {
      const old = record();
      signalTo(old.keeper, 'SIGKILL');
      await expect.poll(() => isRunning(old.keeper)).toBe(false);
      expect(services('status', 'redis')).toMatchObject({ code: 1, out: expect.stringContaining('damaged') });
      expect(services('up', 'redis').code).toBe(0);
      expect(old.servers.some(isRunning)).toBe(false);
      expect(record().servers.every(isRunning)).toBe(true);
    });

    it('ends it, and nothing else', () => {
      const { keeper, servers } = record();
      expect(services('down').code).toBe(0);
      expect([keeper, ...servers].some(isRunning)).toBe(false);
      expect(services('status', 'redis').code).toBe(1);
    });

    it('says what it can do when asked for anything else', () => {
      expect(services('restart')).toMatchObject({ code: 2, said: expect.stringContaining('up|down|status|logs') });
      expect(services('up', 'postgres')).toMatchObject({ code: 2, said: expect.stringContaining('postgres') });
    });
  });
});

withServices(['kafka'], () => {
  it('a broker that is started again in its directory has its topics, on whatever port is free then', async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-kafka-'));
    const topicsAfter = async (work: (admin: ReturnType<Kafka['admin']>) => Promise<unknown>) => {
      const started = await kafka.start({ directory, cache: serviceCache, own: true, built: true, say: () => {} });
      if (!started.available) return context.skip(`${started.reason} ${started.remedy}`);
      const admin = new Kafka({ brokers: [started.service.url], logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
      await work(admin);
      const topics = await admin.listTopics();
      await admin.disconnect();
      await started.service.stop();
      return topics;
    };
    try {
      await topicsAfter((admin) => admin.createTopics({ topics: [{ topic: 'kept' }] }));
      expect(await topicsAfter(() => Promise.resolve())).toEqual(['kept']);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
