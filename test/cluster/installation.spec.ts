// One installation, one prefix, one database: the refusals of `setup` and of every start when two meet. On real
// servers, with the built programs.
import type Mongoose from 'mongoose';
import { Kafka, logLevel } from 'kafkajs';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { patienceMs } from '../patience.ts';
import { withServices } from '../services/needed-services.ts';

const mongoose = createRequire(new URL('../../libs/adapters/mongo/package.json', import.meta.url))(
  'mongoose',
) as typeof Mongoose;

const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  const fresh = (): string => `inst${randomBytes(5).toString('hex')}`;

  /** Runs one program of the cluster until it ends by itself, as it does when it refuses. */
  function run(app: string, args: readonly string[], prefix: string, database: string, key = 'a'.repeat(64)) {
    const mongo = new URL(urls.mongo);
    mongo.pathname = `/${database}`;
    const main = fileURLToPath(new URL(`../../apps/${app}/dist/main.js`, import.meta.url));
    const ran = spawnSync(process.execPath, [main, ...args], {
      encoding: 'utf8',
      timeout: patienceMs,
      env: {
        ...inherited,
        DORMOUSE_KAFKA_BROKERS: urls.kafka,
        DORMOUSE_KAFKA_PREFIX: prefix,
        DORMOUSE_KAFKA_PARTITIONS: '4',
        DORMOUSE_MONGO_URL: mongo.href,
        DORMOUSE_REDIS_URL: urls.redis,
        DORMOUSE_MASTER_KEY: key,
        DORMOUSE_PORT: '0',
        DORMOUSE_HEALTH_PORT: '0',
      },
    });
    return { code: ran.status, said: ran.stdout + ran.stderr };
  }
  const setup = (prefix: string, database: string, key?: string) =>
    run('ingress-gateway', ['setup'], prefix, database, key);
  const start = (prefix: string, database: string, key?: string) => run('notifier', [], prefix, database, key);
  const refused = (words: string) => ({ code: 1, said: expect.stringContaining(words) });

  async function change(database: string, set: Readonly<Record<string, unknown>>): Promise<void> {
    const connection = await mongoose.createConnection(urls.mongo).asPromise();
    await connection.getClient().db(database).collection('installation').updateOne({}, set);
    await connection.close();
  }

  it('setup may be repeated', () => {
    const [prefix, database] = [`${fresh()}.`, fresh()];
    for (let times = 0; times < 2; times += 1) expect(setup(prefix, database)).toMatchObject({ code: 0 });
  });

  it('a second installation on the prefix of the first is refused, at setup and at the start', () => {
    const [prefix, first, second] = [`${fresh()}.`, fresh(), fresh()];
    expect(setup(prefix, first)).toMatchObject({ code: 0 });
    expect(setup(prefix, second)).toEqual(refused('Choose another DORMOUSE_KAFKA_PREFIX'));
    expect(start(prefix, second)).toEqual(refused('TOPICS_UNFIT: The topics under'));
    expect(setup(`${fresh()}.`, second)).toMatchObject({ code: 0 });
    expect(start(prefix, second)).toEqual(refused(`The topics under ${prefix} belong to the installation`));
  });

  it('a second prefix on one database is refused, until the database is told to forget the first', async () => {
    const [one, two, database] = [`${fresh()}.`, `${fresh()}.`, fresh()];
    expect(setup(one, database)).toMatchObject({ code: 0 });
    expect(setup(two, database)).toEqual(refused(`This database belongs to the topics under ${one}`));
    await change(database, { $unset: { bus: 1 } });
    expect(setup(two, database)).toMatchObject({ code: 0 });
    expect(start(one, database)).toEqual(refused(`This database belongs to the topics under ${two}`));
  });

  it('the same prefix on another Kafka is refused', async () => {
    const [prefix, database] = [`${fresh()}.`, fresh()];
    expect(setup(prefix, database)).toMatchObject({ code: 0 });
    await change(database, { $set: { 'bus.cluster': 'the-one-before' } });
    expect(start(prefix, database)).toEqual(refused('of the Kafka cluster the-one-before'));
  });

  it('partitions that were changed by hand, of all topics alike, are refused', async () => {
    const [prefix, database] = [`${fresh()}.`, fresh()];
    expect(setup(prefix, database)).toMatchObject({ code: 0 });
    const admin = new Kafka({ brokers: urls.kafka.split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const topicPartitions = ['inputs', 'dispatches', 'notices'].map((name) => ({ topic: prefix + name, count: 6 }));
    await admin.createPartitions({ topicPartitions });
    await admin.disconnect();
    expect(start(prefix, database)).toEqual(refused('have 6 partitions, and were set up with 4'));
    expect(setup(prefix, database)).toEqual(refused('A count is never changed'));
  });

  it('another master key is refused until the database is told to forget the first', async () => {
    const [prefix, database, other] = [`${fresh()}.`, fresh(), 'b'.repeat(64)];
    expect(setup(prefix, database)).toMatchObject({ code: 0 });
    expect(start(prefix, database, other)).toEqual(refused('MASTER_KEY_WRONG: DORMOUSE_MASTER_KEY is not the key of'));
    await change(database, { $unset: { masterKey: 1 } });
    expect(setup(prefix, database, other)).toMatchObject({ code: 0 });
    expect(start(prefix, database)).toEqual(refused('MASTER_KEY_WRONG'));
  });

  it('what was never set up is refused, with the command', () => {
    expect(start(`${fresh()}.`, fresh())).toEqual(refused('npm run setup'));
  });
});
