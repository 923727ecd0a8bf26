// Every store and bus of one process, under the names by which services take them. An adapter offers some of them, a
// topology all.
import type { ApiKeys } from './registry/api-keys.ts';
import type { AuditLog } from './stores/audit-log.ts';
import type { Blobs } from './stores/blobs.ts';
import type { CallbackCounts } from './stores/callback-counts.ts';
import type { Dedup } from './stores/dedup.ts';
import type { DispatchLedger } from './stores/dispatch-ledger.ts';
import type { IdempotencyKeys } from './stores/idempotency.ts';
import type { Inbox } from './stores/inbox.ts';
import type { InputBus } from './bus/input-bus.ts';
import type { LiveFeed } from './bus/live-feed.ts';
import type { Logins } from './stores/logins.ts';
import type { ParkedThreads } from './stores/parked-threads.ts';
import type { RateLimits } from './world/rate-limits.ts';
import type { RevokedTokens } from './stores/revoked-tokens.ts';
import type { Agents, Secrets, ToolServers, Toolsets } from './registry/registry.ts';
import type { Snapshots } from './log/snapshots.ts';
import type { TenantLog } from './log/tenant-log.ts';
import type { ThreadDirectory } from './log/thread-directory.ts';
import type { ThreadLog } from './log/thread-log.ts';
import type { ToolActivity } from './stores/tool-activity.ts';
import type { Timers } from './bus/timers.ts';
import type { Views } from './stores/views.ts';
import type { WorkBus } from './bus/work-bus.ts';

export interface Stores {
  readonly log: ThreadLog;
  readonly tenantLog: TenantLog;
  readonly inputs: InputBus;
  readonly work: WorkBus;
  readonly snapshots: Snapshots;
  readonly timers: Timers;
  readonly directory: ThreadDirectory;
  readonly ledger: DispatchLedger;
  readonly blobs: Blobs;
  readonly agents: Agents;
  readonly toolServers: ToolServers;
  readonly toolsets: Toolsets;
  readonly secrets: Secrets;
  readonly idempotency: IdempotencyKeys;
  readonly apiKeys: ApiKeys;
  readonly revokedTokens: RevokedTokens;
  readonly auditLog: AuditLog;
  readonly dedup: Dedup;
  readonly feed: LiveFeed;
  readonly parked: ParkedThreads;
  readonly rates: RateLimits;
  readonly views: Views;
  readonly inbox: Inbox;
  readonly logins: Logins;
  readonly toolActivity: ToolActivity;
  readonly callbackCounts: CallbackCounts;
}
