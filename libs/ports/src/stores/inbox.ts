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
import type { AskedQuestion, ListQuestions, TenantId } from '@dormouse/thread';
import type { ThreadKey } from '../log/thread-key.ts';

export type QuestionKind = AskedQuestion['kind'];

export type Question = ThreadKey & AskedQuestion & Pick<ListQuestions, 'family' | 'ancestors' | 'agent'>;

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
