// The messages between the bench and the processes it starts. Types only: nothing here runs.

/** A thread of a contestant, as a target to post to. `{token}` stands for a text that is new with every request. */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  /** What the body of the answer must contain. */
  readonly expect: string;
  /** After this many requests the lane goes on to its next target. */
  readonly turnsMax: number;
}

export interface DriverJob {
  readonly targets: readonly Target[];
  /** Requests in flight at once; each lane works through its own targets one after another. Default: one per target. */
  readonly concurrency?: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** Continues after wrong answers and counts them; otherwise a run with errors is not a measurement. */
  readonly toleratesErrors?: boolean;
}

export interface DriverResult {
  /** Of the requests that ended inside the measured time. */
  readonly latenciesMs: readonly number[];
  /** All requests that were answered, those of the warm-up included. */
  readonly turns: number;
  /** Measured time: shorter than requested when all targets had their turns. */
  readonly seconds: number;
  readonly errorCount: number;
  readonly errors: readonly string[];
}

/** What the tool server has counted since it was started. */
export interface ToolCounts {
  readonly invocations: number;
  /** Of them, those that are never answered. */
  readonly held: number;
  readonly callbacks: number;
  readonly callbacksRefused: number;
  readonly others: number;
}

export type CollectorBehaviour = 'well' | 'away' | 'slow' | 'failing' | 'silent';

/** What the collector has accepted since it was started. */
export interface CollectorCounts {
  readonly spans: number;
  readonly requests: number;
}
