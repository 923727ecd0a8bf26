// Questions to people in memory. Contract: ports/stores/inbox.ts.
import {
  decodeCursor,
  encodeCursor,
  familyQuestionsMax,
  type Inbox,
  invalidCursor,
  isLaterQuestion,
  type Page,
  type PageRequest,
  type Question,
  type QuestionFilter,
  type TenantId,
} from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import { rowsOf } from './rows.ts';

/** By tenant and id. */
export type InboxStore = Map<string, Question>;

const nameOf = (tenant: TenantId, id: string): string => JSON.stringify([tenant, id]);

export function createInbox(store: InboxStore, passage: Passage): Inbox {
  const inOrder = (tenant: TenantId, holds: (question: Question) => boolean): readonly Question[] =>
    rowsOf(store, tenant).filter(holds).toSorted(byAge);
  return {
    put: (questions) =>
      passage.write('inbox.put', questions[0]?.thread ?? '', () => {
        for (const question of questions) {
          const name = nameOf(question.tenant, question.id);
          const known = store.get(name);
          if (known === undefined || isLaterQuestion(question, known)) store.set(name, question);
        }
      }),
    get: (tenant, id) => passage.read('inbox.get', id, () => store.get(nameOf(tenant, id)) ?? null),
    list: (tenant, filter, page) =>
      passage.read('inbox.list', tenant, () => pageOf(inOrder(tenant, matching(filter)), filter, page)),
    openOf: (tenant, families) =>
      passage.read('inbox.openOf', tenant, () =>
        inOrder(tenant, ({ family, settled }) => settled === null && families.includes(family)).slice(
          0,
          familyQuestionsMax,
        ),
      ),
  };
}

function byAge(one: Question, other: Question): number {
  return one.since - other.since || (one.id < other.id ? -1 : 1);
}

const matching =
  ({ status, kind, agent, assignee, agents, thread }: QuestionFilter) =>
  (question: Question): boolean =>
    (question.settled === null) === (status === 'open') &&
    (kind === undefined || question.kind === kind) &&
    (agent === undefined || question.agent === agent) &&
    (assignee === undefined || (question.assignees ?? []).includes(assignee)) &&
    (agents === undefined || agents.includes(question.agent)) &&
    (thread === undefined || question.thread === thread);

function pageOf(matching: readonly Question[], { status }: QuestionFilter, page: PageRequest): Page<Question> {
  const isOpen = status === 'open';
  const ordered = isOpen ? matching : matching.toReversed();
  const rest = ordered.slice(page.cursor === null ? 0 : placeAfter(ordered, page.cursor, isOpen));
  const data = rest.slice(0, page.limit);
  const last = data.at(-1);
  return { data, nextCursor: rest.length > page.limit && last ? encodeCursor([last.since, last.id]) : null };
}

function placeAfter(ordered: readonly Question[], cursor: string, isOpen: boolean): number {
  const [since, id] = decodeCursor(cursor);
  if (typeof since !== 'number' || typeof id !== 'string') throw invalidCursor();
  const isBehind = (each: Question): boolean => {
    const order = each.since - since || (each.id === id ? 0 : each.id < id ? -1 : 1);
    return isOpen ? order > 0 : order < 0;
  };
  const place = ordered.findIndex(isBehind);
  return place < 0 ? ordered.length : place;
}
