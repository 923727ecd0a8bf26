// The behaviour that an agent version fixes for its threads. Copied into `ThreadOpened`, so that a log explains itself
// for ever, whatever happens to the agent later.

export type InterruptPolicy = 'cancel' | 'keep' | 'queue' | 'reject';
export type ApprovalMode = 'none' | 'destructive' | 'all';
export type ToolApproval = 'always' | 'never';

export interface Policies {
  /** What a user message does to calls that are pending. */
  readonly onInterrupt: InterruptPolicy;
  /** The same for calls that wait for a person (approval, choice, login). */
  readonly onInterruptHuman: InterruptPolicy;
  readonly eventStyle: 'kind' | 'reserved';
  readonly eventChildren: 'close_when_idle' | 'keep';
  readonly approve: { readonly mode: ApprovalMode; readonly tools: Readonly<Record<string, ToolApproval>> };
  readonly cancelSubscriptionsOnClose: boolean;
}

export interface Limits {
  readonly completionsPerWakeMax: number;
  /** Milliseconds a call may stay pending, by tool name; `default` for the others, null for ever. */
  readonly toolTimeoutMs: Readonly<Record<string, number | null>>;
  readonly tokensPerDayMax: number | null;
  readonly eventWaitMsMax: number;
  readonly callbackTtlS: number | null;
}

export const defaultPolicies: Policies = {
  onInterrupt: 'cancel',
  onInterruptHuman: 'keep',
  eventStyle: 'kind',
  eventChildren: 'close_when_idle',
  approve: { mode: 'destructive', tools: {} },
  cancelSubscriptionsOnClose: false,
};

export const defaultLimits: Limits = {
  completionsPerWakeMax: 50,
  toolTimeoutMs: { default: null },
  tokensPerDayMax: null,
  eventWaitMsMax: 60_000,
  callbackTtlS: null,
};

/** Limits of the runtime itself, the same for every agent. */
export const threadLimits = {
  pendingCallsMax: 128,
  /** Calls in one answer of the model; an answer with more counts as failed. */
  callsPerAnswerMax: 128,
  queuedMessagesMax: 1_000,
  sameCallRepeatsMax: 5,
  argumentsBytesMax: 1_048_576,
  rejectedCallbacksMax: 5,
  approvalDeadlineMs: 86_400_000,
  subscriptionsMax: 50,
  /** Events of one call that came before the confirmation of its subscription. */
  heldEventsMax: 100,
  /** Above this, an event is recorded and wakes the thread together with the others of its minute. */
  eventsPerMinuteMax: 60,
  /** For a root; a tenth of it one generation down, and at least one: this bounds a family, whatever its models do. */
  openChildrenMax: 100,
  /** Events that wait for a child; above this they are taken inline, because none is dropped. */
  queuedEventsMax: 1_000,
  /** The same in characters of JSON: a thread's state stays small enough to be stored. */
  queuedCharactersMax: 4_194_304,
  /** Events that one child takes when wakes are merged, and their characters of JSON; the first is always taken. */
  eventsPerChildMax: 64,
  charactersPerChildMax: 262_144,
  /** Children that one commit opens for queued events; the others follow a second later. */
  childrenPerCommitMax: 8,
  /** Characters of what a thread sends to a child or its parent. */
  familyCharactersMax: 262_144,
  /** Characters of JSON of all events together that came before their confirmations. */
  heldCharactersMax: 1_048_576,
  /** Generations below a root. */
  depthMax: 5,
  /** For this long, turns that the family or the thread itself begins (reports, messages, sleeps) share one count. */
  ownTurnsWindowMs: 600_000,
  /** Longest sleep, and how far a schedule looks ahead. */
  sleepMsMax: 5 * 366 * 86_400_000,
  schedulesMax: 20,
  titleCharactersMax: 200,
} as const;

/** Children that may be open at once, this many generations below the root. */
export const openChildrenMaxAt = (depth: number): number =>
  Math.max(1, Math.floor(threadLimits.openChildrenMax / 10 ** depth));
