// The collections and topics of every release, as a kill left them, are brought along by this one: `setup`, then the
// five services. Every record comes again, as after lost offsets: threads are as they were then, what was accepted and
// not decided is decided now, and they go on.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { type Cluster, endClusters, type ServerUrls, startCluster } from '../cluster/cluster-process.ts';
import { eventsOf, untilStatus } from '../e2e/conversation.ts';
import { patienceMs } from '../patience.ts';
import { withServices } from '../services/needed-services.ts';
import { restoreCollections, restoreTopics } from './cluster-dump.ts';
import { copyKeys, type Release, releases, unpacked } from './corpus.ts';
import { goesOn, readsAlike, takesTheResultOnce } from './same-installation.ts';

const setup = fileURLToPath(new URL('../../apps/ingress-gateway/dist/main.js', import.meta.url));
type Names = Pick<Cluster, 'prefix' | 'database'>;

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  afterAll(endClusters);

  describe.each(releases('cluster'))('collections and topics of $commit', (release) => {
    const { expected } = release;
    let at: Cluster;
    beforeAll(async () => {
      at = await startCluster(urls, {}, [], async (where) => {
        copyKeys(release.directory, where.directory);
        await restored(urls, release, where);
      });
    });
    afterAll(() => at?.stop());

    it('have every thread as it was then', () => readsAlike(at, expected));

    it('decide what was accepted and not decided, once', async () => {
      const { thread = '', message } = expected.undecided ?? {};
      await untilStatus(at, thread, 'idle');
      const accepted = (await eventsOf(at, thread)).filter(({ type }) => type === 'message_accepted');
      expect(accepted.map(({ message_id: id }) => id)).toEqual([message]);
    });

    it('are whole: every log is a chain', async () => {
      const verified = await runCli(['verify', '--all', '--json', '--url', at.url, '--data', at.directory]);
      expect(verified).toMatchObject({ code: 0 });
      expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, broken: [] });
    });

    it('take the result of a call that was sent before, once', () =>
      takesTheResultOnce(at, expected, `http://127.0.0.1:${Number(new URL(at.url).port) + 1}`));

    it('go on with a conversation', () => goesOn(at, expected));
  });

  it('a database that is not brought along is refused, with the command that does it', async () => {
    const [release] = releases('cluster').toReversed();
    if (release === undefined) throw new Error('the corpus is empty');
    const name = randomBytes(5).toString('hex');
    const where = { prefix: `old-${name}.`, database: `old_${name}` };
    await restored(urls, release, where);
    // As a release leaves it that knows none of them.
    const client = await mongoose.mongo.MongoClient.connect(urls.mongo);
    await client.db(where.database).collection('commits').dropIndexes();
    await client.close();
    for (const service of ['thread-processor', 'ingress-gateway']) {
      const main = fileURLToPath(new URL(`../../apps/${service}/dist/main.js`, import.meta.url));
      const refused = run(main, [], environmentOf(urls, where, release));
      expect({ service, code: refused.status, said: refused.stderr }).toEqual({
        ...{ service, code: 1 },
        said: expect.stringMatching(/INDEX_MISSING[^]*npm run setup/),
      });
    }
  });
});

async function restored(urls: ServerUrls, release: Release, where: Names): Promise<void> {
  const { directory } = release;
  await restoreCollections(urls.mongo, where.database, unpacked(directory, 'collections.json').toString());
  const made = run(setup, ['setup'], environmentOf(urls, where, release));
  expect({ code: made.status, said: made.stderr }).toEqual({ code: 0, said: expect.any(String) });
  await restoreTopics(urls.kafka, where.prefix, JSON.parse(unpacked(directory, 'topics.json').toString()));
}

const environmentOf = ({ kafka, mongo, redis }: ServerUrls, { prefix, database }: Names, { directory }: Release) => ({
  DORMOUSE_KAFKA_BROKERS: kafka,
  DORMOUSE_KAFKA_PREFIX: prefix,
  DORMOUSE_KAFKA_PARTITIONS: '4',
  DORMOUSE_MONGO_URL: mongo,
  DORMOUSE_MONGO_DATABASE: database,
  DORMOUSE_REDIS_URL: redis,
  DORMOUSE_MASTER_KEY: readFileSync(join(directory, 'master-key'), 'utf8').trim(),
  DORMOUSE_HEALTH_PORT: '0',
  DORMOUSE_PORT: '0',
  DORMOUSE_CALLBACK_BASE_URL: 'http://127.0.0.1:1',
});

function run(main: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
  const env = { ...inherited, ...environment };
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', timeout: patienceMs, env });
}
