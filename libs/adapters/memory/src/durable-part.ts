// The durable part of a memory world: what every store keeps, beside the broker and the network.
import type { BlobStore } from './stores/blobs.ts';
import { type Broker, createBroker } from './buses/broker.ts';
import type { DedupStore } from './stores/dedup.ts';
import type { LedgerStore } from './stores/dispatch-ledger.ts';
import type { ErasureStore } from './stores/removal/erasures.ts';
import type { FamilyKeyStore } from './stores/access/family-keys.ts';
import type { IdempotencyStore } from './stores/idempotency-keys.ts';
import type { InboxStore } from './stores/inbox.ts';
import type { FeedStore } from './buses/live-feed.ts';
import { createRegistryStore, type RegistryStore } from './stores/registry/registry.ts';
import type { ScheduleStore } from './stores/arrivals/schedules.ts';
import type { ArrivalStore } from './stores/arrivals/sources.ts';
import type { AuditLogStore } from './stores/audit-log.ts';
import type { RevokedTokenStore } from './stores/access/revoked-tokens.ts';
import type { SnapshotStore } from './log/snapshots.ts';
import type { DirectoryStore } from './log/thread-directory.ts';
import { createLogStore, type LogStore } from './log/thread-log.ts';
import { createParkingStore, type ParkingStore } from './stores/parked-threads.ts';
import type { TimerStore } from './stores/timers.ts';
import type { LoginStore, ViewStore } from './stores/views.ts';
import type { CallbackCountStore } from './stores/limits/callback-counts.ts';
import type { TenantTallyStore } from './stores/limits/tenant-tallies.ts';
import type { ActivityStore } from './stores/tool-activity.ts';
import type { ToolNetwork } from './tool-network.ts';
import type { Receivers } from './stores/hooks/receivers.ts';
import { createWebhookStore, type WebhookStore } from './stores/hooks/webhooks.ts';

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

export const createDurablePart = (partitions: number): DurablePart => ({
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
