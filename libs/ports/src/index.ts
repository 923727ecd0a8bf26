export * from './registry/api-keys.ts';
export * from './registry/content-cipher.ts';
export * from './stores/audit-log.ts';
export * from './stores/blobs.ts';
export * from './world/certificate-problem.ts';
export * from './world/clock.ts';
export * from './stores/dedup.ts';
export * from './stores/dispatch-ledger.ts';
export * from './stores/content-eraser.ts';
export * from './stores/erasures.ts';
export * from './stores/family-keys.ts';
export * from './stores/held-threads.ts';
export * from './stores/tenant-eraser.ts';
export * from './stores/removal/resting-threads.ts';
export * from './stores/removal/thread-remover.ts';
export * from './world/entropy.ts';
export * from './world/fault.ts';
export * from './stores/idempotency.ts';
export * from './stores/inbox.ts';
export * from './bus/input-bus.ts';
export * from './bus/live-feed.ts';
export * from './bus/partition-load.ts';
export * from './bus/partitioner.ts';
export * from './world/logger.ts';
export * from './world/metric-table.ts';
export * from './world/metrics.ts';
export * from './stores/logins.ts';
export * from './world/model.ts';
export * from './stores/page-cursor.ts';
export * from './stores/parked-threads.ts';
export * from './world/rate-limits.ts';
export * from './stores/revoked-tokens.ts';
export * from './registry/registry.ts';
export * from './registry/key-management.ts';
export * from './registry/sealer.ts';
export * from './registry/tenants.ts';
export * from './registry/user-credentials.ts';
export * from './log/snapshots.ts';
export * from './stores.ts';
export * from './log/tenant-log.ts';
export * from './log/thread-directory.ts';
export * from './log/thread-key.ts';
export * from './log/thread-log.ts';
export * from './log/usage.ts';
export * from './bus/timers.ts';
export * from './stores/callback-counts.ts';
export * from './stores/tenant-tallies.ts';
export * from './stores/tool-activity.ts';
export * from './world/tool-transport.ts';
export * from './world/tracer.ts';
export * from './world/network-error-code.ts';
export * from './stores/views.ts';
export * from './bus/work-bus.ts';
export * from './bus/work-places.ts';
export * from './stores/hooks/webhooks.ts';
export * from './world/webhook-transport.ts';
export * from './arrivals/schedules.ts';
export * from './arrivals/sources.ts';
export {
  localTenant,
  noTenant,
  parseTenantId,
  platformTenant,
  storedTenantId,
  tenantId,
  tenantIdForm,
  type TenantId,
} from '@dormouse/thread';
