// `npm run doctor` on real servers, each fault really there: the settings of a process, and what is found with them.
import type Mongoose from 'mongoose';
import { Kafka, logLevel } from 'kafkajs';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { patienceMs } from '../patience.ts';
import { withServices } from '../services/needed-services.ts';

const mongoose = createRequire(new URL('../../libs/adapters/mongo/package.json', import.meta.url))(
  'mongoose',
) as typeof Mongoose;
const main = fileURLToPath(new URL('../../apps/ingress-gateway/dist/main.js', import.meta.url));
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));

/** A command that is waited for lets no heartbeat through. */
const longSessionMs = 300_000;

interface Finding {
  readonly check: string;
  readonly level: string;
  readonly detail: string;
  readonly next: string | null;
}

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  const [prefix, database] = [`doc${randomBytes(5).toString('hex')}.`, `doc${randomBytes(5).toString('hex')}`];

  function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const env = {
      ...inherited,
      DORMOUSE_KAFKA_BROKERS: urls.kafka,
      DORMOUSE_KAFKA_PREFIX: prefix,
      DORMOUSE_KAFKA_PARTITIONS: '4',
      DORMOUSE_MONGO_URL: Object.assign(new URL(urls.mongo), { pathname: `/${database}` }).href,
      DORMOUSE_REDIS_URL: urls.redis,
      DORMOUSE_MASTER_KEY: 'a'.repeat(64),
      ...more,
    };
    return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', timeout: patienceMs, env });
  }

  function doctor(more: Readonly<Record<string, string>> = {}) {
    const { status, stdout } = run(['doctor', '--json'], more);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Finding);
    const found = (check: string): Finding | undefined => findings.find((finding) => finding.check === check);
    return { code: status, findings, found };
  }

  async function asAdmin(work: (kafka: Kafka) => Promise<void>): Promise<void> {
    await work(new Kafka({ brokers: urls.kafka.split(','), logLevel: logLevel.NOTHING }));
  }

  beforeAll(() => {
    expect(run(['setup']).status).toBe(0);
  });

  it('an installation in order has no failure', () => {
    const { code, findings, found } = doctor();
    expect(findings.map(({ check }) => check)).toEqual([
      ...['keys', 'topics'],
      ...['inputs', 'dispatches', 'notices'].map((topic) => `lag of ${topic}`),
      ...['database', 'clock', 'redis', 'disk'],
    ]);
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([]);
    expect(found('topics')?.detail).toContain('4 partitions');
    expect(code).toBe(findings.every(({ level }) => level === 'ok') ? 0 : 1);
  });

  it('Redis that is away is a warning, Kafka or MongoDB that is away a failure; the others are looked at', () => {
    expect(doctor({ DORMOUSE_REDIS_URL: 'redis://127.0.0.1:9' }).found('redis')).toMatchObject({ level: 'warn' });
    const { code, found } = doctor({ DORMOUSE_KAFKA_BROKERS: '127.0.0.1:9' });
    expect([code, found('topics')?.level, found('database')?.level]).toEqual([2, 'fail', 'ok']);
    const without = doctor({ DORMOUSE_MONGO_URL: 'mongodb://127.0.0.1:9/none' });
    expect([without.code, without.found('topics')?.level]).toEqual([2, 'ok']);
    expect(without.found('database')?.detail).toContain('DORMOUSE_MONGO_URL');
  });

  it('records that no process consumes are a failure; while one does, their age decides', async () => {
    const twoMinutesAgo = Date.now() - 120_000;
    const group = `${prefix}notifier`;
    await asAdmin(async (kafka) => {
      const producer = kafka.producer();
      await producer.connect();
      const record = (partition: number, timestamp: number) => ({
        partition,
        value: '{}',
        timestamp: String(timestamp),
      });
      const messages = [record(1, twoMinutesAgo), record(1, Date.now()), record(3, Date.now())];
      await producer.send({ topic: `${prefix}notices`, messages });
      await producer.disconnect();
    });
    const alone = doctor();
    expect(alone.found('lag of inputs')).toMatchObject({ level: 'ok' });
    expect([alone.code, alone.found('lag of notices')]).toEqual([
      2,
      expect.objectContaining({ level: 'fail', next: 'Start a notifier.' }),
    ]);
    expect(alone.found('lag of notices')?.detail).toMatch(/^3 records wait, the oldest for 1[2-9]\d s; no process in/);
    await asAdmin(async (kafka) => {
      const consumer = kafka.consumer({ groupId: group, sessionTimeout: longSessionMs });
      await consumer.connect();
      const joined = new Promise<void>((resolve) => void consumer.on('consumer.group_join', () => resolve()));
      await consumer.subscribe({ topic: `${prefix}notices`, fromBeginning: true });
      await consumer.run({ autoCommit: false, eachMessage: async () => {} });
      await joined;
      const held = doctor();
      expect(held.found('lag of notices')).toMatchObject({
        level: 'warn',
        next: expect.stringContaining('Start more of notifier, at most one per partition'),
      });
      await consumer.commitOffsets([{ topic: `${prefix}notices`, partition: 1, offset: '1' }]);
      expect(doctor().found('lag of notices')).toMatchObject({
        level: 'ok',
        detail: expect.stringMatching(/^2 records/),
      });
      await consumer.commitOffsets([1, 3].map((partition) => ({ topic: `${prefix}notices`, partition, offset: '2' })));
      await consumer.disconnect();
    });
    expect(doctor().found('lag of notices')).toMatchObject({
      level: 'ok',
      detail: expect.stringMatching(/^0 records/),
    });
  });

  it('a missing index, another database and a missing topic are failures, with the command', async () => {
    const connection = await mongoose.createConnection(urls.mongo).asPromise();
    await connection.getClient().db(database).collection('commits').dropIndex('decided_in_shard');
    await connection.close();
    const { code, found } = doctor();
    expect([code, found('database')?.detail]).toEqual([2, expect.stringContaining('commits.decided_in_shard')]);
    expect(run(['setup']).status).toBe(0);
    expect(doctor().found('database')?.level).toBe('ok');
    const elsewhere = Object.assign(new URL(urls.mongo), { pathname: `/${database}_other` }).href;
    expect(doctor({ DORMOUSE_MONGO_URL: elsewhere }).found('database')?.detail).toContain('belong to the installation');
    await asAdmin(async (kafka) => {
      const admin = kafka.admin();
      await admin.connect();
      await admin.deleteTopics({ topics: [`${prefix}notices`] });
      await expect.poll(() => admin.listTopics()).not.toContain(`${prefix}notices`);
      await admin.disconnect();
    });
    expect(doctor().found('topics')?.detail).toContain(`These topics are missing: ${prefix}notices`);
  });

  it('a clock that is a minute off is a warning, with the command that sets it', () => {
    const ahead = new URL('../failover/clock-ahead.ts', import.meta.url).href;
    const { found } = doctor({ NODE_OPTIONS: `--import ${ahead}` });
    expect(found('clock')).toMatchObject({
      level: 'warn',
      detail: expect.stringMatching(/^its clock differs by (59|6\d) s from this one$/),
      next: expect.stringContaining('timedatectl set-ntp true'),
    });
    expect(doctor().found('clock')).toMatchObject({ level: 'ok', next: null });
  });
});
