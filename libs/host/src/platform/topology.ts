// From settings to stores and buses: the one place that chooses technology. Everything above it uses ports only.
//
// Invariants:
//   P1. Every store and bus of one process comes from one topology; there is no mixture.
//   P2. In a cluster only `setup` makes topics and indexes; every other process refuses to run without them, and with
//       those of another installation.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type KafkaBus, type KafkaOptions, openKafka } from '@dormouse/adapter-kafka';
import {
  type InstallationRecord,
  type MongoStores,
  openMongo,
  type ShardingStatement,
  shardingStatements,
} from '@dormouse/adapter-mongo';
import { openRedis, type RedisHints } from '@dormouse/adapter-redis';
import { openSqlite, type PinnedDatabase } from '@dormouse/adapter-sqlite';
import { Fault, type Logger, type Metrics, type PartitionLoad, type Stores } from '@dormouse/ports';
import { type ClusterConfig, type Config, isCluster, tlsFilesOf } from '../config.ts';
import { tlsOptions } from '../tls-files.ts';
import { openClockOffset } from './clock-offset.ts';
import { checkInstallation, claimInstallation, refuseOthers } from './installation.ts';
import type { KeyRing } from './key-ring.ts';
import { openProcessKeys, type ProcessKeys } from './kms/key-management.ts';
import { keyFileOf, openKeyFile, openKeySetting } from './kms/opened-keys.ts';
import type { ProcessClock } from './process-clock.ts';
import { sealKeysOf } from './seal-keys.ts';
import { createSealer } from './sealer.ts';
import { refuseOtherKeys } from './stored-seals.ts';

/** A server without which a service can do nothing of its work. Redis is none: it may be away at any time. */
export type Need = 'kafka' | 'mongo';

/** What a topology asks of the services that run on it. */
export interface TopologyTraits {
  /** Outbound rules that hold before the operator's own. */
  readonly outboundAllow: readonly string[];
  /** Requests and callbacks per second of one tenant, where no setting says more; 0 for no limit. */
  readonly tenantRate: number;
  /** Groups of commits that are at the store at once. */
  readonly groupsInFlightMax?: number;
  /** Records pass between processes: sending and taking one are spans of their own. */
  readonly hasBroker?: boolean;
  /** How long a process remembers the key of a family that another one may erase; Infinity where there is none. */
  readonly familyKeyKeptMs: number;
}

export interface Topology {
  readonly stores: Stores;
  readonly traits: TopologyTraits;
  readonly keys: KeyRing;
  /** Resolves with the reason when this process may not use them longer; never before. (held-keys H2) */
  readonly keysOver: Promise<string>;
  /** To be called when no secret is left that another master key than this one has sealed. (installation N3) */
  noteMasterKey(mark: string): Promise<void>;
  /** The database as it is now, to be copied; null where it is a server's. @throws Fault UNAVAILABLE. */
  readonly pin: (() => PinnedDatabase) | null;
  /** Bytes of the database file that are used again before it grows; null where the database is a server's. */
  readonly reusableBytes: (() => number) | null;
  /** What the buses have in hand here. */
  load(): Promise<readonly PartitionLoad[]>;
  /** True in one process of an installation at most: the one that speaks for all threads. */
  isFirst(): boolean;
  /** Null, or why a process that needs these servers cannot do its work now. @throws Fault UNAVAILABLE. */
  problem(needs: readonly Need[]): Promise<string | null>;
  /** Null, or why only a restart of the process would help. */
  stalled(): string | null;
  close(): Promise<void>;
}

/** @throws Fault with a code of `problem-codes.ts` and the next step in its words. */
export function openTopology(config: Config, clock: ProcessClock, logger: Logger, metrics: Metrics): Promise<Topology> {
  return isCluster(config) ? openCluster(config, logger, metrics) : openStandalone(config, clock, logger, metrics);
}

/**
 * One tenant, whose tool servers and models are often on the same machine. The writer stores whatever waits in one
 * transaction, so several groups may be on their way to it. ADR 18
 */
const standaloneTraits: TopologyTraits = {
  outboundAllow: ['http://127.0.0.0/8', 'http://[::1]', 'http://localhost'],
  tenantRate: 0,
  groupsInFlightMax: 8,
  familyKeyKeptMs: Number.POSITIVE_INFINITY,
};

/** Many tenants: one of them must not take it all. Each group of commits is a round trip of its own. */
const clusterTraits: TopologyTraits = {
  outboundAllow: [],
  tenantRate: 1_000,
  hasBroker: true,
  familyKeyKeptMs: 30_000,
};

async function openStandalone(
  config: Config,
  clock: ProcessClock,
  logger: Logger,
  metrics: Metrics,
): Promise<Topology> {
  const stores = await openSqlite({ directory: config.DATA_DIR, clock, metrics });
  try {
    await clock.goOnFrom(openClockOffset(config.DATA_DIR)); // under the lock of the directory
    const keyFile = keyFileOf(config.DATA_DIR);
    const isNew = !existsSync(keyFile);
    const keys = await openProcessKeys(config, logger, (kms) => openKeyFile(config.DATA_DIR, kms));
    await refuseOtherKeys(stores, createSealer(sealKeysOf(keys.ring, clock))).catch(async (failure: unknown) => {
      await keys.close();
      if (isNew) await rm(keyFile, { force: true }); // it has sealed nothing
      throw failure;
    });
    return {
      stores,
      traits: standaloneTraits,
      keys: keys.ring,
      keysOver: keys.over,
      noteMasterKey: () => Promise.resolve(), // the keys are beside what they seal
      pin: () => stores.pin(),
      reusableBytes: () => stores.reusableBytes(),
      load: async () => stores.load(),
      isFirst: () => true,
      problem: async () => {
        await stores.apiKeys.bySha256('readiness');
        return null;
      },
      stalled: () => null,
      close: async () => {
        await keys.close();
        await stores.close();
      },
    };
  } catch (failure) {
    await stores.close();
    throw failure;
  }
}

async function openCluster(config: ClusterConfig, logger: Logger, metrics: Metrics): Promise<Topology> {
  const keys = await keysOf(config, logger);
  try {
    return await openServers(config, keys, logger, metrics);
  } catch (failure) {
    await keys.close();
    throw failure;
  }
}

/** Of a process of a cluster. @throws Fault KMS_REFUSED, UNAVAILABLE */
export const keysOf = (config: ClusterConfig, logger: Logger): Promise<ProcessKeys> =>
  openProcessKeys(config, logger, (kms) => openKeySetting(config.MASTER_KEY, kms));

async function openServers(
  config: ClusterConfig,
  keys: ProcessKeys,
  logger: Logger,
  metrics: Metrics,
): Promise<Topology> {
  const kafka = await openKafka({ ...kafkaOptions(config, logger), metrics });
  const look = (installation: InstallationRecord): Promise<void> =>
    checkInstallation(kafka, { installation }, marksOf(keys.ring));
  let mongo: MongoStores;
  try {
    const { partitions } = kafka;
    mongo = await openMongo({ ...mongoOptions(config), indexes: 'check', look, partitions, metrics });
  } catch (failure) {
    await kafka.close();
    throw failure;
  }
  const tls = tlsOptions(tlsFilesOf(config, 'REDIS'));
  const redis = await openRedis({ url: config.REDIS_URL, tls, prefix: config.KAFKA_PREFIX, logger, metrics });
  return {
    stores: storesOf(kafka, mongo, redis),
    traits: clusterTraits,
    keys: keys.ring,
    keysOver: keys.over,
    noteMasterKey: (mark) => mongo.installation.noteMasterKey(mark),
    pin: null,
    reusableBytes: null,
    load: () => kafka.load(),
    isFirst: () => kafka.partitions.owned().has(0),
    problem: async (needs) => {
      if (needs.includes('mongo')) await mongo.ping();
      return needs.includes('kafka') ? (kafka.problem() ?? kafka.unreachable()) : null;
    },
    stalled: () => kafka.stalled(),
    close: async () => {
      await kafka.close();
      await Promise.all([mongo.close(), redis.close(), keys.close()]);
    },
  };
}

function storesOf({ inputs, work }: KafkaBus, mongo: MongoStores, { dedup, feed, rates }: RedisHints): Stores {
  return { ...mongo, inputs, work, dedup, feed, rates };
}

/** Creates what a cluster needs before its first process starts, and migrates an older database. (P2) */
export async function setUpCluster(config: ClusterConfig, logger: Logger): Promise<void> {
  const { KAFKA_PARTITIONS: partitions, KAFKA_REPLICATION: replication = null } = config;
  const makeTopics = { partitions, replication, retentionMs: recordsKeptMs };
  const keys = await keysOf(config, logger);
  const kafka = await openKafka({ ...kafkaOptions(config, logger), makeTopics }).catch(async (failure: unknown) => {
    await keys.close();
    throw failure;
  });
  let mongo: MongoStores | null = null;
  try {
    const marks = marksOf(keys.ring);
    const look = (installation: InstallationRecord): Promise<void> => refuseOthers(kafka, { installation }, marks);
    const beforeMigration = (): Promise<void> => refuseWriters(kafka);
    const { partitions: ofTopics } = kafka;
    mongo = await openMongo({ ...mongoOptions(config), indexes: 'make', look, partitions: ofTopics, beforeMigration });
    await claimInstallation(kafka, mongo, marks, keys.ring.at(Date.now()).mark);
  } finally {
    await mongo?.close();
    await kafka.close();
    await keys.close();
  }
}

/** What a processor appends now would not be migrated. @throws Fault INDEX_MISSING while one runs, UNAVAILABLE. */
async function refuseWriters(kafka: KafkaBus): Promise<void> {
  const running = (await kafka.lags()).find(({ topic }) => topic === 'inputs')?.members ?? 0;
  if (running === 0) return;
  const problem = `Commits of an older version have to be brought along, and ${running} of thread-processor still run, which write such commits.`;
  throw new Fault('INDEX_MISSING', `${problem} Stop the services, wait until they have ended, and then: npm run setup`);
}

/** What a sharded MongoDB has to be told; the database is only read. @throws Fault INDEX_MISSING, UNAVAILABLE. */
export async function shardingOf(config: ClusterConfig): Promise<readonly ShardingStatement[]> {
  const mongo = await openMongo({ ...mongoOptions(config), indexes: 'check' });
  try {
    return shardingStatements(mongo.database, mongo.shards);
  } finally {
    await mongo.close();
  }
}

/** Of all master keys. */
export const marksOf = ({ all }: KeyRing): readonly string[] => all.map(({ mark }) => mark);

const recordsKeptMs = 14 * 86_400_000;

export const mongoOptions = ({ MONGO_URL: url, MONGO_DATABASE: database }: ClusterConfig) => ({ url, database });

export function kafkaOptions(config: ClusterConfig, logger: Logger): KafkaOptions {
  return {
    brokers: config.KAFKA_BROKERS.split(',').map((broker) => broker.trim()),
    prefix: config.KAFKA_PREFIX,
    clientId: 'dormouse',
    sessionTimeoutMs: config.KAFKA_SESSION_TIMEOUT_MS,
    ssl: config.KAFKA_TLS ? tlsOptions(tlsFilesOf(config, 'KAFKA')) : undefined,
    sasl: config.KAFKA_SASL === undefined ? undefined : saslOf(config.KAFKA_SASL),
    logger,
  };
}

function saslOf(setting: string): NonNullable<KafkaOptions['sasl']> {
  const [mechanism = '', username = '', ...rest] = setting.split(':');
  return { mechanism, username, password: rest.join(':') } as NonNullable<KafkaOptions['sasl']>;
}
