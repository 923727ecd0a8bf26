// Servers that speak TLS only, want a certificate of ours and a login: the settings suffice, and wrong ones are
// reported. Real servers with certificates of an authority of our own; nothing stands between them and the processes.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openThread, say, untilStatus } from '../e2e/conversation.ts';
import { patienceMs } from '../patience.ts';
import { type Authority, canMakeCertificates, type Certificate, makeAuthority } from '../services/certificates.ts';
import { startKafka } from '../services/kafka/recipe.ts';
import { startMongo } from '../services/mongo/recipe.ts';
import { withServices } from '../services/needed-services.ts';
import { startRedis } from '../services/redis/recipe.ts';
import type { RunningService, Started } from '../services/service.ts';
import { serviceCache } from '../services/service-cache.ts';
import { endClusters, startCluster } from './cluster-process.ts';

type Settings = Readonly<Record<string, string>>;

const login = { user: 'dormouse', password: 'it:sleeps' };
const hasOpenssl = await canMakeCertificates();
const mechanisms = ['plain', 'scram-sha-512'] as const;
/** Above the port of the client API: tools/cluster/cluster.ts. */
const processorHealth = 12;

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-tls-'));
  let missing: string | null = hasOpenssl ? null : 'openssl, which makes the certificates, is not installed';
  const servers = new Map<string, RunningService>();
  let stranger: Authority;
  /** The servers' certificates; the files are replaced at a renewal. */
  let shown: Certificate;
  let valid: Certificate;
  let expired: Certificate;
  let ours: Certificate;
  let strangers: Certificate;
  /** Settings of a process that reaches every server. */
  let secured: Settings;

  beforeAll(async () => {
    if (missing !== null) return;
    const authority = await makeAuthority(join(directory, 'authority'));
    stranger = await makeAuthority(join(directory, 'stranger'));
    valid = await authority.issue('valid');
    expired = await authority.issue('expired', 'expired');
    ours = await authority.issue('ours');
    strangers = await stranger.issue('strangers');
    shown = {
      file: join(directory, 'shown.pem'),
      keyFile: join(directory, 'shown.key'),
      bothFile: join(directory, 'shown.both'),
    };
    show(valid);
    const guard = { login, tls: { certificate: shown, authorityFile: authority.file } };
    const urlOf = async (name: string, start: (place: Place) => Promise<Started>): Promise<string> => {
      const started = await start({ directory: made(name), cache: serviceCache, say: () => {}, own: true });
      if (started.available) servers.set(name, started.service);
      else missing = `${started.reason} ${started.remedy}`;
      return started.available ? started.service.url : '';
    };
    const [kafka, mongo, redis] = await Promise.all([
      urlOf('kafka', (place) => startKafka(place, guard)),
      urlOf('mongo', (place) => startMongo(place, guard)),
      urlOf('redis', (place) => startRedis(place, guard)),
    ]);
    secured = {
      DORMOUSE_KAFKA_BROKERS: kafka,
      DORMOUSE_KAFKA_TLS: 'true',
      DORMOUSE_KAFKA_TLS_CA_FILE: authority.file,
      DORMOUSE_KAFKA_TLS_CERT_FILE: ours.file,
      DORMOUSE_KAFKA_TLS_KEY_FILE: ours.keyFile,
      DORMOUSE_KAFKA_SASL: `plain:${login.user}:${login.password}`,
      DORMOUSE_MONGO_URL: mongoWith(mongo, { tlsCAFile: authority.file, tlsCertificateKeyFile: ours.bothFile }),
      DORMOUSE_REDIS_URL: redis,
      DORMOUSE_REDIS_TLS_CA_FILE: authority.file,
      DORMOUSE_REDIS_TLS_CERT_FILE: ours.file,
      DORMOUSE_REDIS_TLS_KEY_FILE: ours.keyFile,
    };
  });
  beforeEach((context) => context.skip(missing !== null, missing ?? undefined));
  afterAll(async () => {
    await endClusters();
    for (const server of servers.values()) await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function made(name: string): string {
    mkdirSync(join(directory, name));
    return join(directory, name);
  }

  function show({ file, keyFile, bothFile }: Certificate): void {
    copyFileSync(file, shown.file);
    copyFileSync(keyFile, shown.keyFile);
    copyFileSync(bothFile, shown.bothFile);
  }

  async function restartShowing(name: string, certificate: Certificate): Promise<void> {
    await servers.get(name)?.stop();
    show(certificate);
    await servers.get(name)?.restart();
  }

  function mongoWith(url: string, options: Settings): string {
    const changed = new URL(url);
    changed.pathname = '/secured';
    for (const [name, value] of Object.entries({ authSource: 'admin', ...options }))
      changed.searchParams.set(name, value);
    return changed.href;
  }

  /** One program of the cluster with other settings; an empty one is unset. */
  function run(app: string, args: readonly string[], changes: Settings) {
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
    const main = fileURLToPath(new URL(`../../apps/${app}/dist/main.js`, import.meta.url));
    const settings = {
      DORMOUSE_MASTER_KEY: 'a'.repeat(64),
      DORMOUSE_KAFKA_PREFIX: 'tls.',
      DORMOUSE_KAFKA_PARTITIONS: '4',
      DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: '2000',
      DORMOUSE_PORT: '0',
      DORMOUSE_HEALTH_PORT: '0',
      ...secured,
      ...changes,
    };
    const child = spawn(process.execPath, [main, ...args], {
      env: { ...inherited, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { text: '' };
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said.text += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return {
      until: async (words: string): Promise<void> => {
        const deadline = Date.now() + patienceMs;
        while (!said.text.includes(words) && child.exitCode === null && Date.now() < deadline)
          await new Promise((resolve) => setTimeout(resolve, 50));
        expect(said.text).toContain(words);
      },
      ended,
      said,
      stop: async (): Promise<void> => {
        child.kill('SIGKILL');
        await ended;
        expect(said.text).not.toContain(login.password);
        expect(said.text).not.toContain(encodeURIComponent(login.password));
      },
    };
  }

  /** `setup` prints these words, and retries. */
  async function waitsWith(words: string, changes: Settings): Promise<void> {
    const setup = run('ingress-gateway', ['setup'], changes);
    await setup.until(words);
    await setup.stop();
  }

  const noFiles = (server: 'KAFKA' | 'REDIS', ...ends: readonly ('CA' | 'CERT' | 'KEY')[]): Settings =>
    Object.fromEntries(ends.map((end) => [`DORMOUSE_${server}_TLS_${end}_FILE`, '']));
  const filesOf = (server: 'KAFKA' | 'REDIS', { file, keyFile }: Certificate): Settings => ({
    [`DORMOUSE_${server}_TLS_CERT_FILE`]: file,
    [`DORMOUSE_${server}_TLS_KEY_FILE`]: keyFile,
  });

  describe('servers behind TLS, client certificates and a login', () => {
    it('carry a conversation, which goes on when a certificate had expired and is renewed', async () => {
      const { DORMOUSE_KAFKA_BROKERS: kafka = '', DORMOUSE_MONGO_URL: mongo = '', ...rest } = secured;
      const { DORMOUSE_REDIS_URL: redis = '', ...env } = rest;
      const at = await startCluster({ kafka, mongo, redis }, env);
      const thread = await openThread(at);
      await untilStatus(at, thread, 'idle');
      expect(await say(at, thread, 'What is the weather in Lisbon?')).toMatchObject({ status: 'idle' });
      expect(at.output()).not.toContain('redis_away');
      const readiness = async (): Promise<string> =>
        (await fetch(`http://127.0.0.1:${Number(new URL(at.url).port) + processorHealth}/readyz`)).text();
      await restartShowing('kafka', expired);
      await expect.poll(readiness).toContain('DORMOUSE_KAFKA_BROKERS, _TLS): Its certificate has expired');
      await restartShowing('kafka', valid);
      await expect.poll(readiness).toContain('ready');
      expect(await say(at, thread, 'And in Oslo?')).toMatchObject({ status: 'idle' });
      expect(at.output()).not.toContain(login.password);
      expect(await at.stop()).toBe(0);
    });

    it.each(mechanisms)('let in who has the password, by %s', async (mechanism) => {
      const sasl = `${mechanism}:${login.user}:${login.password}`;
      const setup = run('ingress-gateway', ['setup'], { DORMOUSE_KAFKA_SASL: sasl });
      expect(await setup.ended).toBe(0);
      await setup.stop();
    });

    describe('Kafka is waited for, with the setting', () => {
      const of = 'Kafka (DORMOUSE_KAFKA_BROKERS, _TLS): ';
      it('when its authority is not ours', () =>
        waitsWith(
          `${of}Its certificate is signed by nobody whom this process knows: name the certificate of the authority in DORMOUSE_KAFKA_TLS_CA_FILE`,
          { DORMOUSE_KAFKA_TLS_CA_FILE: stranger.file },
        ));
      it('when it wants a certificate and we show none', () =>
        waitsWith('DORMOUSE_KAFKA_TLS_CERT_FILE', noFiles('KAFKA', 'CERT', 'KEY')));
      it('when it does not trust who signed ours', () =>
        waitsWith('DORMOUSE_KAFKA_TLS_CERT_FILE', filesOf('KAFKA', strangers)));
      it.each(mechanisms)('when the password is wrong, by %s', (mechanism) =>
        waitsWith('Kafka refuses our credentials: see DORMOUSE_KAFKA_SASL', {
          DORMOUSE_KAFKA_SASL: `${mechanism}:dormouse:x`,
        }),
      );
      it('when it speaks TLS and we do not', () =>
        waitsWith('See DORMOUSE_KAFKA_BROKERS and DORMOUSE_KAFKA_TLS', {
          ...noFiles('KAFKA', 'CA', 'CERT', 'KEY'),
          DORMOUSE_KAFKA_TLS: 'false',
        }));
      it('when we speak TLS and it does not', () =>
        waitsWith('DORMOUSE_KAFKA_TLS', { DORMOUSE_KAFKA_BROKERS: urls.kafka }));
    });

    describe('MongoDB is waited for, with the setting', () => {
      const of = 'The database (DORMOUSE_MONGO_URL): ';
      const changed = (options: Settings): Settings => ({
        DORMOUSE_MONGO_URL: mongoWith(secured['DORMOUSE_MONGO_URL'] ?? '', options),
      });
      it('when its authority is not ours', () =>
        waitsWith(
          `${of}Its certificate is signed by nobody whom this process knows: name the certificate of the authority in tlsCAFile`,
          changed({ tlsCAFile: stranger.file }),
        ));
      it('when it does not trust who signed ours', () =>
        waitsWith('tlsCertificateKeyFile', changed({ tlsCertificateKeyFile: strangers.bothFile })));
      it('when the password is wrong', () =>
        waitsWith('The database refuses our credentials: see DORMOUSE_MONGO_URL', {
          DORMOUSE_MONGO_URL: (secured['DORMOUSE_MONGO_URL'] ?? '').replace(encodeURIComponent(login.password), 'x'),
        }));
    });

    it.each([
      ['kafka', 'Kafka (DORMOUSE_KAFKA_BROKERS, _TLS): Its certificate has expired'],
      ['mongo', 'The database (DORMOUSE_MONGO_URL): Its certificate has expired'],
    ])('are waited for when the certificate of %s has expired, and used when it is renewed', async (name, words) => {
      await restartShowing(name, expired);
      const setup = run('ingress-gateway', ['setup'], {});
      try {
        await setup.until(words);
      } finally {
        await restartShowing(name, valid);
      }
      expect(await setup.ended).toBe(0);
      await setup.stop();
    });

    describe('Redis is done without, and that is said with the setting', () => {
      beforeAll(async () => {
        if (missing === null) expect(await run('ingress-gateway', ['setup'], {}).ended).toBe(0);
      });

      async function worksWithout(words: string, changes: Settings): Promise<void> {
        const notifier = run('notifier', [], changes);
        await notifier.until(words);
        await notifier.until('ready notifier');
        await notifier.stop();
      }

      it('when its authority is not ours', () =>
        worksWithout('name the certificate of the authority in DORMOUSE_REDIS_TLS_CA_FILE', {
          DORMOUSE_REDIS_TLS_CA_FILE: stranger.file,
        }));
      it('when it wants a certificate and we show none', () =>
        worksWithout('DORMOUSE_REDIS_TLS_CERT_FILE', noFiles('REDIS', 'CERT', 'KEY')));
      it('when it does not trust who signed ours', () =>
        worksWithout('DORMOUSE_REDIS_TLS_CERT_FILE', filesOf('REDIS', strangers)));
      it.each([
        ['wrong', 'x@'],
        ['not given', ''],
      ])('when the password is %s', (_, credentials) =>
        worksWithout('Redis refuses our credentials: see DORMOUSE_REDIS_URL', {
          DORMOUSE_REDIS_URL: (secured['DORMOUSE_REDIS_URL'] ?? '').replace(
            `:${encodeURIComponent(login.password)}@`,
            credentials === '' ? '' : `:${credentials}`,
          ),
        }),
      );
      it('when its certificate has expired', async () => {
        await restartShowing('redis', expired);
        try {
          await worksWithout('Redis (DORMOUSE_REDIS_URL): Its certificate has expired', {});
        } finally {
          await restartShowing('redis', valid);
        }
      });
    });

    it('what the files of the settings cannot be is refused at once, all together', async () => {
      const empty = join(directory, 'empty.pem');
      writeFileSync(empty, 'nothing\n');
      const refused = run('notifier', [], {
        DORMOUSE_KAFKA_TLS_CA_FILE: join(directory, 'nowhere.pem'),
        ...filesOf('KAFKA', { ...expired, keyFile: empty }),
        DORMOUSE_REDIS_TLS_KEY_FILE: strangers.keyFile,
      });
      expect(await refused.ended).toBe(1);
      for (const words of [
        'DORMOUSE_KAFKA_TLS_CA_FILE: names a file that cannot be read',
        'DORMOUSE_KAFKA_TLS_CERT_FILE: names a certificate that has expired',
        'DORMOUSE_KAFKA_TLS_KEY_FILE: names a file without a private key',
      ])
        expect(refused.said.text).toContain(words);
      expect(refused.said.text).not.toContain(directory);
      const mixed = run('notifier', [], filesOf('REDIS', { ...ours, keyFile: strangers.keyFile }));
      expect(await mixed.ended).toBe(1);
      expect(mixed.said.text).toContain(
        'DORMOUSE_REDIS_TLS_KEY_FILE: is not the key of the certificate in DORMOUSE_REDIS_TLS_CERT_FILE',
      );
    });
  });
});

type Place = Parameters<typeof startKafka>[0];
