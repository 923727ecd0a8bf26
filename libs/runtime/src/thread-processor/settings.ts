// The limits and delays of a thread-processor, each with its unit in its name.
export const defaultProcessorSettings = {
  /** Estimated memory of all cached thread states together. */
  cacheBytesMax: 64 * 1024 * 1024,
  /** Estimated memory of all histories that children and forks begin with. */
  historyBytesMax: 32 * 1024 * 1024,
  /** Messages of one thread kept in memory; a completion that needs older ones reads them from the log. */
  transcriptBytesMax: 4 * 1024 * 1024,
  /** Inputs that one commit may decide. */
  inputsPerSliceMax: 32,
  /** Estimated size of a commit above which it takes no further input; one input alone is bounded by its own limits. */
  commitBytesMax: 4 * 1024 * 1024,
  /** Queued inputs above which the process takes no more; of one thread a share counts. Twice as many is the limit. */
  queuedInputsMax: 10_000,
  /** The share of one thread in `queuedInputsMax`. */
  queuedInputsPerThreadMax: 1_000,
  /** The share of one tenant in `queuedInputsMax`. */
  queuedInputsPerTenantMax: 5_000,
  /** Slices under way at once: enough for groups of commits, few enough for a short round of tenants. */
  slicesInFlightMax: 48,
  /** Threads that are paid again at once, of those with inputs that were given to an earlier owner. */
  repaymentsInFlightMax: 48,
  snapshotEveryEvents: 200,
  snapshotBytes: 1024 * 1024,
  /** Commits read at once while a thread is loaded. */
  loadPageCommits: 500,
  groupCommitsMax: 512,
  groupBytesMax: 8 * 1024 * 1024,
  /** Groups of commits at the store at once. */
  groupsInFlightMax: 2,
  retryDelayMsFirst: 20,
  retryDelayMsMax: 5_000,
  /** Attempts after which a slice that throws is called poison. */
  poisonAttempts: 5,
  poisonDelayMs: 60_000,
  /** How long a thread meets Faults, while others pass, until it is parked: longer than a server takes to come back. */
  ownFaultAfterMs: 900_000,
  /** The same of a thread whose share of the queue is full. */
  ownFaultAfterMsCrowded: 60_000,
  /** How often a process looks for threads that an earlier version has parked and that it can decide. */
  knownAgainCheckMs: 10_000,
  modelStartTimeoutMs: 60_000,
  modelStallTimeoutMs: 120_000,
  modelRetryDelayMsFirst: 1_000,
  modelRetryDelayMsMax: 30_000,
  modelRetryTotalMs: 600_000,
  /** Hard limit of one completion, retries and waiting included: it holds its deliveries that long. */
  completionMsMax: 1_800_000,
  /** Characters of one completion's text, reasoning, arguments, ids and names: above any model, within any store. */
  completionBytesMax: 2 * 1024 * 1024,
  completionsInFlightMax: 2_000,
  /** Completions that wait for one of those places; one more fails, and may be retried. */
  completionsWaitingMax: 50_000,
  /** How long a completion runs on after its partition was taken away: the partition may come back. */
  leftCompletionMsMax: 30_000,
  /** How often running completions are checked for timeouts, all at once. */
  completionCheckMs: 1_000,
  /** Longest sleep between two looks at the timers: how late a jump of the clock may be noticed. */
  timerPollMs: 1_000,
  timersFiringMax: 500,
  /** How long a thread rests before its row is written, and how often that is looked at. */
  projectionDelayMs: 100,
  /** How long lists may lag behind a thread that changes all the time. */
  projectionDelayMsMax: 1_000,
  projectionsPerBatchMax: 500,
};

export type ProcessorSettings = Readonly<typeof defaultProcessorSettings>;
