// Opens a data directory and gives every store and both buses of the standalone topology over its one file.
import {
  areKept,
  type Clock,
  localRateLimits,
  type Metrics,
  noMetrics,
  type PartitionLoad,
  type Stores,
} from '@dormouse/ports';
import { createAgents } from './stores/registry/agents.ts';
import { createApiKeys } from './stores/registry/api-keys.ts';
import { createUserCredentials } from './stores/access/user-credentials.ts';
import { createFamilyKeys } from './stores/access/family-keys.ts';
import { createBlobs } from './stores/blobs.ts';
import { type DataDirectory, holdDataDirectory } from './file/data-directory.ts';
import { openReader, prepareDatabase, type Reader } from './file/database.ts';
import { measuredReader, measuredWriter } from './file/measured-file.ts';
import { createContentEraser } from './stores/removal/content-eraser.ts';
import { createErasures } from './stores/removal/erasures.ts';
import { createDispatchLedger } from './stores/dispatch-ledger.ts';
import { type GroupWriter, startGroupWriter } from './writer/group-writer.ts';
import { createIdempotencyKeys } from './stores/idempotency-keys.ts';
import { createLocalInputBus } from './buses/local-input-bus.ts';
import { createLocalLiveFeed } from './buses/local-live-feed.ts';
import { createLocalWorkBus } from './buses/local-work-bus.ts';
import { createInbox } from './stores/inbox.ts';
import { createOwedCommits } from './buses/owed-commits.ts';
import { createParkedThreads } from './stores/parked-threads.ts';
import { createRecentIds } from './stores/recent-ids.ts';
import { createAuditLog } from './stores/audit-log.ts';
import { createRevokedTokens } from './stores/access/revoked-tokens.ts';
import { createSecrets } from './stores/registry/secrets.ts';
import { createSchedules } from './stores/arrivals/schedules.ts';
import { createDeliveries, createSources } from './stores/arrivals/sources.ts';
import { createSnapshots } from './log/snapshots.ts';
import { startSweeper } from './stores/sweeper.ts';
import { systemClock } from './file/system-clock.ts';
import { createTenantEraser } from './stores/removal/tenant-eraser.ts';
import { createRestingThreads } from './stores/removal/resting-threads.ts';
import { createThreadRemover } from './stores/removal/thread-remover.ts';
import { createHeldThreads, createTenants } from './stores/registry/tenants.ts';
import { createThreadDirectory } from './log/thread-directory.ts';
import { createTenantLog } from './log/tenant-log.ts';
import { createThreadLog } from './log/thread-log.ts';
import { createTimers } from './stores/timers.ts';
import { createCallbackCounts } from './stores/limits/callback-counts.ts';
import { createTenantTallies } from './stores/limits/tenant-tallies.ts';
import { createToolActivity } from './stores/tool-activity.ts';
import { createToolServers } from './stores/registry/tool-servers.ts';
import { createToolsets } from './stores/registry/toolsets.ts';
import { createLogins, createViews } from './stores/views.ts';
import { createWebhookDeliveries } from './stores/hooks/deliveries.ts';
import { createWebhookReaders, createWebhooks } from './stores/hooks/webhooks.ts';
import { type PinnedDatabase, pinDatabase } from './copy/pinned-database.ts';
import type { WriterCounters } from './writer/writer-counters.ts';

export interface SqliteOptions {
  /** The data directory; created if missing. One process at a time. */
  readonly directory: string;
  readonly clock?: Clock;
  /** Default: none. */
  readonly metrics?: Metrics;
  /** Limit of undecided inputs, in all. */
  readonly undecidedInputsMax?: number;
  readonly undecidedInputsPerThreadMax?: number;
  /** Default: three quarters of all. */
  readonly undecidedInputsPerTenantMax?: number;
  /** An input that cannot be decided for this long is refused: 503. */
  readonly undecidedMsMax?: number;
  /** How many messages of a work topic are handled at once. */
  readonly workInFlightMax?: number;
  /** Frames of 4 KiB in the write-ahead log, above which it is checkpointed between two transactions. */
  readonly walFramesMax?: number;
  /** Largest size of the database file; null for no limit but the disk's. */
  readonly sizeBytesMax?: number | null;
}

export interface SqliteStores extends Stores {
  /** Exact counts since opening: transactions, syncs, commits. */
  counters(): WriterCounters;
  /** What the buses have in hand. */
  load(): readonly PartitionLoad[];
  /** Bytes of the database file that no row uses: they are used again before the file grows. */
  reusableBytes(): number;
  /** Limits the file's size from now on, like a full disk; null lifts the limit. */
  limitSize(bytesMax: number | null): Promise<void>;
  /** The database as it is now, to be copied: what was answered, and nothing of later. @throws Fault UNAVAILABLE */
  pin(): PinnedDatabase;
  /** Stores what is queued, refuses what comes later, releases the directory for the next process. */
  close(): Promise<void>;
}

const pageBytes = 4_096;
const pagesOf = (bytes: number | null): number | null =>
  bytes === null ? null : Math.max(1, Math.floor(bytes / pageBytes));

/** @throws Fault DATA_DIR_UNWRITABLE, DATA_DIR_IN_USE, DATABASE_NEWER, DATABASE_CORRUPT, UNAVAILABLE. */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStores> {
  const held = await holdDataDirectory(options.directory);
  try {
    prepareDatabase(held.databaseFile);
    const reader = openReader(held.databaseFile);
    const writer = startGroupWriter({
      file: held.databaseFile,
      walFramesMax: options.walFramesMax ?? 8_192,
      pagesMax: pagesOf(options.sizeBytesMax ?? null),
      queuedMax: 100_000,
      lazyMsMax: 50,
    });
    const { metrics = noMetrics } = options;
    if (!areKept(metrics)) return assemble(options, held, reader, writer);
    return assemble(options, held, measuredReader(reader, metrics), measuredWriter(writer, metrics));
  } catch (error) {
    held.release();
    throw error;
  }
}

function assemble(options: SqliteOptions, held: DataDirectory, reader: Reader, writer: GroupWriter): SqliteStores {
  const clock = options.clock ?? systemClock;
  const owed = createOwedCommits(writer, reader, 20);
  const undecidedMax = options.undecidedInputsMax ?? 10_000;
  const inputs = createLocalInputBus({
    owed,
    undecidedMax,
    undecidedPerTenantMax: options.undecidedInputsPerTenantMax ?? Math.ceil((undecidedMax * 3) / 4),
    undecidedPerThreadMax: options.undecidedInputsPerThreadMax ?? 1_000,
    undecidedMsMax: options.undecidedMsMax ?? 5_000,
    busyPollMs: 5,
  });
  const work = createLocalWorkBus({
    clock,
    inFlightMax: options.workInFlightMax ?? 1_024,
    queuedMax: 100_000,
    backoffMsFirst: 100,
    backoffMsMax: 30_000,
  });
  const sweeper = startSweeper(writer, clock);
  return {
    log: createThreadLog(writer, reader, owed),
    tenantLog: createTenantLog(reader),
    inputs,
    work,
    snapshots: createSnapshots(writer, reader),
    timers: createTimers(writer, reader),
    directory: createThreadDirectory(writer, reader),
    ledger: createDispatchLedger(writer, reader),
    blobs: createBlobs(writer, reader),
    agents: createAgents(writer, reader),
    toolServers: createToolServers(writer, reader),
    toolsets: createToolsets(writer, reader),
    secrets: createSecrets(writer, reader),
    idempotency: createIdempotencyKeys(writer, reader),
    apiKeys: createApiKeys(writer, reader),
    tenants: createTenants(writer, reader),
    heldThreads: createHeldThreads(writer, reader),
    eraser: createTenantEraser(writer),
    remover: createThreadRemover(writer, reader),
    restingThreads: createRestingThreads(writer, reader),
    revokedTokens: createRevokedTokens(writer, reader),
    auditLog: createAuditLog(writer, reader),
    parked: createParkedThreads(writer, reader),
    rates: localRateLimits(() => performance.now()),
    views: createViews(writer, reader),
    logins: createLogins(writer, reader),
    toolActivity: createToolActivity(writer, reader),
    callbackCounts: createCallbackCounts(writer, reader),
    sources: createSources(writer, reader),
    deliveries: createDeliveries(writer, reader),
    schedules: createSchedules(writer, reader),
    tenantTallies: createTenantTallies(writer, reader),
    inbox: createInbox(writer, reader),
    webhooks: createWebhooks(writer, reader),
    webhookDeliveries: createWebhookDeliveries(writer, reader),
    webhookReaders: createWebhookReaders(writer, reader),
    userCredentials: createUserCredentials(writer, reader),
    familyKeys: createFamilyKeys(writer, reader),
    erasures: createErasures(writer, reader),
    contentEraser: createContentEraser(writer),
    dedup: createRecentIds(10_000),
    feed: createLocalLiveFeed({ soFarCharactersMax: 262_144, threadsMax: 10_000 }),
    counters: () => writer.counters(),
    load: () => [inputs.load(), ...work.load()],
    reusableBytes: () =>
      (reader.one<{ readonly freelist_count: number }>('PRAGMA freelist_count')?.freelist_count ?? 0) * pageBytes,
    limitSize: (bytesMax) => writer.limitPages(pagesOf(bytesMax)),
    pin: () => pinDatabase(held.databaseFile),
    close: async () => {
      sweeper.stop();
      inputs.close();
      work.close();
      void owed.flush();
      await writer.close();
      reader.close();
      held.release();
    },
  };
}
