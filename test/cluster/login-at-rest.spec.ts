// What the servers of a cluster store of a login: never its URL in the clear, in no document, no record, no command of
// Redis and no line of a log; and nothing at all after the result.
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import type Mongoose from 'mongoose';
import { createRequire } from 'node:module';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually, openThread, scriptedAgent, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { openStream } from '../e2e/event-stream.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

// The driver that the adapter uses.
const mongoose = createRequire(new URL('../../libs/adapters/mongo/package.json', import.meta.url))(
  'mongoose',
) as typeof Mongoose;

const secret = 'very-secret-state-at-rest';
const authUrl = `https://login.example/authorize?client=a&state=${secret}`;

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  afterAll(endClusters);

  /** Every document of every collection, as bytes: what is in a binary field is seen too. */
  async function everyDocument({ database }: Cluster): Promise<string> {
    const connection = await mongoose.createConnection(urls.mongo).asPromise();
    const stored = connection.getClient().db(database);
    let all = '';
    for (const { name } of await stored.listCollections().toArray())
      for (const document of await stored.collection(name).find().toArray())
        all += `${name} ${Buffer.from(mongoose.mongo.BSON.serialize(document)).toString('latin1')}\n`;
    await connection.close();
    return all;
  }

  async function keptLogins({ database }: Cluster): Promise<number> {
    const connection = await mongoose.createConnection(urls.mongo).asPromise();
    const count = await connection.getClient().db(database).collection('sealed').countDocuments();
    await connection.close();
    return count;
  }

  /** Every record of every topic of the installation, with key and headers. */
  async function everyRecord({ prefix }: Cluster): Promise<string> {
    const kafka = new Kafka({ brokers: urls.kafka.split(','), logLevel: logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    let expected = 0;
    for (const topic of topics)
      for (const { low, high } of await admin.fetchTopicOffsets(topic)) expected += Number(high) - Number(low);
    await admin.disconnect();
    const consumer = kafka.consumer({ groupId: `${prefix}reader-${expected}` });
    await consumer.connect();
    await consumer.subscribe({ topics, fromBeginning: true });
    const records: string[] = [];
    await consumer.run({
      eachMessage: async ({ topic, message: { key, value, headers } }) => {
        const words = Object.entries(headers ?? {}).map(([name, header]) => `${name}=${String(header)}`);
        records.push([topic, key?.toString('latin1'), value?.toString('latin1'), ...words].join(' '));
      },
    });
    await expect.poll(() => records.length).toBeGreaterThanOrEqual(expected);
    await consumer.disconnect();
    return records.join('\n');
  }

  /** Every command that Redis receives from now on, published messages included. */
  async function watchRedis(): Promise<{ readonly commands: string[]; stop(): void }> {
    const client = new Redis(urls.redis);
    const monitor = await client.monitor();
    const commands: string[] = [];
    monitor.on('monitor', (_time: string, args: readonly string[]) => commands.push(args.join(' ')));
    return {
      commands,
      stop: () => {
        monitor.disconnect();
        client.disconnect();
      },
    };
  }

  describe('a login', () => {
    it('R88 is in MongoDB, Kafka and Redis without its URL in the clear, and gone after the result', async () => {
      const redis = await watchRedis();
      const at = await startCluster(urls, { DORMOUSE_LOG_LEVEL: 'trace' });
      const tools = await driveToolServer(at);
      const script = [[toolCall('work')], [{ text: 'done' }]];
      const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
      const stream = await openStream(at, thread);
      await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
      const call = await tools.invocation(0);
      await tools.send(call, { type: 'oauth', auth_url: authUrl });
      const shown = await stream.until(({ event }) => event === 'oauth');
      expect(shown.at(-1)?.data).toMatchObject({ auth_url: authUrl });
      await untilEvent(at, thread, 'oauth_requested');
      expect(await keptLogins(at)).toBe(1);
      const places = async () => [await everyDocument(at), await everyRecord(at), redis.commands.join('\n')];
      for (const place of await places()) {
        expect(place).toContain(thread); // the search works
        expect(place).not.toContain(secret);
      }
      await tools.send(call, { type: 'tool_result', text: 'logged in' });
      await untilStatus(at, thread, 'idle');
      await eventually(async () => (await keptLogins(at)) === 0);
      for (const place of await places()) expect(place).not.toContain(secret);
      stream.close();
      redis.stop();
      await tools.close();
      expect(at.output()).toContain('"level"');
      expect(at.output()).not.toContain(secret);
      await at.stop();
    });
  });
});
