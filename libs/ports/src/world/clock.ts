// Time, as an argument. The development clock and the simulator move it.
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `ring`, which must not throw, once after `ms`, unless the returned function was called before; cheaper than
   * `sleep`. For days and less: a clock may ring earlier than in weeks. */
  alarm(ms: number, ring: () => void): () => void;
}
