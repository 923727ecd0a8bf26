// A service whose servers are unavailable when it starts: it is alive and not ready, reports what it waits for,
// retries, and is ready as soon as it can do its work; without Redis too. On real servers that are killed, with built
// programs.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withServices } from '../services/needed-services.ts';
import { freePorts } from '../services/free-ports.ts';
import { type OwnServers, startOwnServers } from '../services/own-servers.ts';
import type { RunningService, ServiceRecipe } from '../services/service.ts';

type Name = ServiceRecipe['name'];

withServices(['kafka', 'mongo', 'redis'], () => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-absent-'));
  let own: OwnServers;
  const server = (name: Name): RunningService => {
    const found = own.servers.get(name);
    if (found === undefined) throw new Error(name);
    return found;
  };

  beforeAll(async () => {
    own = await startOwnServers(directory);
  });
  beforeEach((context) => context.skip(own.missing !== null, own.missing ?? undefined));
  afterAll(async () => {
    for (const each of own.servers.values()) await each.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function run(app: string, ...args: readonly string[]) {
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
    const [port = 0, healthPort = 0] = await freePorts(2);
    const mongo = new URL(server('mongo').url);
    mongo.pathname = '/absent';
    const main = fileURLToPath(new URL(`../../apps/${app}/dist/main.js`, import.meta.url));
    const child = spawn(process.execPath, [main, ...args], {
      env: {
        ...inherited,
        DORMOUSE_KAFKA_BROKERS: server('kafka').url,
        DORMOUSE_KAFKA_PARTITIONS: '4',
        DORMOUSE_MONGO_URL: mongo.href,
        DORMOUSE_REDIS_URL: server('redis').url,
        DORMOUSE_MASTER_KEY: 'a'.repeat(64),
        DORMOUSE_PORT: String(port),
        DORMOUSE_HEALTH_PORT: String(healthPort),
        DORMOUSE_LOG_LEVEL: 'info',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { text: '' };
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said.text += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const health = async (path: string): Promise<string> => {
      try {
        const answer = await fetch(`http://127.0.0.1:${healthPort}${path}`);
        return `${answer.status} ${await answer.text()}`;
      } catch {
        return 'nobody';
      }
    };
    return { said, ended, health, kill: (signal: NodeJS.Signals) => void child.kill(signal) };
  }

  describe('a service that finds nothing when it starts', () => {
    it('waits for Kafka, then for MongoDB, and never for Redis; each is said once, with its setting', async () => {
      expect(await (await run('ingress-gateway', 'setup')).ended).toBe(0);
      for (const name of ['kafka', 'mongo', 'redis'] as const) server(name).kill('SIGKILL');
      const service = await run('ingress-gateway');
      const ready = { interval: 100 };
      await expect
        .poll(() => service.health('/readyz'), ready)
        .toMatch(/^503 .*No Kafka answers at DORMOUSE_KAFKA_BROKERS/);
      expect(await service.health('/healthz')).toMatch(/^200/);
      await server('kafka').restart();
      await expect
        .poll(() => service.health('/readyz'), ready)
        .toMatch(/^503 .*No database answers at DORMOUSE_MONGO_URL/);
      await server('mongo').restart();
      await expect.poll(() => service.health('/readyz'), ready).toMatch(/^200/);
      expect(service.said.text).toContain('ready ingress-gateway');
      expect(service.said.text).toMatch(/"redis_away"/);
      await server('redis').restart();
      await expect.poll(() => service.said.text, ready).toMatch(/"redis_back"/);
      const waited = service.said.text.split('\n').filter((line) => line.includes('"waiting"'));
      expect(waited).toHaveLength(new Set(waited.map((line) => JSON.parse(line).reason)).size);
      service.kill('SIGTERM');
      expect(await service.ended).toBe(0);
    });

    it('ends with exit code 0 when it is told to while it waits', async () => {
      server('kafka').kill('SIGKILL');
      const service = await run('notifier');
      await expect.poll(() => service.said.text).toContain('"waiting"');
      service.kill('SIGTERM');
      expect(await service.ended).toBe(0);
      await server('kafka').restart();
    });
  });
});
