// Everything that may happen to a thread. An input is a noun: a request that can be refused, not yet a fact.
//
// Invariants:
//   N1. `id` is unique inside a thread and is the dedup key: two inputs with one id are one input.
//   N2. Client inputs (`UserMessage`, `ExternalEvent`, every `…Request`, `ChoiceAnswer`) are always decided by a
//       commit, if need be with a recorded refusal; the others may be refused without one, but only for a stable
//       reason. (V3)
import type { Content, DisplaySegment } from './content.ts';
import type { Limits, Policies } from './policy.ts';
import type { LoadedToolset, RejectedToolset, WithheldTool } from './toolset.ts';

/** `id` is the dedup key. (N1) */
interface Input<Kind extends string> {
  readonly kind: Kind;
  readonly id: string;
}

/** (N2) */
interface ClientRequest<Kind extends string> extends Input<Kind> {
  readonly requestId: string;
}

export interface AgentReference {
  readonly name: string;
  readonly version: number;
}

/** The agent version as the thread uses it. */
export interface OpeningAgent extends AgentReference {
  /** The model's name for people, as in `completion_requested`. */
  readonly model: string;
  readonly toolServers: readonly string[];
  readonly policies: Policies;
  readonly limits: Limits;
}

/** Why a child thread exists; for an event with the call that subscribed, so that the child's log explains itself. */
export type SpawnedBy =
  | {
      readonly kind: 'event';
      readonly toolCallId: string;
      readonly operation: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'call'; readonly toolCallId: string };

/** What a child begins with: its place in the family, the family's tools, and why it was spawned. */
export interface Childhood {
  /** Its history begins with the parent's events 1..position, by reference. */
  readonly parent: ThreadPosition;
  /** Root → parent. R12 */
  readonly ancestors: readonly string[];
  readonly spawnedBy: SpawnedBy;
  readonly toolsets: readonly LoadedToolset[];
  /** Base URLs of the family’s tool servers, if they were migrated. */
  readonly baseUrls?: Readonly<Record<string, string>>;
  readonly events: readonly ArrivedEvent[];
  readonly instructions: string | null;
}

export interface ThreadPosition {
  readonly threadId: string;
  readonly position: number;
}

/** One event of a subscription as its tool server sent it. */
export interface ArrivedEvent {
  readonly toolCallId: string;
  readonly eventId: string | null;
  readonly content: Content;
  readonly final: boolean;
}

export interface ReceivedEvent extends ArrivedEvent {
  /** True: into this thread; false: into a child of its own. R73, R74 */
  readonly associative: boolean;
}

export interface ThreadOpening extends Input<'ThreadOpening'> {
  readonly agent: OpeningAgent;
  readonly userId: string | null;
  readonly title: string | null;
  readonly message: { readonly messageId: string; readonly content: Content } | null;
  /** Absent for a root thread. */
  readonly child?: Childhood;
  /** Its history begins with that of another thread; it is the root of a family of its own. */
  readonly fork?: { readonly from: ThreadPosition; readonly askAgain: boolean };
  /** W3C `traceparent` of what caused it; nothing is decided by it. */
  readonly link?: string;
}

export interface ArrivedMessage {
  readonly messageId: string;
  readonly content: Content;
  /** Absent for a message that a client has sent. */
  readonly source?: MessageSource;
  /** Absent for a message that no schedule of the tenant has sent. */
  readonly schedule?: MessageSchedule;
}

export interface UserMessage extends Input<'UserMessage'>, ArrivedMessage {}

/** A schedule of the tenant, and for which of its times the message is. */
export interface MessageSchedule {
  /** The name of the schedule. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly scheduledFor: number;
  /** Earlier times that were missed. */
  readonly missed: number;
}

/** A source of signed deliveries, and which of its deliveries the message is. */
export interface MessageSource {
  /** The name of the source. */
  readonly name: string;
  readonly deliveryId: string;
}

export interface InterruptRequest extends ClientRequest<'InterruptRequest'> {
  readonly includeHuman: boolean;
}

export type RetryRequest = ClientRequest<'RetryRequest'>;

export type CloseRequest = ClientRequest<'CloseRequest'>;

/** What an erasure was asked for; `event`: a single event whose own content is gone. */
export type ErasedScope = 'thread' | 'family' | 'user' | 'inherited' | 'event';

/** The contents of this closed thread go, or those that it inherits. */
export interface ContentErasure extends Input<'ContentErasure'> {
  readonly scope: Exclude<ErasedScope, 'event'>;
  /** The id of the erasure. */
  readonly certificate: string;
}

export interface CancelCallRequest extends ClientRequest<'CancelCallRequest'> {
  readonly toolCallId: string;
}

/** The thread has rested for as long as its tenant keeps threads: it is closed, if it still rests. */
export interface RetentionEnd extends Input<'RetentionEnd'> {
  /** Milliseconds since the epoch: a thread with an event of this time or later does not rest. */
  readonly restingSince: number;
}

/** Fetch the manifests of the thread's tool servers again. */
export type RefreshToolsetsRequest = ClientRequest<'RefreshToolsetsRequest'>;

export interface CancelSubscriptionRequest extends ClientRequest<'CancelSubscriptionRequest'> {
  readonly toolCallId: string;
}

/** Use these tool servers at other addresses from now on, all or none. R101–R103 */
export interface MigrationRequest extends ClientRequest<'MigrationRequest'> {
  /** Base URL of the destination by name. */
  readonly toolServers: Readonly<Record<string, string>>;
}

export interface ScheduleRequest extends ClientRequest<'ScheduleRequest'> {
  readonly scheduleId: string;
  readonly schedule: Schedule;
}

export interface UnscheduleRequest extends ClientRequest<'UnscheduleRequest'> {
  readonly scheduleId: string;
}

/** Something has happened outside that is no tool server's to tell. */
export interface ExternalEvent extends ClientRequest<'ExternalEvent'> {
  /** Where it has happened, in the words of its sender. */
  readonly source: string;
  /** The sender's id; an event of one source with one id is one event. */
  readonly eventId: string | null;
  readonly content: Content;
  /** True: into this thread; false: into a child of its own, where one may be opened. */
  readonly associative: boolean;
}

/** A message that a clock sends repeatedly. */
export interface Schedule {
  /** Five or six fields, as in cron. */
  readonly cron: string;
  /** IANA name, for example `Europe/Vienna`. */
  readonly timeZone: string;
  readonly message: string;
  /** What happens to missed times of the schedule: nothing, or one late message. */
  readonly missed: 'skip' | 'once';
}

export type ApprovalDecision = 'allow' | 'deny' | 'allow_for_thread';

/** For an approval a decision, for a tool's choice an index; `dismiss` takes the default of either. */
export type Answer =
  | { readonly answer: 'decision'; readonly decision: ApprovalDecision }
  | { readonly answer: 'selected'; readonly selected: number }
  | { readonly answer: 'dismiss' };

export interface ChoiceAnswer extends ClientRequest<'ChoiceAnswer'> {
  readonly choiceId: string;
  readonly answer: Answer;
  readonly reason: string | null;
  readonly decidedBy: string | null;
  /** Only with the decision `allow`: other arguments than the model's. Absent in inputs of earlier releases. */
  readonly edit?: ArgumentsEdit;
  /**
   * Names what answers: a key, a link, or the user of a token. Two approvals of one credential are one. Absent in
   * inputs of earlier releases.
   */
  readonly credential?: string;
  /** The credential is good for one answer. */
  readonly once?: true;
  /** SHA-256 of the JSON of the arguments that were shown; absent where it does not matter. */
  readonly shown?: string;
}

/** From now on the choice is the task of these people. */
export interface AssignmentRequest extends ClientRequest<'AssignmentRequest'> {
  readonly choiceId: string;
  readonly assignees: readonly string[];
  readonly by: string;
}

export interface ArgumentsEdit {
  readonly arguments: Readonly<Record<string, unknown>>;
  /** SHA-256 of the JSON of the arguments that were shown. */
  readonly of: string;
}

/** The dispatcher's result of fetching the manifests of the thread's tool servers. */
export interface ToolsetsResult extends Input<'ToolsetsResult'> {
  readonly loadId: string;
  readonly toolsets: readonly LoadedToolset[];
  readonly withheld: readonly WithheldTool[];
  readonly rejected: readonly RejectedToolset[];
}

/** The dispatcher's result of a migration; no problems means that every server is ready at its destination. */
export interface MigrationResult extends Input<'MigrationResult'> {
  readonly migrationId: string;
  /** Servers that had state to move, and moved it. */
  readonly migrated: readonly string[];
  readonly problems: readonly string[];
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error' | 'other';

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One tool call as the model requested it. `providerCallId` is the provider's id and has no meaning here. */
export interface RequestedCall {
  readonly providerCallId: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Why the arguments cannot be sent (not an object, against the schema, too large); null when they can. */
  readonly problem: string | null;
}

/** The answer of a completion. Result and failure share the id `m:<completion>`. (V2) */
export interface CompletionResult extends Input<'CompletionResult'> {
  readonly completionId: string;
  readonly text: string;
  readonly reasoning: string | null;
  readonly toolCalls: readonly RequestedCall[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
}

export interface CompletionFailure extends Input<'CompletionFailure'> {
  readonly completionId: string;
  readonly code: string;
  readonly detail: string;
  readonly retryable: boolean;
}

export interface ToolResult extends Input<'ToolResult'> {
  readonly toolCallId: string;
  /** From the callback token; a result cannot settle another server's call. */
  readonly toolServer: string;
  readonly content: Content;
  readonly displayAs: readonly DisplaySegment[] | null;
  readonly subscription: boolean;
}

/** Something happened that a call subscribed to. RAP subscription-events. */
export interface SubscriptionEvent extends Input<'SubscriptionEvent'>, ReceivedEvent {
  readonly toolServer: string;
}

/** A tool asks a person something. */
interface Prompt<Kind extends string> extends Input<Kind> {
  readonly toolCallId: string;
  readonly toolServer: string;
  /** Hash of the question; null when the sender's message id distinguishes repetitions. (person Q3) */
  readonly question: string | null;
  /** Milliseconds since the epoch; then the sealed URL of a login is gone, and the default of a choice is taken. */
  readonly expiresAt: number;
}

/** A call waits for its user to log in; the URL is sealed elsewhere and never here. RAP oauth. */
export type LoginPrompt = Prompt<'LoginPrompt'>;

/** A call asks a person to choose. RAP user-choice. */
export interface ChoicePrompt extends Prompt<'ChoicePrompt'> {
  readonly prompt: string;
  readonly choices: readonly string[];
  readonly default: number;
  /** The tool's URL that receives the answer, sealed. */
  readonly answerTo: string;
}

/** The answer to a choice could not be delivered to its tool server. */
export interface ChoiceAnswerFailure extends Input<'ChoiceAnswerFailure'> {
  readonly toolCallId: string;
  readonly detail: string;
}

/** A child reports, or sends its final report. */
export interface ChildReport extends Input<'ChildReport'> {
  readonly childId: string;
  readonly report: Content;
  readonly closed: boolean;
}

export interface ParentMessage extends Input<'ParentMessage'> {
  readonly parentId: string;
  readonly content: Content;
}

/** The dispatcher gives up on a call. `unknown` is the at-most-once call that may have run. */
export interface DispatchFailure extends Input<'DispatchFailure'> {
  readonly toolCallId: string;
  readonly outcome: 'error' | 'unknown';
  readonly code: string;
  readonly detail: string;
}

/** The code of a call that was not sent because its user's credential could not be refreshed. */
export const credentialRefreshFailed = 'CREDENTIAL_REFRESH_FAILED';

/** A callback with a valid token and an unacceptable body. `settles` carries the error for the model. */
export interface CallbackRejection extends Input<'CallbackRejection'> {
  readonly toolCallId: string;
  readonly reason: string;
  /** True for a `tool_result` that is too large or undecodable: tools do not retry a 4xx. */
  readonly settles: boolean;
  readonly code: string;
}

export interface TimerFiring extends Input<'TimerFiring'> {
  readonly timerId: string;
  /** Milliseconds since the epoch. */
  readonly scheduledFor: number;
}

export type ClientInput =
  | UserMessage
  | InterruptRequest
  | RetryRequest
  | CloseRequest
  | CancelCallRequest
  | CancelSubscriptionRequest
  | RefreshToolsetsRequest
  | MigrationRequest
  | ScheduleRequest
  | UnscheduleRequest
  | ExternalEvent
  | AssignmentRequest
  | ChoiceAnswer;

export type ThreadInput =
  | ThreadOpening
  | ClientInput
  | ToolsetsResult
  | MigrationResult
  | CompletionResult
  | CompletionFailure
  | ToolResult
  | SubscriptionEvent
  | LoginPrompt
  | ChoicePrompt
  | ChoiceAnswerFailure
  | DispatchFailure
  | CallbackRejection
  | ChildReport
  | ParentMessage
  | RetentionEnd
  | ContentErasure
  | TimerFiring;

/** Ids of inputs that the protocol itself names. The others come with the client's request. */
export const inputIds = {
  opening: (thread: string): string => `open:${thread}`,
  completion: (completionId: string): string => `m:${completionId}`,
  result: (toolCallId: string): string => `r:${toolCallId}`,
  /** For a result that subscribes. When it comes late it is judged by other rules, so it has its own name. (V3) */
  confirmation: (toolCallId: string): string => `rs:${toolCallId}`,
  dispatchFailure: (toolCallId: string): string => `d:${toolCallId}`,
  callbackRejection: (toolCallId: string, bodyHash: string): string => `x:${toolCallId}:${bodyHash}`,
  toolsets: (loadId: string): string => `ts:${loadId}`,
  timer: (timerId: string): string => `t:${timerId}`,
  migration: (migrationId: string): string => `mg:${migrationId}`,
  /** `leavingAt`: since when its removal is wanted, as a text. */
  retentionEnd: (leavingAt: string): string => `re:${leavingAt}`,
  /** `eventId` is the sender's, or random: without one an event may come twice. I-13 */
  subscriptionEvent: (toolCallId: string, eventId: string): string => `e:${toolCallId}:${eventId}`,
  /** `message` is the hash of the sender's message id, or random, as in `userChoice`. R94 */
  login: (toolCallId: string, message: string): string => `o:${toolCallId}:${message}`,
  userChoice: (toolCallId: string, message: string): string => `q:${toolCallId}:${message}`,
  choiceAnswerFailure: (choiceId: string): string => `qf:${choiceId}`,
  /** `occasion` is the reporting call, or `closed` for the final report. I-18 */
  childReport: (childId: string, occasion: string): string => `k:${childId}:${occasion}`,
  parentMessage: (toolCallId: string): string => `p:${toolCallId}`,
  erasure: (erasureId: string): string => `er:${erasureId}`,
} as const;
