// The probe's answer. Types only: nothing here runs.

/** `<caller>: <SQL>` → executions. */
export type StatementCounts = Record<string, number>;

export interface ProbeAnswer {
  readonly statements: StatementCounts;
  /** Timers created and not yet destroyed, unreferenced ones included. */
  readonly timersAlive: number;
  readonly resources: Readonly<Record<string, number>>;
  readonly memory: { readonly rss: number; readonly heapUsed: number; readonly external: number };
}

/** Since the question that began each of them. */
export interface AllocationAnswer {
  /** Estimated from samples. */
  readonly allocatedBytes: number;
  readonly promises: number;
}
