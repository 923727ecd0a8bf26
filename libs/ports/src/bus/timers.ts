// Durable timers. A partition's owner loads what is due; firing is an input with the timer's id, so it counts once.
import type { TenantId } from '@dormouse/thread';
import type { ThreadKey } from '../log/thread-key.ts';

export interface DueTimer extends ThreadKey {
  readonly timerId: string;
  /** Milliseconds since the epoch. */
  readonly due: number;
}

export interface Timers {
  /** Idempotent by `(tenant, thread, timerId)`: the first due time stays. Resolves when durable. */
  set(timers: readonly DueTimer[]): Promise<void>;
  /** Timers with `due <= now`, oldest first; none of the tenants in `without`. */
  due(now: number, limit: number, without?: readonly TenantId[]): Promise<readonly DueTimer[]>;
  /** The earliest due time, or null when there is none. */
  next(): Promise<number | null>;
  drop(timers: readonly DueTimer[]): Promise<void>;
}
