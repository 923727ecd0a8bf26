// The behaviour that an agent version fixes for its threads. Copied into `ThreadOpened`, so that a log explains itself
// for ever, whatever happens to the agent later.

export type InterruptPolicy = 'cancel' | 'keep' | 'queue' | 'reject';
export type ApprovalMode = 'none' | 'destructive' | 'all';
/** `TeamApproval`: always, and by whom. */
export type ToolApproval = 'always' | 'never' | TeamApproval;

/** Spelt as in the API: what is named by tools is handed on untouched. */
export interface TeamApproval {
  readonly mode: 'always';
  /** Credentials that must allow the call; default 1. */
  readonly approvals_needed?: number;
  /** Labels of the people whose task it is. */
  readonly assignees?: readonly string[];
}

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
  /** Calls of a thread that are open at once; one more is answered with an error. */
  pendingCallsMax: 128,
  /** Calls in one answer of the model; an answer with more counts as failed. */
  callsPerAnswerMax: 128,
  /** Messages that wait for their turn; one more is refused with `QUEUE_FULL`. */
  queuedMessagesMax: 1_000,
  /** How often in a row the model may ask for the same call with the same arguments. */
  sameCallRepeatsMax: 5,
  /** Bytes of JSON of the arguments of one call; larger ones are answered with an error. */
  argumentsBytesMax: 1_048_576,
  /** Different callbacks of one call that cannot be used; with the last of them the call ends with an error. */
  rejectedCallbacksMax: 5,
  /** Milliseconds that an approval waits for a person; then it is denied. */
  approvalDeadlineMs: 86_400_000,
  /** Subscriptions of a thread; one more is answered with an error and a cancel notice. */
  subscriptionsMax: 50,
  /** Events of one call that came before the confirmation of its subscription. */
  heldEventsMax: 100,
  /** Above this, an event is recorded and wakes the thread together with the others of its minute. */
  eventsPerMinuteMax: 60,
  /**
   * Children of a root that are open at once; a tenth of it one generation down, and at least one: this bounds a
   * family, whatever its models do.
   */
  openChildrenMax: 100,
  /** Events that wait for a child; above this they are taken inline, because none is dropped. */
  queuedEventsMax: 1_000,
  /** Events that wait for a child, in characters of JSON: a thread's state stays small enough to be stored. */
  queuedCharactersMax: 4_194_304,
  /** Events that one child takes when wakes are merged. */
  eventsPerChildMax: 64,
  /** The same in characters of JSON; the first event is always taken. */
  charactersPerChildMax: 262_144,
  /** Children that one commit opens for queued events; the others follow a second later. */
  childrenPerCommitMax: 8,
  /** Characters of what a thread sends to a child or its parent. */
  familyCharactersMax: 262_144,
  /** Characters of JSON of all events together that came before their confirmations. */
  heldCharactersMax: 1_048_576,
  /** Generations below a root. */
  depthMax: 5,
  /** Milliseconds in which turns that the family or the thread begins (reports, messages, sleeps) share one count. */
  ownTurnsWindowMs: 600_000,
  /** Longest sleep in milliseconds, and how far a schedule looks ahead. */
  sleepMsMax: 5 * 366 * 86_400_000,
  /** Schedules of a thread. */
  schedulesMax: 20,
  /** Characters of a title that the model sets. */
  titleCharactersMax: 200,
} as const;

/** Children that may be open at once, this many generations below the root. */
export const openChildrenMaxAt = (depth: number): number =>
  Math.max(1, Math.floor(threadLimits.openChildrenMax / 10 ** depth));
