// A memory world: the durable part of an installation, and the view that one process has of it. Owns which adapter
// serves which port in the two topologies. Everything a process awaits passes the gate (see `gate.ts`).
import type { Clock, Commit, Stores, ThreadKey, ToolTransport, WebhookTransport } from '@dormouse/ports';
import { localRateLimits } from '@dormouse/ports';
import { createBlobs } from './stores/blobs.ts';
import { createContentEraser } from './stores/removal/content-eraser.ts';
import { createDedup } from './stores/dedup.ts';
import { createDispatchLedger } from './stores/dispatch-ledger.ts';
import { createDurableInputBus, createDurableWorkBus } from './buses/durable-bus.ts';
import { type Gate, openGate, passage as passageThrough } from './gate.ts';
import { createErasures } from './stores/removal/erasures.ts';
import { createFamilyKeys } from './stores/access/family-keys.ts';
import { createIdempotencyKeys } from './stores/idempotency-keys.ts';
import { createInbox } from './stores/inbox.ts';
import { createLiveFeed } from './buses/live-feed.ts';
import { createAgents, createSecrets, createToolServers, createToolsets } from './stores/registry/registry.ts';
import { createApiKeys } from './stores/registry/api-keys.ts';
import { createHeldThreads, createTenants } from './stores/registry/tenants.ts';
import { createUserCredentials } from './stores/access/user-credentials.ts';
import { createSchedules } from './stores/arrivals/schedules.ts';
import { createDeliveries, createSources } from './stores/arrivals/sources.ts';
import { createAuditLog } from './stores/audit-log.ts';
import { createRevokedTokens } from './stores/access/revoked-tokens.ts';
import { createSnapshots } from './log/snapshots.ts';
import type { WorldObserver } from './world-observer.ts';
import { createStandaloneInputBus, createStandaloneWorkBus } from './buses/standalone-bus.ts';
import { createTenantEraser } from './stores/removal/tenant-eraser.ts';
import { createRestingThreads } from './stores/removal/resting-threads.ts';
import { createThreadRemover } from './stores/removal/thread-remover.ts';
import { createTenantLog } from './log/tenant-log.ts';
import { createThreadDirectory } from './log/thread-directory.ts';
import { createThreadLog } from './log/thread-log.ts';
import { createParkedThreads } from './stores/parked-threads.ts';
import { createTimers } from './stores/timers.ts';
import { createLogins, createViews } from './stores/views.ts';
import { createCallbackCounts } from './stores/limits/callback-counts.ts';
import { createTenantTallies } from './stores/limits/tenant-tallies.ts';
import { createToolActivity } from './stores/tool-activity.ts';
import { createToolTransport } from './tool-network.ts';
import { createWebhookTransport } from './stores/hooks/receivers.ts';
import { createWebhookDeliveries, createWebhookReaders, createWebhooks } from './stores/hooks/webhooks.ts';
import { createDurablePart, type DurablePart } from './durable-part.ts';

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
