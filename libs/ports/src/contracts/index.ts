export { auditLogContract } from './audit-log.contract.ts';
export { blobsContract } from './blobs.contract.ts';
export { dedupContract } from './dedup.contract.ts';
export { dispatchLedgerContract, type DispatchLedgerUnderTest } from './dispatch-ledger.contract.ts';
export { contentEraserContract } from './content-eraser.contract.ts';
export { erasuresContract } from './erasures.contract.ts';
export { familyKeysContract } from './family-keys.contract.ts';
export { heldThreadsContract } from './held-threads.contract.ts';
export { idempotencyKeysContract } from './idempotency.contract.ts';
export { inboxContract } from './inbox.contract.ts';
export { inputBusContract, type InputBusUnderTest } from './input-bus.contract.ts';
export { createInputRecorder, type InputRecorder } from './input-recorder.ts';
export { keyManagementContract } from './key-management.contract.ts';
export { liveFeedContract } from './live-feed.contract.ts';
export { loginsContract } from './logins.contract.ts';
export { parkedThreadsContract } from './parked-threads.contract.ts';
export { rateLimitsContract } from './rate-limits.contract.ts';
export {
  agentsContract,
  apiKeysContract,
  secretsContract,
  toolServersContract,
  toolsetsContract,
} from './registry.contract.ts';
export { revokedTokensContract } from './revoked-tokens.contract.ts';
export { commitOf, freshKey, messageOf } from './samples.ts';
export { schedulesContract } from './schedules.contract.ts';
export { deliveriesContract, sourcesContract } from './sources.contract.ts';
export { snapshotsContract } from './snapshots.contract.ts';
export { tenantEraserContract, type TenantEraserUnderTest } from './tenant-eraser.contract.ts';
export { tenantLogContract, type TenantLogUnderTest } from './tenant-log.contract.ts';
export { tenantsContract } from './tenants.contract.ts';
export { threadDirectoryContract } from './thread-directory.contract.ts';
export { restingThreadsContract } from './resting-threads.contract.ts';
export { threadRemoverContract } from './thread-remover.contract.ts';
export { threadLogContract, type ThreadLogUnderTest } from './thread-log.contract.ts';
export { timersContract } from './timers.contract.ts';
export { callbackCountsContract } from './callback-counts.contract.ts';
export { tenantTalliesContract } from './tenant-tallies.contract.ts';
export { toolActivityContract } from './tool-activity.contract.ts';
export type { UnderTest } from './under-test.ts';
export type { Advance } from './until.ts';
export { userCredentialsContract } from './user-credentials.contract.ts';
export { usageContract } from './usage.contract.ts';
export { viewsContract } from './views.contract.ts';
export { workBusContract, type WorkBusUnderTest } from './work-bus.contract.ts';
export { webhooksContract, type WebhookStoresUnderTest } from './webhooks.contract.ts';
