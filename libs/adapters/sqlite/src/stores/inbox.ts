// Questions to people over all threads. Contract: ports/stores/inbox.ts.
//
// Invariant:
//   X1. Every list begins at an index that ends in (since, id), its order: of the tenant, a kind, an agent, a thread, a
//       family or an assignee, each by whether the question is open.
import {
  familyQuestionsMax,
  type Inbox,
  lastChangeOf,
  pageOf,
  placeBefore,
  type Question,
  type QuestionKind,
  type TenantId,
} from '@dormouse/ports';
import type { SQLInputValue } from 'node:sqlite';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

interface QuestionRow {
  readonly tenant: TenantId;
  readonly id: string;
  readonly thread: string;
  readonly kind: QuestionKind;
  readonly family: string;
  readonly ancestors: string;
  readonly agent: string;
  readonly tool_call: string;
  readonly operation: string;
  readonly tool_server: string | null;
  readonly asked: number;
  readonly since: number;
  readonly expires_at: number;
  readonly settled: number | null;
  readonly settled_at: number | null;
  readonly assignees: string | null;
  readonly progress: string | null;
}

const columns =
  'tenant, id, thread, kind, family, ancestors, agent, tool_call, operation, tool_server, asked, since, expires_at, ' +
  'settled, settled_at, assignees, progress';
const replaced = [
  ...['kind', 'agent', 'asked', 'since', 'expires_at', 'settled', 'settled_at', 'assignees', 'progress'],
  ...['changed', 'is_open'],
]
  .map((column) => `${column} = excluded.${column}`)
  .join(', ');
/** (I1) */
const put =
  `INSERT INTO questions (${columns}, changed, is_open) VALUES (${'?, '.repeat(18)}?) ON CONFLICT DO UPDATE SET ${replaced} ` +
  'WHERE excluded.changed > changed OR (excluded.changed = changed AND excluded.is_open = 0)';
/** The rows of an assignee in the order of the lists, each with its question. */
const ofAssignee = 'question_assignees CROSS JOIN questions USING (tenant, is_open, since, id)';
const selectOne = `SELECT ${columns} FROM questions WHERE tenant = ? AND id = ?`;
const selectOfFamilies =
  `SELECT ${columns} FROM questions WHERE tenant = ? AND is_open = 1 AND family IN (SELECT value FROM json_each(?)) ` +
  'ORDER BY since, id LIMIT ?';

export function createInbox(writer: GroupWriter, reader: Reader): Inbox {
  return {
    put: async (questions) => {
      if (questions.length > 0) await writer.rows('prompt', put, questions.map(stored));
    },
    get: async (tenant, id) => {
      const row = reader.one<QuestionRow>(selectOne, tenant, id);
      return row && questionOf(row);
    },
    list: async (tenant, filter, page) => {
      const isOpen = filter.status === 'open';
      const wanted: readonly (readonly [string, SQLInputValue | undefined])[] = [
        ['tenant = ?', tenant],
        ['is_open = ?', isOpen ? 1 : 0],
        ['kind = ?', filter.kind],
        ['agent = ?', filter.agent],
        ['agent IN (SELECT value FROM json_each(?))', filter.agents && JSON.stringify(filter.agents)],
        ['thread = ?', filter.thread],
        ['assignee = ?', filter.assignee],
      ];
      const given = wanted.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
      const place = placeBefore(page);
      const conditions = given.map(({ sql }) => sql);
      if (place !== null) conditions.push(`(since, id) ${isOpen ? '>' : '<'} (?, ?)`);
      const order = isOpen ? 'since, id' : 'since DESC, id DESC';
      const from = filter.assignee === undefined ? 'questions' : ofAssignee;
      const rows = reader.all<QuestionRow>(
        `SELECT ${columns} FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ?`,
        ...given.map(({ value }) => value),
        ...(place ?? []),
        page.limit + 1,
      );
      return pageOf(rows.map(questionOf), page, ({ since, id }) => [since, id]);
    },
    openOf: async (tenant, families) =>
      families.length === 0
        ? []
        : reader
            .all<QuestionRow>(selectOfFamilies, tenant, JSON.stringify(families), familyQuestionsMax)
            .map(questionOf),
  };
}

function stored(question: Question): SQLInputValue[] {
  const { tenant, id, thread, kind, family, ancestors, agent, toolCallId, operation, toolServer } = question;
  const { asked, since, expiresAt, settled, assignees, progress } = question;
  return [
    ...[tenant, id, thread, kind, family, JSON.stringify(ancestors), agent, toolCallId, operation, toolServer],
    ...[asked, since, expiresAt, settled?.position ?? null, settled?.at ?? null],
    ...[assignees === undefined ? null : JSON.stringify(assignees)],
    ...[progress === undefined ? null : JSON.stringify(progress)],
    ...[lastChangeOf(question), settled === null ? 1 : 0],
  ];
}

function questionOf(row: QuestionRow): Question {
  const { tenant, id, thread, kind, family, agent, operation, asked, since } = row;
  const { settled: position, settled_at: at, assignees, progress } = row;
  return {
    ...{ tenant, id, thread, kind, family, ancestors: JSON.parse(row.ancestors) as string[], agent },
    ...{ toolCallId: row.tool_call, operation, toolServer: row.tool_server, asked, since, expiresAt: row.expires_at },
    ...(assignees === null ? {} : { assignees: JSON.parse(assignees) as string[] }),
    ...(progress === null ? {} : { progress: JSON.parse(progress) as NonNullable<Question['progress']> }),
    settled: position === null || at === null ? null : { position, at },
  };
}
