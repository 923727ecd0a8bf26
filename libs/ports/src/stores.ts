// Every store and bus of one process, under the names by which services take them. An adapter offers some of them, a
// topology all.
import type { ApiKeys } from './api-keys.ts';
import type { Blobs } from './blobs.ts';
import type { Dedup } from './dedup.ts';
import type { DispatchLedger } from './dispatch-ledger.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { InputBus } from './input-bus.ts';
import type { LiveFeed } from './live-feed.ts';
import type { Logins } from './logins.ts';
import type { ParkedThreads } from './parked-threads.ts';
import type { RateLimits } from './rate-limits.ts';
import type { Agents, Secrets, ToolServers, Toolsets } from './registry.ts';
import type { Snapshots } from './snapshots.ts';
import type { ThreadDirectory } from './thread-directory.ts';
import type { ThreadLog } from './thread-log.ts';
import type { Timers } from './timers.ts';
import type { Views } from './views.ts';
import type { WorkBus } from './work-bus.ts';

export interface Stores {
  readonly log: ThreadLog;
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
  readonly dedup: Dedup;
  readonly feed: LiveFeed;
  readonly parked: ParkedThreads;
  readonly rates: RateLimits;
  readonly views: Views;
  readonly logins: Logins;
}
