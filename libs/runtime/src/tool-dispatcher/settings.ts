// What an installation may tune about sending to tool servers. Every number has its unit last.
export interface DispatcherSettings {
  /** How long one POST may take, connection included. */
  readonly ackTimeoutMs: number;
  /** From the first attempt on. */
  readonly retryTotalMs: number;
  readonly retryFirstMs: number;
  readonly retryMaxMs: number;
  /** How long a result may still win over "outcome unknown". */
  readonly unknownOutcomeGraceMs: number;
  readonly discoveryTimeoutMs: number;
  readonly manifestBytesMax: number;
  /** How long a tool server may take to move what it keeps for a family. */
  readonly migrationTimeoutMs: number;
  /** Concurrent POSTs to one server. */
  readonly perServerConcurrentMax: number;
  /** Calls in memory, waiting ones included. One server may use as many as all others leave free. */
  readonly callsHeldMax: number;
  readonly breaker: BreakerSettings;
  /** How long a registration is used before it is read again. */
  readonly registrationTtlMs: number;
}

export interface BreakerSettings {
  /** Failures in a row before the next attempt is held back. */
  readonly failuresMax: number;
  readonly holdFirstMs: number;
  readonly holdMaxMs: number;
}

export const defaultDispatcherSettings: DispatcherSettings = {
  ackTimeoutMs: 10_000,
  retryTotalMs: 600_000,
  retryFirstMs: 1_000,
  retryMaxMs: 60_000,
  unknownOutcomeGraceMs: 30_000,
  discoveryTimeoutMs: 5_000,
  manifestBytesMax: 524_288,
  migrationTimeoutMs: 120_000,
  perServerConcurrentMax: 128,
  callsHeldMax: 16_384,
  breaker: { failuresMax: 5, holdFirstMs: 1_000, holdMaxMs: 30_000 },
  registrationTtlMs: 1_000,
};
