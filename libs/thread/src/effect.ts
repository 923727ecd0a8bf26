// What has to be done outside because of a decision: imperative, stored in the commit, paid at least once.
//
// Invariants:
//   F1. The receiver dedups on `id`; deciding again or paying again never changes it.
//   F2. An effect is complete: paying it requires the commit's time and the registrations, never the thread's state.

import type { Content } from './content.ts';
import type { ThreadOpening } from './input.ts';

export type Delivery = 'at_least_once' | 'at_most_once';

interface Effect<Do extends string> {
  readonly do: Do;
  /** (F1) */
  readonly id: string;
}

/** Tool servers that were migrated, by name: this base URL replaces the one of the registration. */
export interface Addressed {
  readonly baseUrls?: Readonly<Record<string, string>>;
}

export interface LoadToolsets extends Effect<'LoadToolsets'>, Addressed {
  readonly loadId: string;
  readonly toolServers: readonly string[];
  /** A call was answered 409: a manifest that the runtime read because of it is new enough. */
  readonly afterChange?: true;
}

export interface RequestCompletion extends Effect<'RequestCompletion'> {
  readonly completionId: string;
}

export interface InvokeTool extends Effect<'InvokeTool'>, Addressed {
  readonly toolCallId: string;
  readonly toolServer: string;
  /** The manifest the call was decided on: its endpoint and version are used, whatever is current. */
  readonly toolsetSha256: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly providerCallId: string;
  readonly userId: string | null;
  /** Root → parent; absent for a root thread. R12 */
  readonly ancestors?: readonly string[];
  readonly delivery: Delivery;
  /** Milliseconds since the epoch after which the callback URL is refused; null for never. */
  readonly callbackExpiresAt: number | null;
}

/** The call was settled before it may have been sent: a dispatch that has not begun must not begin. (V7) */
export interface WithdrawCall extends Effect<'WithdrawCall'> {
  readonly toolCallId: string;
}

/** One `/cancel_tool_call` to each of these servers, single shot. R64–R67 */
export interface SendCancelNotices extends Effect<'SendCancelNotices'>, Addressed {
  readonly toolCallId: string;
  readonly toolServers: readonly string[];
}

/** One `/close_thread` to each of these servers, single shot. R59–R62 */
export interface SendCloseNotices extends Effect<'SendCloseNotices'>, Addressed {
  readonly toolServers: readonly string[];
}

export interface SetTimer extends Effect<'SetTimer'> {
  readonly timerId: string;
  /** Milliseconds since the epoch. */
  readonly due: number;
}

/** Opens a child thread: its row and its first input. */
export interface SpawnChild extends Effect<'SpawnChild'> {
  readonly childId: string;
  readonly family: string;
  readonly opening: ThreadOpening;
}

/** Becomes an input of the parent, under this effect's id. */
export interface ReportToParent extends Effect<'ReportToParent'> {
  readonly parentId: string;
  readonly report: Content;
  readonly closed: boolean;
}

/** Becomes an input of the child, under this effect's id. */
export interface SendToChild extends Effect<'SendToChild'> {
  readonly childId: string;
  readonly content: Content;
}

/** One `{id, selected}` to the tool's response URL, at least once. R91 */
export interface AnswerChoice extends Effect<'AnswerChoice'>, Addressed {
  readonly choiceId: string;
  readonly toolCallId: string;
  readonly toolServer: string;
  /** The tool's `response_url`, sealed. */
  readonly answerTo: string;
  readonly selected: number;
}

/** The login is over: its sealed URL is deleted. R88 */
export interface ForgetLogin extends Effect<'ForgetLogin'> {
  readonly toolCallId: string;
}

/** How far an approval is that needs several, or that was changed while it is open. */
export interface QuestionProgress {
  /** Of the last event that changed the question. */
  readonly position: number;
  readonly needed: number;
  /** Labels of those whose approval counts. */
  readonly approvedBy: readonly string[];
  /** Position of the event with the arguments that it is about; null: the model's. */
  readonly editedAt: number | null;
}

/** One question to a person, as of its last change. */
export interface AskedQuestion {
  /** The choice's; a login has the id of its call. */
  readonly id: string;
  readonly kind: 'approval' | 'tool' | 'oauth';
  readonly toolCallId: string;
  readonly operation: string;
  readonly toolServer: string | null;
  /** Position of the event that asks, and its time in milliseconds since the epoch. */
  readonly asked: number;
  readonly since: number;
  readonly expiresAt: number;
  /** Labels of the people whose task it is; absent for none. */
  readonly assignees?: readonly string[];
  /** Absent for a question that one answer ends, while nothing has changed it. */
  readonly progress?: QuestionProgress;
  /** Of the event that ended it; null while it is open. */
  readonly settled: { readonly position: number; readonly at: number } | null;
}

/** Questions that began or ended: the rows of the inbox over all threads. The later position of a question wins. */
export interface ListQuestions extends Effect<'ListQuestions'> {
  /** The root of the family. */
  readonly family: string;
  /** Root → parent; empty for a root thread. */
  readonly ancestors: readonly string[];
  readonly agent: string;
  readonly questions: readonly AskedQuestion[];
}

/** Asks tool servers to move their state of a family; the outcome comes back as an input. R101 */
export interface MigrateToolServers extends Effect<'MigrateToolServers'>, Addressed {
  readonly migrationId: string;
  /** The family’s root thread. */
  readonly session: string;
  readonly toolServers: Readonly<Record<string, string>>;
}

export type ThreadEffect =
  | LoadToolsets
  | RequestCompletion
  | InvokeTool
  | WithdrawCall
  | SendCancelNotices
  | SendCloseNotices
  | SetTimer
  | SpawnChild
  | ReportToParent
  | SendToChild
  | AnswerChoice
  | ForgetLogin
  | ListQuestions
  | MigrateToolServers;
