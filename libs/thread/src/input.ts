// Everything that may happen to a thread. An input is a noun: a request that can be refused, never yet a fact.
//
// Invariants:
//   N1. `id` is unique inside a thread and is the dedup key: two inputs with one id are one input. design §2.
//   N2. Client inputs (`UserMessage`, every `…Request`, `ChoiceAnswer`) are always decided by a commit, if need be a
//       refusal that is recorded; the others may be refused without one, but only for a stable reason. (V3)
import type { Content, DisplaySegment } from './content.ts';
import type { Limits, Policies } from './policy.ts';
import type { LoadedToolset, RejectedToolset, WithheldTool } from './toolset.ts';

export interface AgentReference {
  readonly name: string;
  readonly version: number;
}

/** The agent version as the thread will live with it. */
export interface OpeningAgent extends AgentReference {
  /** The model's name for people, as in `completion_requested`. */
  readonly model: string;
  readonly toolServers: readonly string[];
  readonly policies: Policies;
  readonly limits: Limits;
}

export interface ThreadOpening {
  readonly kind: 'ThreadOpening';
  readonly id: string;
  readonly agent: OpeningAgent;
  readonly userId: string | null;
  readonly title: string | null;
  readonly message: { readonly messageId: string; readonly content: Content } | null;
}

export interface UserMessage {
  readonly kind: 'UserMessage';
  readonly id: string;
  readonly messageId: string;
  readonly content: Content;
}

export interface InterruptRequest {
  readonly kind: 'InterruptRequest';
  readonly id: string;
  readonly requestId: string;
  readonly includeHuman: boolean;
}

export interface RetryRequest {
  readonly kind: 'RetryRequest';
  readonly id: string;
  readonly requestId: string;
}

export interface CloseRequest {
  readonly kind: 'CloseRequest';
  readonly id: string;
  readonly requestId: string;
}

export interface CancelCallRequest {
  readonly kind: 'CancelCallRequest';
  readonly id: string;
  readonly requestId: string;
  readonly toolCallId: string;
}

export type ApprovalDecision = 'allow' | 'deny' | 'allow_for_thread';

export interface ChoiceAnswer {
  readonly kind: 'ChoiceAnswer';
  readonly id: string;
  readonly requestId: string;
  readonly choiceId: string;
  readonly decision: ApprovalDecision;
  readonly reason: string | null;
  readonly decidedBy: string | null;
}

/** What the dispatcher found when it fetched the manifests of the thread's tool servers. */
export interface ToolsetsResult {
  readonly kind: 'ToolsetsResult';
  readonly id: string;
  readonly loadId: string;
  readonly toolsets: readonly LoadedToolset[];
  readonly withheld: readonly WithheldTool[];
  readonly rejected: readonly RejectedToolset[];
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error' | 'other';

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One tool call as the model asked for it. `providerCallId` is the provider's id and means nothing to us. */
export interface RequestedCall {
  readonly providerCallId: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Why the arguments cannot be sent (not an object, against the schema, too large); null when they can. */
  readonly problem: string | null;
}

/** The answer of a completion. Result and failure share the id `m:<completion>`. (V2) */
export interface CompletionResult {
  readonly kind: 'CompletionResult';
  readonly id: string;
  readonly completionId: string;
  readonly text: string;
  readonly reasoning: string | null;
  readonly toolCalls: readonly RequestedCall[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
}

export interface CompletionFailure {
  readonly kind: 'CompletionFailure';
  readonly id: string;
  readonly completionId: string;
  readonly code: string;
  readonly detail: string;
  readonly retryable: boolean;
}

export interface ToolResult {
  readonly kind: 'ToolResult';
  readonly id: string;
  readonly toolCallId: string;
  /** From the callback token; a call of another server is not settled by it. */
  readonly toolServer: string;
  readonly content: Content;
  readonly displayAs: readonly DisplaySegment[] | null;
  readonly subscription: boolean;
}

/** The dispatcher gives up on a call. `unknown` is the at-most-once call that may have run. */
export interface DispatchFailure {
  readonly kind: 'DispatchFailure';
  readonly id: string;
  readonly toolCallId: string;
  readonly outcome: 'error' | 'unknown';
  readonly code: string;
  readonly detail: string;
}

/** A callback with a valid token and a body that we cannot accept. `settles` carries the error for the model. */
export interface CallbackRejection {
  readonly kind: 'CallbackRejection';
  readonly id: string;
  readonly toolCallId: string;
  readonly reason: string;
  /** True for a `tool_result` that is too large or undecodable: tools do not retry a 4xx. */
  readonly settles: boolean;
  readonly code: string;
}

export interface TimerFiring {
  readonly kind: 'TimerFiring';
  readonly id: string;
  readonly timerId: string;
  /** Milliseconds since the epoch. */
  readonly scheduledFor: number;
}

export type ClientInput =
  UserMessage | InterruptRequest | RetryRequest | CloseRequest | CancelCallRequest | ChoiceAnswer;

export type ThreadInput =
  | ThreadOpening
  | ClientInput
  | ToolsetsResult
  | CompletionResult
  | CompletionFailure
  | ToolResult
  | DispatchFailure
  | CallbackRejection
  | TimerFiring;

/** Ids of inputs that the protocol itself names. The others are given by the client's request. */
export const inputIds = {
  opening: (thread: string): string => `open:${thread}`,
  completion: (completionId: string): string => `m:${completionId}`,
  result: (toolCallId: string): string => `r:${toolCallId}`,
  dispatchFailure: (toolCallId: string): string => `d:${toolCallId}`,
  callbackRejection: (toolCallId: string, bodyHash: string): string => `x:${toolCallId}:${bodyHash}`,
  toolsets: (loadId: string): string => `ts:${loadId}`,
  timer: (timerId: string): string => `t:${timerId}`,
} as const;
