// The limits and delays of a thread-processor, each with its unit in its name. Owns the defaults and nothing else.

export interface ProcessorSettings {
  /** Estimated memory of all cached thread states together. */
  readonly cacheBytesMax: number;
  /** Estimated memory of all histories that children and forks begin with. */
  readonly historyBytesMax: number;
  /** Messages of one thread kept in memory; a completion that needs older ones reads them from the log. */
  readonly transcriptBytesMax: number;
  /** Inputs that one commit may decide. */
  readonly inputsPerSliceMax: number;
  /** Estimated size of a commit above which it takes no further input; one input alone is bounded by its own limits. */
  readonly commitBytesMax: number;
  /** Queued inputs above which the process takes no more; of one thread a share counts. Twice as many is the limit. */
  readonly queuedInputsMax: number;
  /** The share of one thread in `queuedInputsMax`. */
  readonly queuedInputsPerThreadMax: number;
  /** The share of one tenant in `queuedInputsMax`. */
  readonly queuedInputsPerTenantMax: number;
  /** Slices under way at once: enough for groups of commits, few enough for a short round of tenants. */
  readonly slicesInFlightMax: number;
  /** Threads that are paid again at once, of those with inputs that were given to an earlier owner. */
  readonly repaymentsInFlightMax: number;
  readonly snapshotEveryEvents: number;
  readonly snapshotBytes: number;
  /** Commits read at once while a thread is loaded. */
  readonly loadPageCommits: number;
  readonly groupCommitsMax: number;
  readonly groupBytesMax: number;
  /** Groups of commits at the store at once. */
  readonly groupsInFlightMax: number;
  readonly retryDelayMsFirst: number;
  readonly retryDelayMsMax: number;
  /** Attempts after which a slice that throws is called poison. */
  readonly poisonAttempts: number;
  readonly poisonDelayMs: number;
  /** How long a thread meets Faults, while others pass, until it is parked: longer than a server takes to come back. */
  readonly ownFaultAfterMs: number;
  /** The same of a thread whose share of the queue is full. */
  readonly ownFaultAfterMsCrowded: number;
  /** How often a process looks for threads that an earlier version has parked and that it can decide. */
  readonly knownAgainCheckMs: number;
  readonly modelStartTimeoutMs: number;
  readonly modelStallTimeoutMs: number;
  readonly modelRetryDelayMsFirst: number;
  readonly modelRetryDelayMsMax: number;
  readonly modelRetryTotalMs: number;
  /** Hard limit of one completion, retries and waiting included: it holds its deliveries that long. */
  readonly completionMsMax: number;
  /** Characters of one completion's text, reasoning, arguments, ids and names: above any model, within any store. */
  readonly completionBytesMax: number;
  readonly completionsInFlightMax: number;
  /** Completions that wait for one of those places; one more fails, and may be retried. */
  readonly completionsWaitingMax: number;
  /** How long a completion runs on after its partition was taken away: the partition may come back. */
  readonly leftCompletionMsMax: number;
  /** How often running completions are checked for timeouts, all at once. */
  readonly completionCheckMs: number;
  /** Longest sleep between two looks at the timers: how late a jump of the clock may be noticed. */
  readonly timerPollMs: number;
  readonly timersFiringMax: number;
  /** How long a thread rests before its row is written, and how often that is looked at. */
  readonly projectionDelayMs: number;
  /** How long lists may lag behind a thread that changes all the time. */
  readonly projectionDelayMsMax: number;
  readonly projectionsPerBatchMax: number;
}

export const defaultProcessorSettings: ProcessorSettings = {
  cacheBytesMax: 64 * 1024 * 1024,
  historyBytesMax: 32 * 1024 * 1024,
  transcriptBytesMax: 4 * 1024 * 1024,
  inputsPerSliceMax: 32,
  commitBytesMax: 4 * 1024 * 1024,
  queuedInputsMax: 10_000,
  queuedInputsPerThreadMax: 1_000,
  queuedInputsPerTenantMax: 5_000,
  slicesInFlightMax: 48,
  repaymentsInFlightMax: 48,
  snapshotEveryEvents: 200,
  snapshotBytes: 1024 * 1024,
  loadPageCommits: 500,
  groupCommitsMax: 512,
  groupBytesMax: 8 * 1024 * 1024,
  groupsInFlightMax: 2,
  retryDelayMsFirst: 20,
  retryDelayMsMax: 5_000,
  poisonAttempts: 5,
  poisonDelayMs: 60_000,
  ownFaultAfterMs: 900_000,
  ownFaultAfterMsCrowded: 60_000,
  knownAgainCheckMs: 10_000,
  modelStartTimeoutMs: 60_000,
  modelStallTimeoutMs: 120_000,
  modelRetryDelayMsFirst: 1_000,
  modelRetryDelayMsMax: 30_000,
  modelRetryTotalMs: 600_000,
  completionMsMax: 1_800_000,
  completionBytesMax: 2 * 1024 * 1024,
  completionsInFlightMax: 2_000,
  completionsWaitingMax: 50_000,
  leftCompletionMsMax: 30_000,
  completionCheckMs: 1_000,
  timerPollMs: 1_000,
  timersFiringMax: 500,
  projectionDelayMs: 100,
  projectionDelayMsMax: 1_000,
  projectionsPerBatchMax: 500,
};
