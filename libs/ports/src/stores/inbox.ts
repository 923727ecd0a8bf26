// What people are asked over all threads of a tenant: approvals, choices of tools, logins. A row names where the log
// has the question, and its answer; it holds no content.
//
// Contract (contracts/inbox.contract.ts):
//   I1. A question has one row. Of two changes the one of the later position stays, in whichever order they arrive; of
//       the same position, one that settles.
//   I2. Open questions are listed oldest first, settled ones with the latest first, and pages neither lose nor repeat a
//       question that was there when the first was read.
//   I3. Every filter alone is answered by an index; another tenant's questions are never found.
import type { Page, PageRequest } from '../registry/registry.ts';
import type { QuestionProgress, TenantId } from '@dormouse/thread';
import type { ThreadKey } from '../log/thread-key.ts';

export type QuestionKind = 'approval' | 'tool' | 'oauth';

export interface Question extends ThreadKey {
  /** The choice's; a login has the id of its call. */
  readonly id: string;
  readonly kind: QuestionKind;
  /** The root of the thread's family. */
  readonly family: string;
  /** Root → parent; empty for a root thread. */
  readonly ancestors: readonly string[];
  readonly agent: string;
  readonly toolCallId: string;
  readonly operation: string;
  readonly toolServer: string | null;
  /** Position of the event that asks, and its time in milliseconds since the epoch. */
  readonly asked: number;
  readonly since: number;
  readonly expiresAt: number;
  /** Labels of the people whose task it is, each once; absent for none. */
  readonly assignees?: readonly string[];
  /** Absent for a question that one answer ends, while nothing has changed it. */
  readonly progress?: QuestionProgress;
  /** Of the event that ended it; null while it is open. */
  readonly settled: { readonly position: number; readonly at: number } | null;
}

export interface QuestionFilter {
  readonly status: 'open' | 'settled';
  readonly kind?: QuestionKind;
  readonly agent?: string;
  /** Of those whose task it is. */
  readonly assignee?: string;
  /** Of threads of any of these. */
  readonly agents?: readonly string[];
  readonly thread?: string;
}

export interface Inbox {
  /** Resolves when durable. (I1) */
  put(questions: readonly Question[]): Promise<void>;
  get(tenant: TenantId, id: string): Promise<Question | null>;
  /** (I2) */
  list(tenant: TenantId, filter: QuestionFilter, page: PageRequest): Promise<Page<Question>>;
  /** The open questions of these families, oldest first, at most `familyQuestionsMax`. One read, however many. */
  openOf(tenant: TenantId, families: readonly string[]): Promise<readonly Question[]>;
}

export const familyQuestionsMax = 1_000;

/** The position of a question's last change. */
export const lastChangeOf = ({ asked, progress, settled }: Question): number =>
  settled?.position ?? progress?.position ?? asked;

/** Whether `next` stays when `known` is there. (I1) */
export const isLaterQuestion = (next: Question, known: Question): boolean =>
  lastChangeOf(next) > lastChangeOf(known) || (lastChangeOf(next) === lastChangeOf(known) && next.settled !== null);
