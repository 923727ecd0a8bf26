// Opens a database and gives every store of the cluster topology over it.
import { Fault, type Stores } from '@dormouse/ports';
import { createBlobs } from './stores/blobs.ts';
import { type CommitDocument, commitSchema } from './stores/commit-document.ts';
import { createCommitPlaces } from './stores/commit-places.ts';
import { createDispatchLedger } from './stores/dispatch-ledger.ts';
import { createIdempotencyKeys } from './stores/idempotency-keys.ts';
import { ensureIndexes, indexProblem } from './indexes.ts';
import { createInbox } from './stores/inbox.ts';
import { createInstallationRecord, type InstallationRecord } from './stores/installation.ts';
import { connectServer, type MongoCounters, type MongoServer, type ServerOptions } from './mongo-server.ts';
import { placeOldCommits, placesProblem } from './stores/place-old-commits.ts';
import { createParkedThreads } from './stores/parked-threads.ts';
import { createAgents, createApiKeys, createSecrets, createToolServers, createToolsets } from './stores/registry.ts';
import { createRevokedTokens } from './stores/revoked-tokens.ts';
import { createSnapshots } from './stores/snapshots.ts';
import { createThreadDirectory } from './stores/thread-directory.ts';
import { createTenantLog } from './stores/tenant-log.ts';
import { createThreadLog } from './stores/thread-log.ts';
import { createCallbackCounts } from './stores/callback-counts.ts';
import { createTimers, onePartition, type Partitions } from './stores/timers.ts';
import { createToolActivity } from './stores/tool-activity.ts';
import { createLogins, createViews } from './stores/views.ts';

export interface MongoOptions extends ServerOptions {
  /** The bus's partitions; without them this process fires every timer. */
  readonly partitions?: Partitions | undefined;
  /** `make` creates what is missing and migrates an older database; `check` refuses to open without it. */
  readonly indexes: 'make' | 'check';
  /** Called before anything is created or checked: it rejects when this database must not be used. */
  readonly look?: (installation: InstallationRecord) => Promise<void>;
}

/** All of the cluster's but its buses and what Redis remembers. */
export interface MongoStores extends Omit<Stores, 'inputs' | 'work' | 'dedup' | 'feed' | 'rates'> {
  readonly installation: InstallationRecord;
  /** Its name. */
  readonly database: string;
  /** The time of the server, milliseconds since the epoch. @throws Fault UNAVAILABLE. */
  now(): Promise<number>;
  counters(): MongoCounters;
  /** @throws Fault UNAVAILABLE when the server does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** @throws Fault UNAVAILABLE, INDEX_MISSING. */
export async function openMongo(options: MongoOptions): Promise<MongoStores> {
  const server = await connectServer(options);
  const { partitions = onePartition } = options;
  const stores = storesOver(server, partitions);
  try {
    await options.look?.(stores.installation);
    if (options.indexes === 'make') {
      const { areNew } = await ensureIndexes(server);
      await placeOldCommits(server, partitions, { again: areNew });
    }
    const problem = (await indexProblem(server)) ?? (await placesProblem(server));
    if (problem !== null) throw new Fault('INDEX_MISSING', problem);
  } catch (error) {
    await server.close();
    throw error;
  }
  return {
    ...stores,
    database: server.connection.name,
    now: () => server.now(),
    counters: () => ({ ...server.counted }),
    ping: () => server.ping(),
    close: () => server.close(),
  };
}

function logsOver(server: MongoServer, partitions: Partitions) {
  const commits = server.connection.model<CommitDocument>('Commit', commitSchema);
  const places = createCommitPlaces(server, commits, partitions);
  return {
    log: createThreadLog(server, commits, places),
    tenantLog: createTenantLog(server, commits, places, partitions),
  };
}

/** Registers every model: `indexes.ts` looks at those that are registered. */
const storesOver = (server: MongoServer, partitions: Partitions) => ({
  ...logsOver(server, partitions),
  snapshots: createSnapshots(server),
  timers: createTimers(server, partitions),
  directory: createThreadDirectory(server),
  ledger: createDispatchLedger(server),
  blobs: createBlobs(server),
  agents: createAgents(server),
  toolServers: createToolServers(server),
  toolsets: createToolsets(server),
  secrets: createSecrets(server),
  idempotency: createIdempotencyKeys(server),
  apiKeys: createApiKeys(server),
  revokedTokens: createRevokedTokens(server),
  parked: createParkedThreads(server),
  views: createViews(server),
  logins: createLogins(server),
  toolActivity: createToolActivity(server),
  callbackCounts: createCallbackCounts(server),
  inbox: createInbox(server),
  installation: createInstallationRecord(server),
});
