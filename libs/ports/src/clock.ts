// Time, as an argument. The development clock and the simulator move it.
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `ring`, which must not throw, once after `ms`, unless what is returned was called before: cheaper than a sleep.
   * For days and less: a clock may ring earlier than in weeks. */
  alarm(ms: number, ring: () => void): () => void;
}
