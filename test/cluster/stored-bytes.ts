// Everything that the servers of a cluster have of an installation, as text in which a search finds any bytes: each
// document, each record, each command.
import { Redis } from 'ioredis';
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import type Mongoose from 'mongoose';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import type { Cluster, ServerUrls } from './cluster-process.ts';

// The driver that the adapter uses.
const mongoose = createRequire(new URL('../../libs/adapters/mongo/package.json', import.meta.url))(
  'mongoose',
) as typeof Mongoose;

type Named = Pick<Cluster, 'database' | 'prefix'>;

export interface StoredDocument {
  readonly collection: string;
  /** Its bytes: what is in a binary field is seen too. */
  readonly text: string;
}

/** Every document of every collection. */
export async function everyDocument(urls: ServerUrls, { database }: Named): Promise<readonly StoredDocument[]> {
  const connection = await mongoose.createConnection(urls.mongo).asPromise();
  const stored = connection.getClient().db(database);
  const all: StoredDocument[] = [];
  for (const { name } of await stored.listCollections().toArray())
    for (const document of await stored.collection(name).find().toArray())
      all.push({ collection: name, text: Buffer.from(mongoose.mongo.BSON.serialize(document)).toString('latin1') });
  await connection.close();
  return all;
}

export async function documentCount(urls: ServerUrls, { database }: Named, collection: string): Promise<number> {
  const connection = await mongoose.createConnection(urls.mongo).asPromise();
  const count = await connection.getClient().db(database).collection(collection).countDocuments();
  await connection.close();
  return count;
}

export interface StoredRecord {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  /** `name=value` of each. */
  readonly headers: string;
}

/** Every record of every topic of the installation. */
export async function everyRecord(urls: ServerUrls, { prefix }: Named): Promise<readonly StoredRecord[]> {
  const kafka = new Kafka({ brokers: urls.kafka.split(','), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  let expected = 0;
  for (const topic of topics)
    for (const { low, high } of await admin.fetchTopicOffsets(topic)) expected += Number(high) - Number(low);
  await admin.disconnect();
  const consumer = kafka.consumer({ groupId: `${prefix}reader-${randomBytes(5).toString('hex')}` });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  const records: StoredRecord[] = [];
  await consumer.run({
    eachMessage: async ({ topic, message: { key, value, headers } }) => {
      const words = Object.entries(headers ?? {}).map(([name, header]) => `${name}=${String(header)}`);
      const text = (bytes: Buffer | null): string => bytes?.toString('latin1') ?? '';
      records.push({ topic, key: text(key), value: text(value), headers: words.join(' ') });
    },
  });
  await expect.poll(() => records.length).toBeGreaterThanOrEqual(expected);
  await consumer.disconnect();
  return records;
}

export const textOfRecord = ({ topic, key, value, headers }: StoredRecord): string =>
  [topic, key, value, headers].join(' ');

/** How long the topics of the installation keep records, as the brokers say. */
export async function topicSettings(urls: ServerUrls, { prefix }: Named) {
  const admin = new Kafka({ brokers: urls.kafka.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = ['inputs', 'dispatches', 'notices'].map((name) => prefix + name);
  const configNames = ['retention.ms', 'cleanup.policy'];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: ConfigResourceTypes.TOPIC, name, configNames })),
  });
  await admin.disconnect();
  return resources.map(({ resourceName: topic, configEntries }) => ({
    topic,
    settings: Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
  }));
}

export interface RedisWatch {
  readonly commands: readonly string[];
  stop(): void;
}

/**
 * Every command that Redis receives from now on, published messages included. By a socket of its own: ioredis throws
 * when the first command comes in one packet with the answer to MONITOR.
 */
export async function watchRedis(urls: ServerUrls): Promise<RedisWatch> {
  const { hostname, port } = new URL(urls.redis);
  const socket = connect(Number(port), hostname);
  const commands: string[] = [];
  const watching = Promise.withResolvers<void>();
  socket.on('error', watching.reject);
  createInterface({ input: socket }).on('line', (line) => {
    if (line === '+OK') watching.resolve();
    else
      commands.push(
        line
          .slice(line.indexOf('"') + 1, -1)
          .replaceAll('" "', ' ')
          .replaceAll('\\"', '"'),
      );
  });
  socket.write('MONITOR\r\n');
  await watching.promise;
  return { commands, stop: () => void socket.destroy() };
}

/** Every value of every key that begins with the prefix. */
export async function everyRedisValue(urls: ServerUrls, { prefix }: Named): Promise<string> {
  const client = new Redis(urls.redis);
  let all = '';
  for await (const keys of client.scanStream({ match: `${prefix}*` }) as AsyncIterable<readonly string[]>)
    for (const key of keys) all += `${key} ${await valueOf(client, key)}\n`;
  client.disconnect();
  return all;
}

async function valueOf(client: Redis, key: string): Promise<string> {
  switch (await client.type(key)) {
    case 'list':
      return (await client.lrange(key, 0, -1)).join(' ');
    case 'hash':
      return JSON.stringify(await client.hgetall(key));
    case 'set':
      return (await client.smembers(key)).join(' ');
    case 'string':
      return (await client.get(key)) ?? '';
    default:
      return '';
  }
}
