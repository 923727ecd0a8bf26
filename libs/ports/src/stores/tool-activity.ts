// What processes saw of tool servers, in rows of one minute: how POSTs ended, how long acknowledgements and callbacks
// took, and the breaker. Written in batches off the path; a hint for operators, never a decision.
//
// Contract (contracts/tool-activity.contract.ts):
//   Y1. A row belongs to one reporter. Putting it again replaces it, so that a repeated write counts nothing twice;
//       rows of several reporters stand beside each other.
//   Y2. `read` answers the rows of one tool server of one tenant that began at a time or later, and no others.
//   Y3. The latest discovery stays, in whatever order discoveries are put.
//   Y4. After `forget` nothing is known of a tool server.
//   Y5. A row may be deleted once it is older than `activityKeptMs`; until then it outlives its process.
import type { TenantId } from '@dormouse/thread';

/** The state of a gate's breaker; `half_open`: one attempt tests the server. */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** How a POST can fail. `4xx` has redirects, too: none is followed. */
export const postErrors = ['5xx', 'resets', 'timeouts', '4xx'] as const;
export type PostError = (typeof postErrors)[number];

/** Counts by number of bucket; a bucket that is absent is 0. */
export type BucketCounts = Readonly<Record<string, number>>;

export interface ActivityCounts {
  readonly acks: BucketCounts;
  readonly callbacks: BucketCounts;
  readonly errors: Readonly<Partial<Record<PostError, number>>>;
}

export interface ActivityRow {
  readonly tenant: TenantId;
  /** Id, not name: a name may be given again. */
  readonly toolServerId: string;
  /** One process in one life. */
  readonly reporter: string;
  /** Milliseconds since the epoch; a full minute. */
  readonly from: number;
  /** Of this minute so far. */
  readonly counts: ActivityCounts;
  /** As it was at `writtenAt`; null where the reporter has no gate. */
  readonly breaker: BreakerState | null;
  readonly writtenAt: number;
}

export interface Discovery {
  readonly tenant: TenantId;
  readonly toolServerId: string;
  readonly at: number;
}

export interface KnownActivity {
  readonly rows: readonly ActivityRow[];
  /** When a valid manifest was last fetched; null for never. */
  readonly discoveredAt: number | null;
}

export const activityKeptMs = 26 * 3_600_000;

export interface ToolActivity {
  /** Resolves when durable. */
  put(rows: readonly ActivityRow[], discoveries: readonly Discovery[]): Promise<void>;
  read(tenant: TenantId, toolServerId: string, from: number): Promise<KnownActivity>;
  forget(tenant: TenantId, toolServerId: string): Promise<void>;
}
