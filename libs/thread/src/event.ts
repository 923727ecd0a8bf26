// Facts about a thread: past tense, stored for ever, never refused, never changed in shape (add a new event instead).
//
// Invariants:
//   E1. Field names here are the API's, in camelCase; one mechanical codec turns them into the wire's snake_case.
//   E2. Every argument that an effect needs is in an event of the same commit or an earlier one.
import type { Content, DisplaySegment } from './content.ts';
import type {
  AgentReference,
  ApprovalDecision,
  ArrivedMessage,
  ErasedScope,
  FinishReason,
  ReceivedEvent,
  Schedule,
  SpawnedBy,
  ThreadPosition,
  Usage,
} from './input.ts';
import type { Limits, Policies } from './policy.ts';
import type { LoadedToolset, WithheldTool } from './toolset.ts';

/** How a call ended. */
export type Outcome = 'result' | 'error' | 'interrupted' | 'timed_out' | 'denied' | 'outcome_unknown';

export type CallTimerReason = 'tool_timeout' | 'approval_deadline' | 'choice_deadline' | 'login_deadline';

/** Of a call, or of the thread: a sleep, a schedule, or arrived events that wait for a round or the end of a minute. */
export type TimerReason = CallTimerReason | 'sleep' | 'schedule' | 'event_wait' | 'event_rate';

/** Why a subscription ended. */
export type SubscriptionEnd = 'final' | 'cancelled' | 'thread_closed';

export type ThreadEvent =
  | {
      readonly type: 'ThreadOpened';
      readonly agent: AgentReference;
      readonly model: string;
      readonly toolServers: readonly string[];
      readonly policies: Policies;
      readonly limits: Limits;
      readonly userId: string | null;
      readonly title: string | null;
      /** For a child; its history begins with the parent's up to this position. */
      readonly parent?: ThreadPosition;
      readonly ancestors?: readonly string[];
      readonly spawnedBy?: SpawnedBy;
      readonly baseUrls?: Readonly<Record<string, string>>;
    }
  | { readonly type: 'ToolsetsRequested'; readonly loadId: string; readonly toolServers: readonly string[] }
  | {
      readonly type: 'ToolsetsLoaded';
      readonly toolsets: readonly LoadedToolset[];
      readonly withheld: readonly WithheldTool[];
    }
  | {
      readonly type: 'ToolsetRejected';
      readonly toolServer: string;
      readonly code: string;
      readonly problems: readonly string[];
    }
  | {
      readonly type: 'ToolsetChanged';
      readonly toolServer: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
      /** Tools that exist before and after, with another definition. */
      readonly changed: readonly string[];
    }
  | ({ readonly type: 'MessageAccepted' } & ArrivedMessage)
  | ({ readonly type: 'MessageQueued' } & ArrivedMessage)
  | { readonly type: 'MessageRefused'; readonly messageId: string; readonly code: string; readonly detail: string }
  | {
      readonly type: 'RequestRefused';
      readonly requestId: string;
      readonly request: string;
      readonly code: string;
      readonly detail: string;
    }
  | { readonly type: 'CompletionRequested'; readonly completionId: string; readonly model: string }
  | {
      readonly type: 'CompletionRecorded';
      readonly completionId: string;
      readonly message: { readonly text: string; readonly reasoning?: string };
      readonly finishReason: FinishReason;
      readonly usage: Usage;
      readonly interrupted: boolean;
      /** No tool calls follow: this is the turn's answer. */
      readonly final: boolean;
    }
  | {
      readonly type: 'CompletionFailed';
      readonly completionId: string;
      readonly code: string;
      readonly detail: string;
      readonly retryable: boolean;
    }
  | {
      readonly type: 'ToolCallRequested';
      readonly toolCallId: string;
      readonly operation: string;
      readonly toolServer: string | null;
      readonly arguments: Readonly<Record<string, unknown>>;
      /** SHA-256 of the arguments' JSON: an approval is bound to it, and a repetition is recognised by it. */
      readonly argumentsHash: string;
      readonly providerCallId: string;
    }
  | {
      readonly type: 'ToolCallSettled';
      readonly toolCallId: string;
      readonly outcome: Outcome;
      readonly content: Content;
      readonly displayAs?: readonly DisplaySegment[];
      /** The code of the failure's page, for outcomes other than `result`. */
      readonly code?: string;
    }
  | { readonly type: 'ToolCallDetached'; readonly toolCallId: string }
  /** A result for a call that was settled before: it changes nothing. */
  | { readonly type: 'ToolCallLateResult'; readonly toolCallId: string; readonly used: boolean }
  | { readonly type: 'SubscriptionOpened'; readonly toolCallId: string }
  /** It came before the confirmation of its subscription. */
  | ({ readonly type: 'SubscriptionEventHeld' } & ReceivedEvent)
  /** `childId` names the child that was opened for it, if one was. */
  | ({
      readonly type: 'SubscriptionEventReceived';
      readonly into: 'thread' | 'child' | 'queue';
      readonly childId: string | null;
    } & ReceivedEvent)
  | { readonly type: 'SubscriptionClosed'; readonly toolCallId: string; readonly reason: SubscriptionEnd }
  | {
      readonly type: 'ChildSpawned';
      readonly childId: string;
      readonly reason: 'event' | 'call';
      readonly toolCallId: string;
      /** Queued events that this child takes; 0 when it was spawned by the event before, or by a call. */
      readonly queuedEvents: number;
      readonly instructions?: string;
    }
  | {
      readonly type: 'ChildReported';
      readonly childId: string;
      readonly report: Content;
      readonly closed: boolean;
    }
  | { readonly type: 'ParentMessageReceived'; readonly content: Content }
  /** `childId` names the child that was opened for it, if one was. */
  | {
      readonly type: 'ExternalEventReceived';
      readonly source: string;
      readonly eventId: string | null;
      readonly content: Content;
      readonly associative: boolean;
      readonly childId: string | null;
    }
  | { readonly type: 'TitleSet'; readonly title: string }
  /** A login is open; its URL is never here. R88 */
  | {
      readonly type: 'OauthRequested';
      readonly toolCallId: string;
      /** Hash of the question; absent when the tool's message had an id. */
      readonly question?: string;
      readonly expiresAt: number;
    }
  /** The user has to log in at the tool server again. */
  | { readonly type: 'CredentialRefreshFailed'; readonly toolServer: string; readonly userId: string }
  | { readonly type: 'CallbackRejected'; readonly toolCallId: string; readonly reason: string; readonly code: string }
  | {
      readonly type: 'ChoiceRequested';
      readonly choiceId: string;
      readonly kind: 'approval' | 'tool';
      readonly toolCallId: string;
      readonly prompt: string;
      readonly choices: readonly string[];
      readonly default: number;
      /** For an approval: the exact arguments that are shown and that the answer is bound to. */
      readonly arguments?: Readonly<Record<string, unknown>>;
      readonly argumentsHash?: string;
      /** For a tool's choice: the sealed URL that receives the answer. */
      readonly answerTo?: string;
      /** For a tool's choice: hash of the question; absent when the tool's message had an id. */
      readonly question?: string;
      /** For an approval: characters in the arguments that can deceive a reader, by name and place. */
      readonly warnings?: readonly string[];
      /** Labels of the people whose task it is; absent for none. */
      readonly assignees?: readonly string[];
      /** For an approval: credentials that must allow the call; absent for one. */
      readonly approvalsNeeded?: number;
      readonly expiresAt: number;
    }
  /** The choice is the task of these people now. */
  | {
      readonly type: 'ChoiceAssigned';
      readonly choiceId: string;
      readonly assignees: readonly string[];
      readonly by: string;
    }
  /** An approval counts, and more are needed. With other arguments than were shown it voids the earlier ones. */
  | {
      readonly type: 'ApprovalCounted';
      readonly choiceId: string;
      readonly by: string;
      /** Names what approved; two approvals of one credential are one. */
      readonly credential: string;
      /** The credential is good for one answer. */
      readonly once?: true;
      /** It would allow the tool for the thread. */
      readonly forThread?: true;
      readonly reason?: string;
      /** From now on the choice is about these arguments. */
      readonly edited?: true;
      readonly argumentsAllowed?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'ChoiceSettled';
      readonly choiceId: string;
      /** For an approval. */
      readonly decision?: ApprovalDecision | 'expired' | 'withdrawn';
      /** For a tool's choice. */
      readonly selected?: number;
      readonly by: string;
      readonly reason?: string;
      /** For an approval: the call was allowed with other arguments than the model's. */
      readonly edited?: true;
      readonly argumentsAllowed?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'TimerSet';
      readonly timerId: string;
      readonly due: number;
      readonly reason: TimerReason;
      readonly toolCallId?: string;
      readonly scheduleId?: string;
    }
  | { readonly type: 'TimerFired'; readonly timerId: string; readonly scheduledFor: number }
  | { readonly type: 'TimerCancelled'; readonly timerId: string }
  | {
      readonly type: 'MigrationStarted';
      readonly migrationId: string;
      /** Base URL of the destination by name. */
      readonly toolServers: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'MigrationEnded';
      readonly migrationId: string;
      readonly ok: boolean;
      readonly migrated: readonly string[];
      readonly problems: readonly string[];
    }
  | { readonly type: 'ScheduleSet'; readonly scheduleId: string; readonly schedule: Schedule }
  | { readonly type: 'ScheduleRemoved'; readonly scheduleId: string }
  /** A time of the schedule came; `missed` counts the earlier times that were missed. */
  | {
      readonly type: 'ScheduleCame';
      readonly scheduleId: string;
      readonly scheduledFor: number;
      readonly missed: number;
      readonly skipped: boolean;
      readonly content: Content;
    }
  /** A client stopped the turn; the calls that this settled are shown to the model in the next completion. */
  | { readonly type: 'TurnInterrupted'; readonly requestId: string }
  | { readonly type: 'BudgetExceeded'; readonly budget: string; readonly used: number; readonly limit: number }
  /** The history up to this position of another thread goes before this log, by reference. */
  | { readonly type: 'ThreadForked'; readonly from: ThreadPosition; readonly askAgain: boolean }
  | { readonly type: 'ThreadClosed'; readonly by: string }
  /**
   * The contents of a thread were erased, or those that it inherits. An event whose own content was erased is one of
   * these with the scope `event`.
   */
  | {
      readonly type: 'ContentErased';
      readonly scope: ErasedScope;
      /** The id of the erasure, by which its certificate is found; null where the event alone does not know. */
      readonly certificate: string | null;
    };

export type CauseKind =
  | 'message'
  | 'request'
  | 'result'
  | 'completion'
  | 'dispatch'
  | 'event'
  | 'child'
  | 'parent'
  | 'timer'
  | 'choice'
  | 'oauth'
  | 'toolset'
  | 'operator';

export interface Cause {
  readonly kind: CauseKind;
  readonly id: string;
}

/** A stored event: with its turn and the input that caused it. */
export type RecordedEvent = ThreadEvent & { readonly turnId: string; readonly cause: Cause };

/** The recorded event of this type. */
export type Event<Type extends RecordedEvent['type']> = Extract<RecordedEvent, { readonly type: Type }>;
