// What an installation may tune about sending to tool servers. Every number has its unit last.
export const defaultDispatcherSettings = {
  /** How long one POST may take, connection included. */
  ackTimeoutMs: 10_000,
  /** From the first attempt on. */
  retryTotalMs: 600_000,
  retryFirstMs: 1_000,
  retryMaxMs: 60_000,
  /** How long a result may still win over "outcome unknown". */
  unknownOutcomeGraceMs: 30_000,
  discoveryTimeoutMs: 5_000,
  manifestBytesMax: 524_288,
  /** How long a tool server may take to move what it keeps for a family. */
  migrationTimeoutMs: 120_000,
  /** Concurrent POSTs to one server. */
  perServerConcurrentMax: 128,
  /** Calls in memory, waiting ones included. One server may use as many as all others leave free. */
  callsHeldMax: 16_384,
  /** `failuresMax`: failures in a row before the next attempt is held back. */
  breaker: { failuresMax: 5, holdFirstMs: 1_000, holdMaxMs: 30_000 },
  /** How long a registration is used before it is read again. */
  registrationTtlMs: 1_000,
};

export type DispatcherSettings = Readonly<typeof defaultDispatcherSettings>;
