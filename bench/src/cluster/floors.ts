// The lower bounds of a turn's cost: a hop over Kafka, an insert with majority, an exchange over HTTP; each measured
// alone, one at a time, with the clients that the services use.
import { randomBytes } from 'node:crypto';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import mongoose from 'mongoose';
import { connect, type Socket } from 'node:net';
import { Pool } from 'undici';
import { percentile } from '../statistics.ts';
import type { ClusterServers } from './cluster-servers.ts';

export interface Floors {
  /** Median milliseconds. */
  readonly kafkaHopMs: number;
  readonly mongoInsertMs: number;
  readonly httpMs: number;
}

const samples = 300;
const warmup = 60;

/** Hops, inserts and exchanges that one after the other make one one-tool turn, and their sum. */
export const turnConsistsOf = { kafkaHops: 3, mongoInserts: 4, https: 3 } as const;

export const sumOfFloors = ({ kafkaHopMs, mongoInsertMs, httpMs }: Floors): number =>
  turnConsistsOf.kafkaHops * kafkaHopMs + turnConsistsOf.mongoInserts * mongoInsertMs + turnConsistsOf.https * httpMs;

export async function measureFloors(servers: ClusterServers, tools: string): Promise<Floors> {
  return {
    kafkaHopMs: await kafkaHop(servers.kafka),
    mongoInsertMs: await mongoInsert(servers.mongo),
    httpMs: await httpExchange(tools),
  };
}

async function medianOf(once: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let sample = 0; sample < warmup + samples; sample++) {
    const from = performance.now();
    await once();
    if (sample >= warmup) times.push(performance.now() - from);
  }
  return percentile(times, 0.5);
}

/** From `send` with acks=all to the record's delivery to a waiting consumer. */
async function kafkaHop(brokers: string): Promise<number> {
  const topic = `floor-${randomBytes(4).toString('hex')}`;
  const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING, socketFactory: noDelay });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
  await admin.disconnect();
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 200 });
  let arrived = (): void => {};
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({ autoCommit: false, eachBatch: async () => arrived() });
  try {
    return await medianOf(async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      arrived = resolve;
      await producer.send({ topic, acks: -1, messages: [{ key: 'k', value: 'v'.repeat(300) }] });
      await promise;
    });
  } finally {
    await consumer.disconnect();
    await producer.disconnect();
  }
}

function noDelay({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }): Socket {
  return connect({ host, port }, onConnect).setNoDelay(true);
}

async function mongoInsert(url: string): Promise<number> {
  const database = Object.assign(new URL(url), { pathname: `/floor_${randomBytes(4).toString('hex')}` }).href;
  const connection = await mongoose.createConnection(database).asPromise();
  const floor = connection.collection<{ _id: string; body: string }>('floor', {
    writeConcern: { w: 'majority', j: true },
  });
  let next = 0;
  try {
    return await medianOf(async () => {
      next += 1;
      await floor.insertOne({ _id: `k${next}`, body: 'b'.repeat(1_500) });
    });
  } finally {
    await connection.dropDatabase();
    await connection.close();
  }
}

/** A POST that is acknowledged with an empty body, over a warm pool. */
async function httpExchange(tools: string): Promise<number> {
  const pool = new Pool(tools, { connections: 1 });
  const headers = { 'content-type': 'application/json' };
  try {
    return await medianOf(async () => {
      const answer = await pool.request({ method: 'POST', path: '/close_thread', headers, body: '{"thread_id":"x"}' });
      await answer.body.dump();
    });
  } finally {
    await pool.close();
  }
}
