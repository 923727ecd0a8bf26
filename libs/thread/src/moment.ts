// What a decision may know besides the thread and the input: the time, fresh ids, the model's output so far, and what
// the tenant's quotas allow.

export type IdPrefix = 'call' | 'cmp' | 'chc' | 'tmr' | 'tsl' | 'thr' | 'mig';

/** The part of a running completion that people have already seen. */
export interface Streamed {
  readonly completionId: string;
  readonly text: string;
  readonly reasoning: string;
}

/** A budget of the tenant that is used up. */
export interface UsedUp {
  readonly budget: string;
  readonly used: number;
  readonly limit: number;
}

/** What the tenant's quotas allow now, as far as the process that decides knows. */
export interface TenantQuota {
  /** Null while no budget of the day is used up. */
  spent(): UsedUp | null;
  /** Whether the tenant may open no more of them. */
  isFull(of: 'threads' | 'subscriptions'): boolean;
}

export interface Moment {
  /** Milliseconds since the epoch; never before the thread's last commit. */
  readonly now: number;
  /** An id that is a function of the log: prefix, `now`, and a keyed hash of tenant, thread and this position. */
  mint(prefix: IdPrefix, position: number): string;
  /** SHA-256 in lower-case hex, so that this library needs no platform. */
  sha256(text: string): string;
  /** The first time of this cron line after `after`, epoch milliseconds; null when there is none. Deterministic. */
  nextTime(cron: string, timeZone: string, after: number): number | null;
  /** What the current completion has streamed, when it runs in the process that decides; null after a crash. */
  readonly streamed: Streamed | null;
  /** Absent: the tenant has no quotas. */
  readonly quota?: TenantQuota;
}
