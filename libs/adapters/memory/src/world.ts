// A memory world: the durable part of an installation, and the view that one process has of it. Owns which adapter
// serves which port in the two topologies. Everything a process awaits passes the gate (see `gate.ts`).
import type { Clock, Commit, Stores, ThreadKey, ToolTransport, WebhookTransport } from '@dormouse/ports';
import { localRateLimits } from '@dormouse/ports';
import { type BlobStore, createBlobs } from './stores/blobs.ts';
import { type Broker, createBroker } from './buses/broker.ts';
import { createContentEraser } from './stores/removal/content-eraser.ts';
import { createDedup, type DedupStore } from './stores/dedup.ts';
import { createDispatchLedger, type LedgerStore } from './stores/dispatch-ledger.ts';
import { createDurableInputBus, createDurableWorkBus } from './buses/durable-bus.ts';
import { type Gate, openGate, passage as passageThrough } from './gate.ts';
import { createErasures, type ErasureStore } from './stores/removal/erasures.ts';
import { createFamilyKeys, type FamilyKeyStore } from './stores/access/family-keys.ts';
import { createIdempotencyKeys, type IdempotencyStore } from './stores/idempotency-keys.ts';
import { createInbox, type InboxStore } from './stores/inbox.ts';
import { createLiveFeed, type FeedStore } from './buses/live-feed.ts';
import {
  createAgents,
  createRegistryStore,
  createSecrets,
  createToolServers,
  createToolsets,
  type RegistryStore,
} from './stores/registry/registry.ts';
import { createApiKeys } from './stores/registry/api-keys.ts';
import { createHeldThreads, createTenants } from './stores/registry/tenants.ts';
import { createUserCredentials } from './stores/access/user-credentials.ts';
import { createSchedules, type ScheduleStore } from './stores/arrivals/schedules.ts';
import { type ArrivalStore, createDeliveries, createSources } from './stores/arrivals/sources.ts';
import { type AuditLogStore, createAuditLog } from './stores/audit-log.ts';
import { createRevokedTokens, type RevokedTokenStore } from './stores/access/revoked-tokens.ts';
import { createSnapshots, type SnapshotStore } from './log/snapshots.ts';
import type { WorldObserver } from './world-observer.ts';
import { createStandaloneInputBus, createStandaloneWorkBus } from './buses/standalone-bus.ts';
import { createTenantEraser } from './stores/removal/tenant-eraser.ts';
import { createRestingThreads } from './stores/removal/resting-threads.ts';
import { createThreadRemover } from './stores/removal/thread-remover.ts';
import { createTenantLog } from './log/tenant-log.ts';
import { createThreadDirectory, type DirectoryStore } from './log/thread-directory.ts';
import { createLogStore, createThreadLog, type LogStore } from './log/thread-log.ts';
import { createParkedThreads, createParkingStore, type ParkingStore } from './stores/parked-threads.ts';
import { createTimers, type TimerStore } from './stores/timers.ts';
import { createLogins, createViews, type LoginStore, type ViewStore } from './stores/views.ts';
import { type CallbackCountStore, createCallbackCounts } from './stores/limits/callback-counts.ts';
import { createTenantTallies, type TenantTallyStore } from './stores/limits/tenant-tallies.ts';
import { type ActivityStore, createToolActivity } from './stores/tool-activity.ts';
import { createToolTransport, type ToolNetwork } from './tool-network.ts';
import { createWebhookTransport, type Receivers } from './stores/hooks/receivers.ts';
import {
  createWebhookDeliveries,
  createWebhookReaders,
  createWebhooks,
  createWebhookStore,
  type WebhookStore,
} from './stores/hooks/webhooks.ts';

export type Topology = 'durable' | 'standalone';

export interface MemoryWorldOptions {
  /** For the world's own delays: retries and backoff of the buses. */
  readonly clock: Clock;
  /** Default: `openGate`. */
  readonly gate?: Gate;
  /** Default: `standalone`. */
  readonly topology?: Topology;
  /** Partitions of every topic in the durable topology; default 2. */
  readonly partitions?: number;
  readonly observer?: Partial<WorldObserver>;
}

/** One process's view. */
export interface MemoryPorts extends Stores {
  readonly transport: ToolTransport;
  readonly webhookTransport: WebhookTransport;
}

/** What survives every process. Checkers read it directly; wiping `snapshots` or `dedup` must lose nothing. */
export interface DurablePart {
  readonly log: LogStore;
  readonly broker: Broker;
  readonly timers: TimerStore;
  readonly parked: ParkingStore;
  readonly views: ViewStore;
  readonly logins: LoginStore;
  readonly toolActivity: ActivityStore;
  readonly callbackCounts: CallbackCountStore;
  readonly tenantTallies: TenantTallyStore;
  readonly inbox: InboxStore;
  readonly revokedTokens: RevokedTokenStore;
  readonly auditLog: AuditLogStore;
  readonly ledger: LedgerStore;
  readonly directory: DirectoryStore;
  readonly snapshots: SnapshotStore;
  readonly dedup: DedupStore;
  readonly blobs: BlobStore;
  readonly familyKeys: FamilyKeyStore;
  readonly erasures: ErasureStore;
  readonly idempotency: IdempotencyStore;
  readonly registry: RegistryStore;
  readonly arrivals: ArrivalStore;
  readonly schedules: ScheduleStore;
  readonly feed: FeedStore;
  readonly network: ToolNetwork;
  readonly hooks: WebhookStore;
  readonly receivers: Receivers;
}

export interface MemoryWorld {
  readonly topology: Topology;
  readonly durable: DurablePart;
  /** The view of one process in one life: call it once per life; a standalone process loses its queues when it ends. A
   * process may have a clock of its own. */
  ports(node: string, clock?: Clock): MemoryPorts;
  /** Keys of all threads with commits. */
  threads(): readonly ThreadKey[];
  commits(key: ThreadKey): readonly Commit[];
}

const ignore = (): void => {};

export function createMemoryWorld(options: MemoryWorldOptions): MemoryWorld {
  const { gate = openGate, topology = 'standalone', partitions = 2 } = options;
  const observer: WorldObserver = { appended: ignore, decided: ignore, handedOver: ignore, ...options.observer };
  const durable = createDurablePart(partitions);
  durable.log.onAppended = (commit) => observer.appended(commit);
  return {
    topology,
    durable,
    ports: (node, clock = options.clock) => {
      const passage = passageThrough(gate, node);
      const bus = { node, passage, clock, observer, broker: durable.broker, log: durable.log };
      return {
        log: createThreadLog(durable.log, passage),
        tenantLog: createTenantLog(durable.log, passage),
        snapshots: createSnapshots(durable.snapshots, passage),
        timers: createTimers(durable.timers, passage),
        parked: createParkedThreads(durable.parked, passage),
        views: createViews(durable.views, passage),
        logins: createLogins(durable.logins, passage),
        toolActivity: createToolActivity(durable.toolActivity, passage),
        callbackCounts: createCallbackCounts(durable.callbackCounts, passage),
        tenantTallies: createTenantTallies(durable.tenantTallies, passage),
        revokedTokens: createRevokedTokens(durable.revokedTokens, passage),
        auditLog: createAuditLog(durable.auditLog, passage),
        inbox: createInbox(durable.inbox, passage),
        webhooks: createWebhooks(durable.hooks, passage),
        webhookDeliveries: createWebhookDeliveries(durable.hooks, passage),
        webhookReaders: createWebhookReaders(durable.hooks, passage),
        rates: localRateLimits(() => clock.now()),
        ledger: createDispatchLedger(durable.ledger, passage),
        directory: createThreadDirectory(durable.directory, passage),
        inputs: topology === 'durable' ? createDurableInputBus(bus) : createStandaloneInputBus(bus),
        work: topology === 'durable' ? createDurableWorkBus(bus) : createStandaloneWorkBus(bus),
        dedup: createDedup(durable.dedup, passage),
        blobs: createBlobs(durable.blobs, passage),
        familyKeys: createFamilyKeys(durable.familyKeys, passage),
        erasures: createErasures(durable.erasures, passage),
        contentEraser: createContentEraser(durable.log, passage),
        idempotency: createIdempotencyKeys(durable.idempotency, passage),
        agents: createAgents(durable.registry, passage),
        toolServers: createToolServers(durable.registry, passage),
        toolsets: createToolsets(durable.registry, passage),
        secrets: createSecrets(durable.registry, passage),
        apiKeys: createApiKeys(durable.registry, passage),
        tenants: createTenants(durable.registry, passage),
        heldThreads: createHeldThreads(durable.registry, passage),
        userCredentials: createUserCredentials(durable.registry, passage),
        eraser: createTenantEraser(durable, passage),
        remover: createThreadRemover(durable, passage),
        restingThreads: createRestingThreads(durable.directory, passage),
        sources: createSources(durable.arrivals, passage),
        deliveries: createDeliveries(durable.arrivals, passage),
        schedules: createSchedules(durable.schedules, passage),
        feed: createLiveFeed(durable.feed, passage),
        transport: createToolTransport(durable.network, passage),
        webhookTransport: createWebhookTransport(durable.receivers),
      };
    },
    threads: () => [...durable.log.threads.values()].map(({ key }) => key),
    commits: (key) => durable.log.commits(key),
  };
}

const createDurablePart = (partitions: number): DurablePart => ({
  log: createLogStore(),
  broker: createBroker(partitions),
  timers: new Map(),
  parked: createParkingStore(),
  views: new Map(),
  logins: new Map(),
  toolActivity: { rows: new Map(), discoveries: new Map() },
  callbackCounts: new Map(),
  tenantTallies: new Map(),
  inbox: new Map(),
  revokedTokens: new Map(),
  auditLog: new Map(),
  ledger: { entries: new Map(), attempts: new Map() },
  directory: new Map(),
  snapshots: new Map(),
  dedup: new Set(),
  blobs: new Map(),
  familyKeys: new Map(),
  erasures: new Map(),
  idempotency: new Map(),
  registry: createRegistryStore(),
  arrivals: { sources: new Map(), deliveries: new Map() },
  schedules: new Map(),
  feed: { listeners: new Map(), said: new Map(), retrying: new Map() },
  network: new Map(),
  hooks: createWebhookStore(),
  receivers: new Map(),
});
