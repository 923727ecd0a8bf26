// `npm run bench:bytes`: what turns, sleeping threads and open calls take in each store. Counts, no times: a busy
// machine changes none of them.
//
// Invariants:
//   B43. Everything is a difference between two states of one installation, divided by what was done in between.
//   B44. Bytes of Kafka are those of its segment files; of MongoDB the BSON of the documents, before the compression of
//        the server; of SQLite pages in use after a clean stop; of Redis what it says itself.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { openRig, type Rig } from '../src/bench-rig.ts';
import { type RunningCluster, startCluster } from '../src/cluster/cluster-dormouse.ts';
import { type ClusterServers, startServers } from '../src/cluster/cluster-servers.ts';
import { oneToolTurn } from '../src/contestant.ts';
import { startDormouse } from '../src/dormouse.ts';
import type { Target } from '../src/driver-job.ts';
import type { StoredBytes } from './measured-bytes.ts';

const threads = 20;
const turnsEach = 20;
const sleepers = 1_000;
const atOnce = 32;
const settleMs = 3_000;
const hourSeconds = 3_600;
const partitions = 12;
const result = join(import.meta.dirname, '..', 'results', 'bytes.json');
const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function ofCluster(rig: Rig, servers: ClusterServers): Promise<Omit<StoredBytes, 'sqlite' | 'at'>> {
  const connectionsBefore = connectionsTo(servers);
  const options = { tools: rig.tools, directory: rig.room('cluster'), servers, partitions };
  const cluster = await startCluster({ ...options, sessionTimeoutMs: 30_000 });
  const stores = await openStores(rig, servers, cluster);
  try {
    const targets = (await cluster.openThreads(threads)).map((target) => ({ ...target, turnsMax: turnsEach }));
    await rig.drive({ targets, warmupSeconds: 0, seconds: hourSeconds });
    await sleep(settleMs);
    const warm = await stores.state();
    await rig.drive({ targets, warmupSeconds: 0, seconds: hourSeconds });
    await sleep(settleMs);
    const after = await stores.state();
    const connections = difference(connectionsBefore, connectionsTo(servers));
    const turns = threads * turnsEach;
    say(`${turns} turns counted`);
    await putToSleep(rig, sleeperTarget(targets[0]), sleepers);
    await sleep(settleMs);
    const asleep = await stores.state();
    return {
      turns,
      sleepers,
      kafkaBytesPerTurn: perTurn(warm.kafka, after.kafka, turns),
      kafkaBytesPerSleeper: perTurn(after.kafka, asleep.kafka, sleepers),
      mongoBytesPerTurn: perTurn(warm.mongo.bytes, after.mongo.bytes, turns),
      mongoDocumentsPerTurn: perTurn(warm.mongo.documents, after.mongo.documents, turns),
      mongoBytesPerSleeper: perTurn(after.mongo.bytes, asleep.mongo.bytes, sleepers),
      mongoDocumentsPerSleeper: perTurn(after.mongo.documents, asleep.mongo.documents, sleepers),
      indexKeysPerCommit:
        (after.mongo.commitKeys - warm.mongo.commitKeys) / (turns * commitsPerTurn(warm, after, turns)),
      redisBytesPerTurn: (after.redisBytes - warm.redisBytes) / turns,
      redisBytesPerOpenCall: (asleep.redisBytes - after.redisBytes) / sleepers,
      redisKeysPerOpenCall: (asleep.redisKeys - after.redisKeys) / sleepers,
      connections,
    };
  } finally {
    await stores.close();
    await cluster.stop();
  }
}

interface State {
  readonly kafka: ReadonlyMap<string, number>;
  readonly mongo: {
    readonly bytes: ReadonlyMap<string, number>;
    readonly documents: ReadonlyMap<string, number>;
    /** Entries of all indexes of `commits`. */
    readonly commitKeys: number;
  };
  readonly redisBytes: number;
  readonly redisKeys: number;
}

const commitsPerTurn = (before: State, after: State, turns: number): number =>
  ((after.mongo.documents.get('commits') ?? 0) - (before.mongo.documents.get('commits') ?? 0)) / turns;

async function openStores(rig: Rig, servers: ClusterServers, { database }: RunningCluster) {
  const connection = await mongoose.createConnection(servers.mongo, { dbName: database }).asPromise();
  const redis = new Redis(servers.redis);
  const prefix = `${database.replace('_', '-')}.`;
  return {
    state: async (): Promise<State> => ({
      kafka: kafkaBytes(rig.directory, prefix),
      mongo: await mongoState(connection),
      redisBytes: await redisBytes(redis),
      redisKeys: await redis.dbsize(),
    }),
    close: async () => {
      await connection.close();
      redis.disconnect();
    },
  };
}

/** Bytes of the segments of each topic. (B44) */
function kafkaBytes(directory: string, prefix: string): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const partition = entry.parentPath.split('/').at(-1) ?? '';
    if (!entry.name.endsWith('.log') || !partition.startsWith(prefix)) continue;
    const topic = partition.slice(prefix.length).replace(/-\d+$/, '');
    bytes.set(topic, (bytes.get(topic) ?? 0) + statSync(join(entry.parentPath, entry.name)).size);
  }
  return bytes;
}

async function mongoState({ db }: mongoose.Connection): Promise<State['mongo']> {
  const [bytes, documents] = [new Map<string, number>(), new Map<string, number>()];
  let commitKeys = 0;
  for (const { collectionName } of (await db?.collections()) ?? []) {
    const collection = db!.collection(collectionName);
    const indexes = collectionName === 'commits' ? await collection.indexes() : [];
    for await (const document of collection.find()) {
      bytes.set(collectionName, (bytes.get(collectionName) ?? 0) + mongoose.mongo.BSON.calculateObjectSize(document));
      documents.set(collectionName, (documents.get(collectionName) ?? 0) + 1);
      for (const { key } of indexes) commitKeys += entriesOf(document, Object.keys(key as object));
    }
  }
  return { bytes, documents, commitKeys };
}

/** An index has an entry for each element of an array. */
const entriesOf = (document: Readonly<Record<string, unknown>>, fields: readonly string[]): number =>
  fields.reduce((entries, field) => {
    const value = document[field];
    return entries * (Array.isArray(value) ? value.length : 1);
  }, 1);

async function redisBytes(redis: Redis): Promise<number> {
  let [cursor, bytes] = ['0', 0];
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1_000);
    for (const key of keys) bytes += (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
    cursor = next;
  } while (cursor !== '0');
  return bytes;
}

const perTurn = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>, turns: number) =>
  Object.fromEntries(
    [...after]
      .map(([name, value]) => [name, (value - (before.get(name) ?? 0)) / turns] as const)
      .filter(([, value]) => value !== 0),
  );

type Connections = Readonly<Record<'kafka' | 'mongo' | 'redis', number>>;

/** Established connections of this machine to each server. */
function connectionsTo({ kafka, mongo, redis }: ClusterServers): Connections {
  const established = '01';
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  const remote = rows.map((row) => row.trim().split(/\s+/)).filter((cells) => cells[3] === established);
  const portOf = (url: string): number => Number(/:(\d+)(?:\/|\?|$)/.exec(url.replace(/^[a-z]+:\/\//, ''))?.[1]);
  const to = (url: string): number =>
    remote.filter((cells) => Number.parseInt(cells[2]?.split(':')[1] ?? '', 16) === portOf(url)).length;
  return { kafka: to(kafka), mongo: to(mongo), redis: to(redis) };
}

const difference = (before: Connections, after: Connections): Connections => ({
  kafka: after.kafka - before.kafka,
  mongo: after.mongo - before.mongo,
  redis: after.redis - before.redis,
});

/** A thread of this agent calls a tool that never answers. */
function sleeperTarget(turn: Target | undefined): { readonly url: string; readonly headers: Record<string, string> } {
  if (turn === undefined) throw new Error('no thread was opened');
  const { prefer: _wait, ...headers } = turn.headers as Record<string, string>;
  return { url: new URL(turn.url).origin, headers };
}

async function putToSleep(rig: Rig, { url, headers }: ReturnType<typeof sleeperTarget>, count: number): Promise<void> {
  const heldBefore = (await rig.toolCounts()).held;
  const script = [[{ tool_call: { name: 'hold', arguments: { text: 'for ever' } } }]];
  const agent = { name: 'sleeper', model: { provider: 'scripted', parameters: { script } }, tool_servers: ['bench'] };
  const answer = await fetch(`${url}/v1/agents`, { method: 'POST', headers, body: JSON.stringify(agent) });
  if (!answer.ok) throw new Error(`the agent: ${answer.status} ${await answer.text()}`);
  const body = JSON.stringify({ agent: 'sleeper', message: { text: 'Hold this: "{token}"' } });
  const lanes = Array.from({ length: atOnce }, (_, lane) => ({
    ...{ url: `${url}/v1/threads`, headers, body, status: 201, expect: '"id"' },
    turnsMax: Math.floor(count / atOnce) + (lane < count % atOnce ? 1 : 0),
  }));
  await rig.drive({ targets: lanes, warmupSeconds: 0, seconds: hourSeconds });
  while ((await rig.toolCounts()).held - heldBefore < count) await sleep(100);
}

async function ofStandalone(rig: Rig): Promise<StoredBytes['sqlite']> {
  const directory = rig.room('standalone');
  /** Bytes in use after this was done and the process has stopped. */
  async function after(work: (running: Awaited<ReturnType<typeof startDormouse>>) => Promise<void>): Promise<number> {
    const running = await startDormouse({ tools: rig.tools, directory });
    await work(running);
    await sleep(settleMs);
    await running.stop();
    return bytesInUse(join(running.dataDirectory, 'dormouse.db'));
  }
  let targets: readonly Target[] = [];
  const warm = await after(async (running) => {
    const ids = await running.createThreads('worker', threads);
    targets = ids.map((id) => ({ ...running.turnOf(id, oneToolTurn), turnsMax: turnsEach }));
    await rig.drive({ targets, warmupSeconds: 0, seconds: hourSeconds });
  });
  const worked = await after(async (running) => {
    const moved = targets.map((target) => ({ ...target, url: running.url + new URL(target.url).pathname }));
    await rig.drive({ targets: moved, warmupSeconds: 0, seconds: hourSeconds });
  });
  const asleep = await after(async (running) => {
    const heldBefore = (await rig.toolCounts()).held;
    const body = JSON.stringify({ agent: 'sleeper', message: { text: 'Hold this: "{token}"' } });
    const lanes = Array.from({ length: atOnce }, (_, lane) => ({
      ...{ url: `${running.url}/v1/threads`, headers: running.headers, body, status: 201, expect: '"id"' },
      turnsMax: Math.floor(sleepers / atOnce) + (lane < sleepers % atOnce ? 1 : 0),
    }));
    await rig.drive({ targets: lanes, warmupSeconds: 0, seconds: hourSeconds });
    while ((await rig.toolCounts()).held - heldBefore < sleepers) await sleep(100);
  });
  return {
    bytesPerTurn: (worked - warm) / (threads * turnsEach),
    bytesPerSleeper: (asleep - worked) / sleepers,
  };
}

function bytesInUse(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const number = (pragma: string): number =>
    Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0);
  const bytes = (number('page_count') - number('freelist_count')) * number('page_size');
  database.close();
  return bytes;
}

const rig = await openRig(say);
try {
  const servers = await startServers(rig.room('servers'), say);
  try {
    const measured: StoredBytes = {
      ...(await ofCluster(rig, servers)),
      sqlite: await ofStandalone(rig),
      at: new Date().toISOString(),
    };
    const text = `${JSON.stringify(measured, null, 2)}\n`;
    writeFileSync(result, text);
    process.stdout.write(text);
  } finally {
    await servers.stop();
  }
} finally {
  await rig.close(false);
}
