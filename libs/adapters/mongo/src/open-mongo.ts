// Opens a database and gives every store of the cluster topology over it.
import { Fault, type Stores } from '@dormouse/ports';
import { createUserCredentials } from './stores/access/user-credentials.ts';
import { createFamilyKeys } from './stores/access/family-keys.ts';
import { createBlobs } from './stores/blobs.ts';
import { type CommitDocument, commitSchema } from './log/commit-document.ts';
import { createCommitPlaces } from './log/commit-places.ts';
import { createContentEraser } from './stores/removal/content-eraser.ts';
import { createErasures } from './stores/removal/erasures.ts';
import { createDispatchLedger } from './stores/dispatch-ledger.ts';
import { createIdempotencyKeys } from './stores/idempotency-keys.ts';
import { ensureIndexes, indexProblem } from './indexes.ts';
import { createInbox } from './stores/inbox.ts';
import { createInstallationRecord, type InstallationRecord } from './stores/installation.ts';
import { connectServer, type MongoCounters, type MongoServer, type ServerOptions } from './mongo-server.ts';
import { placeOldCommits, placesProblem } from './migrations/place-old-commits.ts';
import { createParkedThreads } from './stores/parked-threads.ts';
import { createApiKeys } from './stores/registry/api-keys.ts';
import { createAgents, createSecrets, createToolServers, createToolsets } from './stores/registry/registry.ts';
import { createAuditLog } from './stores/audit-log.ts';
import { createRevokedTokens } from './stores/access/revoked-tokens.ts';
import { createSnapshots } from './log/snapshots.ts';
import { createHeldThreads, createTenantEraser, createTenants } from './stores/registry/tenants.ts';
import { createThreadDirectory } from './log/thread-directory.ts';
import { createTenantLog } from './log/tenant-log.ts';
import { createThreadLog } from './log/thread-log.ts';
import { createRestingThreads } from './stores/removal/resting-threads.ts';
import { createThreadRemover } from './stores/removal/thread-remover.ts';
import { hasCommits, settleShards } from './migrations/shard-old-commits.ts';
import { knownShards, type Shards, storedShards } from './log/shards.ts';
import { createCallbackCounts } from './stores/limits/callback-counts.ts';
import { createSchedules } from './stores/arrivals/schedules.ts';
import { createDeliveries, createSources } from './stores/arrivals/sources.ts';
import { createTenantTallies } from './stores/limits/tenant-tallies.ts';
import { createTimers, onePartition, type Partitions } from './stores/timers.ts';
import { createToolActivity } from './stores/tool-activity.ts';
import { createLogins, createViews } from './stores/views.ts';
import { createWebhookDeliveries } from './stores/hooks/deliveries.ts';
import { createWebhookReaders, createWebhooks } from './stores/hooks/webhooks.ts';

export interface MongoOptions extends ServerOptions {
  /** The bus's partitions; without them this process fires every timer. A new database gets as many shards. */
  readonly partitions?: Partitions | undefined;
  /** `make` creates what is missing and migrates an older database; `check` refuses to open without it. */
  readonly indexes: 'make' | 'check';
  /** Called before anything is created or checked: it rejects when this database must not be used. */
  readonly look?: (installation: InstallationRecord) => Promise<void>;
  /** Called before commits of an older version are changed: it rejects while a process may still write such. */
  readonly beforeMigration?: () => Promise<void>;
}

/** All of the cluster's but its buses and what Redis remembers. */
export interface MongoStores extends Omit<Stores, 'inputs' | 'work' | 'dedup' | 'feed' | 'rates'> {
  readonly installation: InstallationRecord;
  /** Its name. */
  readonly database: string;
  /** The shards of its log. */
  readonly shards: number;
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
  const { stores, shards } = await preparedStores(server, options).catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  return {
    ...stores,
    database: server.connection.name,
    shards: shards.count,
    now: () => server.now(),
    counters: () => ({ ...server.counted }),
    ping: () => server.ping(),
    close: () => server.close(),
  };
}

async function preparedStores(server: MongoServer, options: MongoOptions) {
  const { partitions = onePartition, indexes, look, beforeMigration } = options;
  const installation = createInstallationRecord(server);
  await look?.(installation);
  const hasOldCommits = indexes === 'make' && (await mayHaveOldCommits(server));
  if (hasOldCommits) await beforeMigration?.();
  const shards = indexes === 'make' ? await settleShards(server, partitions.count) : await knownShards(server);
  const stores = { ...storesOver(server, partitions, shards), installation };
  if (indexes === 'make') {
    const { areNew } = await ensureIndexes(server, shards, { hasOldCommits });
    await placeOldCommits(server, shards, { again: areNew });
  }
  const problem = (await indexProblem(server)) ?? (await placesProblem(server));
  if (problem !== null) throw new Fault('INDEX_MISSING', problem);
  return { stores, shards };
}

/** Some may be without a shard or a place. */
const mayHaveOldCommits = async (server: MongoServer): Promise<boolean> =>
  ((await storedShards(server)) === null || (await placesProblem(server)) !== null) && hasCommits(server);

function logsOver(server: MongoServer, shards: Shards) {
  const commits = server.connection.model<CommitDocument>('Commit', commitSchema);
  const places = createCommitPlaces(server, commits, shards);
  return {
    log: createThreadLog(server, commits, places, shards),
    tenantLog: createTenantLog(server, commits, places, shards),
    remover: createThreadRemover(server, { commits, places, shards }),
    contentEraser: createContentEraser(server, commits, shards),
  };
}

/** Registers every model: `indexes.ts` looks at those that are registered. */
export const storesOver = (server: MongoServer, partitions: Partitions, shards: Shards) => ({
  ...logsOver(server, shards),
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
  tenants: createTenants(server),
  heldThreads: createHeldThreads(server),
  eraser: createTenantEraser(server),
  restingThreads: createRestingThreads(server),
  revokedTokens: createRevokedTokens(server),
  auditLog: createAuditLog(server),
  parked: createParkedThreads(server),
  views: createViews(server),
  logins: createLogins(server),
  toolActivity: createToolActivity(server),
  callbackCounts: createCallbackCounts(server),
  sources: createSources(server),
  deliveries: createDeliveries(server),
  schedules: createSchedules(server),
  tenantTallies: createTenantTallies(server),
  inbox: createInbox(server),
  webhooks: createWebhooks(server),
  webhookDeliveries: createWebhookDeliveries(server),
  webhookReaders: createWebhookReaders(server),
  userCredentials: createUserCredentials(server),
  familyKeys: createFamilyKeys(server),
  erasures: createErasures(server),
});
