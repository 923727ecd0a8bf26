// Snapshots: a thread's state at some version, so that a load need not fold everything. May be lost at any moment. I-17
import type { ThreadKey } from './thread-key.ts';

export interface Snapshot {
  /** Events folded. */
  readonly version: number;
  /** Shape of `state`; a snapshot of another shape is ignored. */
  readonly shape: number;
  /** JSON. */
  readonly state: string;
}

export interface Snapshots {
  latest(key: ThreadKey): Promise<Snapshot | null>;
  /** Keeps the newest; best effort, not awaited by the hot path. */
  put(key: ThreadKey, snapshot: Snapshot): Promise<void>;
}
