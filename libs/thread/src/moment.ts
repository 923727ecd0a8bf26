// What a decision may know besides the thread and the input: the time, fresh ids, and the model's output so far.

export type IdPrefix = 'call' | 'cmp' | 'chc' | 'tmr' | 'tsl' | 'thr' | 'mig';

/** The part of a running completion that people have already seen. */
export interface Streamed {
  readonly completionId: string;
  readonly text: string;
  readonly reasoning: string;
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
}
