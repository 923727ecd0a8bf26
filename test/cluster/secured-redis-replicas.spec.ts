// Sentinels and a Redis Cluster that speak TLS only, want a certificate of ours and a login: the settings suffice, also
// when a master is lost, and wrong ones are reported. Real servers with certificates of an authority of our own, for
// the address or for the name that they announce.
import { openRedis, type RedisHints } from '@dormouse/adapter-redis';
import { tenantId, type Hint, type Logger } from '@dormouse/ports';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, createSecureContext, createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { patienceMs } from '../patience.ts';
import { type Authority, canMakeCertificates, type Certificate, makeAuthority } from '../services/certificates.ts';
import { withServices } from '../services/needed-services.ts';
import { type ReplicatedRedis, startClusteredRedis, startSentinels } from '../services/redis/several-servers.ts';
import { serviceCache } from '../services/service-cache.ts';

const acme = tenantId('acme');

const login = { user: 'default', password: 'it:sleeps' };
const sentinelPassword = 'they/watch';
const missing = (await canMakeCertificates()) ? null : 'openssl, which makes the certificates, is not installed';
const main = fileURLToPath(new URL('../../apps/ingress-gateway/dist/main.js', import.meta.url));

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-tls-'));
  let authority: Authority;
  let stranger: Authority;
  let ours: Certificate;
  let strangers: Certificate;
  beforeAll(async () => {
    if (missing !== null) return;
    authority = await makeAuthority(join(directory, 'authority'));
    stranger = await makeAuthority(join(directory, 'stranger'));
    ours = await authority.issue('ours');
    strangers = await stranger.issue('strangers');
  });
  beforeEach((context) => context.skip(missing !== null, missing ?? undefined));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const optionsOf = ({ file }: Pick<Authority, 'file'>, shown: Certificate | null): ConnectionOptions => ({
    ca: readFileSync(file),
    ...(shown === null ? {} : { cert: readFileSync(shown.file), key: readFileSync(shown.keyFile) }),
  });

  interface Opened {
    readonly hints: RedisHints;
    /** Each event with the reason in it, a line each. */
    readonly said: () => string;
  }

  async function open(url: string, tls: ConnectionOptions, prefix = `tls-${randomBytes(6).toString('hex')}:`) {
    const lines: string[] = [];
    const note = (event: string, fields: object = {}): void =>
      void lines.push(`${event} ${(fields as { readonly reason?: string }).reason ?? ''}`);
    const logger: Logger = { info: note, warn: note, error: note };
    const hints = await openRedis({ url, tls, prefix, logger });
    return { hints, said: () => lines.join('\n') } satisfies Opened;
  }

  /** What one process remembers and publishes is with another one. */
  async function untilShared({ hints: one }: Opened, { hints: other }: Opened): Promise<void> {
    const key = freshKey();
    const heard: Hint[] = [];
    await other.feed.subscribe(key, (hint) => heard.push(hint));
    const hint: Hint = { hint: 'committed', commit: commitOf(key, 1) };
    await expect
      .poll(() => {
        one.feed.publish(key, hint);
        return heard;
      })
      .toContainEqual(hint);
    await expect
      .poll(async () => {
        await one.dedup.remember(acme, key.thread);
        return other.dedup.seen(acme, key.thread);
      })
      .toBe(true);
    expect(await other.rates.take(acme, key.thread, { perSecond: 1, burst: 2 })).toMatchObject({ allowed: true });
  }

  describe.each([
    ['Sentinels', 'address', startSentinels],
    ['Sentinels', 'name', startSentinels],
    ['a Redis Cluster', 'address', startClusteredRedis],
    ['a Redis Cluster', 'name', startClusteredRedis],
  ] as const)('%s behind TLS, client certificates and logins, by their %s', (form, announced, start) => {
    let servers: ReplicatedRedis | null = null;
    const url = (): string => servers?.url ?? '';
    beforeAll(async () => {
      if (missing !== null) return;
      const certificate = await authority.issue(`${start.name}-${announced}`, 'valid', announced);
      const place = join(directory, start.name, announced);
      mkdirSync(place, { recursive: true });
      const guard = { login, sentinelPassword, announced, tls: { certificate, authorityFile: authority.file } };
      servers = await start({ directory: place, cache: serviceCache, say: () => {} }, guard);
    });
    afterAll(() => servers?.stop());

    it('work for two processes, and go on when a master is lost and another is promoted', async () => {
      const prefix = `lost-${randomBytes(6).toString('hex')}:`;
      const settings = optionsOf(authority, ours);
      const [one, other] = [await open(url(), settings, prefix), await open(url(), settings, prefix)];
      await untilShared(one, other);
      expect(one.said() + other.said()).not.toContain('DORMOUSE_');
      await servers?.loseMaster();
      await untilShared(one, other);
      await expect.poll(() => [one.hints.problem(), other.hints.problem()]).toEqual([null, null]);
      await Promise.all([one.hints.close(), other.hints.close()]);
    });

    it('are looked at by the doctor, with the settings of a process', () => {
      const inherited = Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')),
      );
      const { stdout } = spawnSync(process.execPath, [main, 'doctor', '--json'], {
        encoding: 'utf8',
        timeout: patienceMs,
        env: {
          ...inherited,
          DORMOUSE_KAFKA_BROKERS: urls.kafka,
          DORMOUSE_MONGO_URL: urls.mongo,
          DORMOUSE_MASTER_KEY: 'a'.repeat(64),
          DORMOUSE_REDIS_URL: url(),
          DORMOUSE_REDIS_TLS_CA_FILE: authority.file,
          DORMOUSE_REDIS_TLS_CERT_FILE: ours.file,
          DORMOUSE_REDIS_TLS_KEY_FILE: ours.keyFile,
        },
      });
      const line = stdout.split('\n').find((each) => each.includes('"check":"redis"'));
      const whose = form === 'Sentinels' ? 'the master of Sentinels' : 'a node of a cluster';
      expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'ok', detail: expect.stringContaining(whose) });
      expect(stdout).not.toContain(login.password);
    });

    async function saysWhy(words: string | RegExp, at: string, settings: ConnectionOptions): Promise<void> {
      const { hints, said } = await open(at, settings);
      await expect.poll(said).toMatch(words);
      expect(hints.problem()).not.toBeNull();
      expect(await hints.dedup.seen(acme, 'x')).toBe(false); // without it
      expect(said()).not.toContain(login.password);
      await hints.close();
    }

    it('are done without, and the setting is said, when their authority is not ours', () =>
      saysWhy('DORMOUSE_REDIS_TLS_CA_FILE', url(), optionsOf(stranger, ours)));

    it('… when they want a certificate and we show none', () =>
      saysWhy('DORMOUSE_REDIS_TLS_CERT_FILE', url(), optionsOf(authority, null)));

    it('… when they do not trust who signed ours', () =>
      saysWhy('DORMOUSE_REDIS_TLS_CERT_FILE', url(), optionsOf(authority, strangers)));

    it('… when the password is wrong', () =>
      saysWhy(
        'Redis refuses our credentials: see DORMOUSE_REDIS_URL',
        url().replace(encodeURIComponent(login.password), 'x'),
        optionsOf(authority, ours),
      ));

    it.runIf(form === 'Sentinels')('… when the password of the Sentinels is wrong', () =>
      saysWhy(
        'The Sentinels refuse our credentials: see sentinelUser and sentinelPassword',
        url().replace(encodeURIComponent(sentinelPassword), 'x'),
        optionsOf(authority, ours),
      ),
    );

    it('… when they speak TLS and we do not', () =>
      saysWhy(/^redis_away /m, url().replace('rediss+', 'redis+'), optionsOf(authority, ours)));

    it(`… when their certificate is for another host: of the ${announced} alone`, () => {
      const [from, to] = announced === 'name' ? ['localhost', '127.0.0.1'] : ['127.0.0.1', 'localhost'];
      return saysWhy(
        'Its certificate is for another host name than the one in this setting',
        url().replaceAll(from, to),
        optionsOf(authority, ours),
      );
    });
  });

  it('R3 a server behind a proxy that routes by name is reached by its name', async () => {
    const [named, elsewhere] = [
      await authority.issue('named', 'valid', 'name'),
      await authority.issue('elsewhere', 'valid', 'elsewhere'),
    ];
    const keys = ({ file, keyFile }: Certificate) => ({ cert: readFileSync(file), key: readFileSync(keyFile) });
    const asked = new Set<string>();
    const router = createServer(
      {
        ...keys(elsewhere),
        SNICallback: (name, choose) => {
          asked.add(name);
          choose(null, createSecureContext(keys(name === 'localhost' ? named : elsewhere)));
        },
      },
      (client) => {
        const server = connect(Number(new URL(urls.redis).port), '127.0.0.1');
        client.pipe(server).pipe(client);
        for (const end of [client, server]) end.on('error', () => [client, server].map((each) => each.destroy()));
      },
    );
    router.listen(0, '127.0.0.1');
    await once(router, 'listening');
    const at = `rediss://localhost:${(router.address() as AddressInfo).port}`;
    const [one, other] = [
      await open(at, optionsOf(authority, null), 'r:'),
      await open(at, optionsOf(authority, null), 'r:'),
    ];
    await untilShared(one, other);
    expect([...asked]).toEqual(['localhost']);
    expect(one.said() + other.said()).not.toContain('DORMOUSE_');
    await Promise.all([one.hints.close(), other.hints.close()]);
    router.close();
  });
});
