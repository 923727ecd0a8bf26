// The servers behind TLS, Kafka also behind a login: the settings suffice, and what is wrong with them is said. TLS is ended by a
// door of our own before real servers; certificates and the login are real.
import { openRedis } from '@dormouse/adapter-redis';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openThread, say, untilStatus } from '../e2e/conversation.ts';
import { startKafka } from '../services/kafka/recipe.ts';
import { withServices } from '../services/needed-services.ts';
import { isInstalled } from '../services/run-command.ts';
import type { RunningService } from '../services/service.ts';
import { serviceCache } from '../services/service-cache.ts';
import { type Certificate, makeCertificate, startTlsDoor, type TlsDoor } from '../services/tls-door.ts';
import { endClusters, startCluster } from './cluster-process.ts';

const setup = fileURLToPath(new URL('../../apps/ingress-gateway/dist/main.js', import.meta.url));
const login = { user: 'dormouse', password: 'it:sleeps' };
const hasOpenssl = await isInstalled('openssl');

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-tls-'));
  const doors: TlsDoor[] = [];
  let valid: Certificate;
  let expired: Certificate;
  let broker: RunningService;
  /** Settings of a process that reaches every server through TLS. */
  let secured: Readonly<Record<string, string>>;

  const door = async (target: () => number, certificate = valid): Promise<number> => {
    const opened = await startTlsDoor(target, certificate);
    doors.push(opened);
    return opened.port;
  };
  const mongoBehind = (port: number): string => `mongodb://127.0.0.1:${port}/secured?directConnection=true&tls=true`;
  const portOf = (url: string): number => Number(/:(\d+)(?:\/|$)/.exec(url)?.[1]);

  beforeAll(async () => {
    if (!hasOpenssl) return;
    valid = await makeCertificate(join(directory, 'valid'));
    expired = await makeCertificate(join(directory, 'expired'), true);
    const kafkaDoor = await door(() => portOf(broker.url));
    const where = { directory: join(directory, 'kafka'), cache: serviceCache, say: () => {}, own: true } as const;
    const started = await startKafka({ ...where, advertisedPort: kafkaDoor }, login);
    if (!started.available) throw new Error(started.reason);
    broker = started.service;
    secured = {
      DORMOUSE_KAFKA_BROKERS: `127.0.0.1:${kafkaDoor}`,
      DORMOUSE_KAFKA_TLS: 'true',
      DORMOUSE_KAFKA_SASL: `plain:${login.user}:${login.password}`,
      DORMOUSE_MONGO_URL: mongoBehind(await door(() => portOf(urls.mongo))),
      DORMOUSE_REDIS_URL: `rediss://127.0.0.1:${await door(() => portOf(urls.redis))}`,
      NODE_EXTRA_CA_CERTS: valid.file,
    };
  }, 60_000);
  afterAll(async () => {
    await endClusters();
    for (const each of doors) await each.close();
    await broker?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** What `setup` says within some seconds, in which it goes on trying. */
  async function said(changes: Readonly<Record<string, string>>, until: string): Promise<string> {
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
    const child = spawn(process.execPath, [setup, 'setup'], {
      env: { ...inherited, DORMOUSE_MASTER_KEY: 'a'.repeat(64), DORMOUSE_KAFKA_PREFIX: 'tls.', ...secured, ...changes },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const ended = new Promise((resolve) => child.once('close', resolve));
    const deadline = Date.now() + 20_000;
    while (!text.includes(until) && child.exitCode === null && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill('SIGKILL');
    await ended;
    expect(text).toContain(until);
    return text;
  }

  describe('servers behind TLS and a login', () => {
    beforeEach((context) => context.skip(!hasOpenssl, 'openssl, which makes the certificates, is not installed'));

    it('carry a conversation', async () => {
      const { DORMOUSE_KAFKA_BROKERS: kafka = '', DORMOUSE_MONGO_URL: mongo = '', ...rest } = secured;
      const { DORMOUSE_REDIS_URL: redis = '', ...env } = rest;
      const at = await startCluster({ kafka, mongo, redis }, env);
      const thread = await openThread(at);
      await untilStatus(at, thread, 'idle');
      expect(await say(at, thread, 'What is the weather in Lisbon?')).toMatchObject({ status: 'idle' });
      expect(at.output()).not.toContain('redis_away');
      expect(at.output()).not.toContain(login.password);
      expect(await at.stop()).toBe(0);
    }, 90_000);

    it.each([
      [
        'the authority is not known',
        { NODE_EXTRA_CA_CERTS: '' },
        'Kafka (DORMOUSE_KAFKA_BROKERS, _TLS): Its certificate is signed by nobody',
      ],
      [
        'the password is wrong',
        { DORMOUSE_KAFKA_SASL: 'plain:dormouse:x' },
        'Kafka refuses our credentials: see DORMOUSE_KAFKA_SASL',
      ],
    ])('are waited for, with the setting, when %s', async (_, changes, words) => {
      expect(await said(changes, words)).not.toContain(login.password);
    });

    it('are waited for, with the setting, when a certificate has expired', async () => {
      const both = join(directory, 'both.pem');
      writeFileSync(both, readFileSync(valid.file, 'utf8') + readFileSync(expired.file, 'utf8'));
      const trusting = { NODE_EXTRA_CA_CERTS: both };
      const kafka = `127.0.0.1:${await door(() => portOf(broker.url), expired)}`;
      const ofKafka = 'Kafka (DORMOUSE_KAFKA_BROKERS, _TLS): Its certificate has expired';
      await said({ ...trusting, DORMOUSE_KAFKA_BROKERS: kafka }, ofKafka);
      const mongo = mongoBehind(await door(() => portOf(urls.mongo), expired));
      const ofMongo = 'The database (MONGO_URL): Its certificate has expired';
      await said({ ...trusting, DORMOUSE_MONGO_URL: mongo }, ofMongo);
    });

    it('are waited for, with the setting, when there is no TLS on the port', async () => {
      await said({ DORMOUSE_KAFKA_BROKERS: urls.kafka }, 'See DORMOUSE_KAFKA_BROKERS and DORMOUSE_KAFKA_TLS');
    });

    it('are done without, and that is said, when it is Redis', async () => {
      const warnings: unknown[] = [];
      const logger = { info: () => {}, warn: (_event: string, data: unknown) => warnings.push(data), error: () => {} };
      const url = `rediss://127.0.0.1:${await door(() => portOf(urls.redis), expired)}`;
      const hints = await openRedis({ url, prefix: 'tls:', logger });
      expect(await hints.dedup.seen('acme', 'id')).toBe(false);
      expect(warnings[0]).toMatchObject({
        reason: expect.stringContaining('Redis (DORMOUSE_REDIS_URL): Its certificate'),
      });
      await hints.close();
    });
  });
});
