// The collections and topics of a cluster as texts, and back into a database and topics of other names.
//
// Invariants:
//   D1. Documents keep their types (extended JSON), records their partition, order, key, headers and bytes. A restored
//       record has the time of its restoration: a topic would delete an old one.
//   D2. The restored database belongs to no topics yet, as docs/how-to/move-to-other-topics.md says: `setup` gives it
//       those that it makes.
import { Kafka, logLevel } from 'kafkajs';
import mongoose from 'mongoose';
import { randomBytes } from 'node:crypto';

const { MongoClient, BSON } = mongoose.mongo;
const { EJSON } = BSON;

export type Collections = Readonly<Record<string, readonly object[]>>;

export interface DumpedRecord {
  /** Without the prefix. */
  readonly topic: string;
  readonly partition: number;
  /** In base64, as `value` and each header. */
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

export const topics = ['inputs', 'dispatches', 'notices'] as const;

const kafkaAt = (brokers: string): Kafka =>
  new Kafka({ brokers: brokers.split(','), clientId: 'dump', logLevel: logLevel.NOTHING });

export async function dumpCollections(url: string, database: string): Promise<string> {
  const client = await MongoClient.connect(url);
  try {
    const all: Record<string, object[]> = {};
    for (const { name } of await client.db(database).listCollections().toArray())
      all[name] = await client.db(database).collection(name).find({}, { promoteValues: false }).toArray();
    return EJSON.stringify(all, { relaxed: false });
  } finally {
    await client.close();
  }
}

/** (D1, D2) */
export async function restoreCollections(url: string, database: string, text: string): Promise<void> {
  const client = await MongoClient.connect(url);
  try {
    const db = client.db(database);
    for (const [name, documents] of Object.entries(EJSON.parse(text, { relaxed: false }) as Collections))
      if (documents.length > 0) await db.collection(name).insertMany([...documents]);
    await db.collection('installation').updateMany({}, { $unset: { bus: 1 } });
  } finally {
    await client.close();
  }
}

/** Every record that is there now. */
export async function dumpTopics(brokers: string, prefix: string): Promise<readonly DumpedRecord[]> {
  const kafka = kafkaAt(brokers);
  const admin = kafka.admin();
  await admin.connect();
  const ends = new Map<string, number>();
  for (const topic of topics)
    for (const { partition, high, low } of await admin.fetchTopicOffsets(prefix + topic))
      if (Number(high) > Number(low)) ends.set(`${topic} ${partition}`, Number(high));
  const groupId = `dump-${randomBytes(6).toString('hex')}`;
  const consumer = kafka.consumer({ groupId });
  const records: DumpedRecord[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  if (ends.size === 0) resolve();
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: topics.map((topic) => prefix + topic), fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ topic: full, partition, message: { key, value, headers = {}, offset } }) => {
        const topic = full.slice(prefix.length);
        const end = ends.get(`${topic} ${partition}`);
        if (end === undefined) return;
        records.push({
          ...{ topic, partition, key: key?.toString('base64') ?? null, value: value?.toString('base64') ?? null },
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, header]) => [name, Buffer.from(String(header)).toString('base64')]),
          ),
        });
        if (Number(offset) + 1 >= end) ends.delete(`${topic} ${partition}`);
        if (ends.size === 0) resolve();
      },
    });
    await promise;
  } finally {
    await consumer.disconnect();
    await admin.deleteGroups([groupId]).catch(() => {}); // it is forgotten by itself, later
    await admin.disconnect();
  }
  return records;
}

/** (D1) */
export async function restoreTopics(brokers: string, prefix: string, records: readonly DumpedRecord[]): Promise<void> {
  const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text, 'base64'));
  const producer = kafkaAt(brokers).producer();
  await producer.connect();
  try {
    for (const { topic, partition, key, value, headers } of records)
      await producer.send({
        topic: prefix + topic,
        acks: -1,
        messages: [
          {
            ...{ partition, key: bytes(key), value: bytes(value) },
            headers: Object.fromEntries(
              Object.entries(headers).map(([name, text]) => [name, Buffer.from(text, 'base64')]),
            ),
          },
        ],
      });
  } finally {
    await producer.disconnect();
  }
}
