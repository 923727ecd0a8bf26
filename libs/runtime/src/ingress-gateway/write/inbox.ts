// Everything that waits for a person, over all threads of a tenant, and the answers of people who come from there.
//
// Invariants:
//   N1. A row says where the question is; what is shown of it, and how it was settled, is read from its thread's log.
//   N2. The URL of a login is never here.
//   N3. A row is written a moment after the commit that asks: an answer to a question that a stream has just shown
//       waits for its row for `rowWithinMs`.
import type { PageRequest, Question, QuestionFilter, ThreadKey, ThreadLog, TenantId, Page } from '@dormouse/ports';
import type { RecordedEvent } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import type { RequestOrigin } from '../access/client-id.ts';
import { type ChoiceView, choiceViews } from '../read/choice-view.ts';
import { placedEvents } from '../read/log-scan.ts';
import { answered, type Answered, invalid, notFound } from '../refusal.ts';
import type { Assignment, ChoiceApi, GivenAnswer } from './choices.ts';

export interface InboxRow
  extends Omit<ChoiceView, 'kind'>, Pick<Question, 'kind' | 'agent' | 'operation' | 'toolServer' | 'since'> {
  readonly threadId: string;
  /** Of one that is settled. */
  readonly settledAt?: number;
  readonly decision?: string;
  readonly selected?: number;
  readonly by?: string;
  readonly reason?: string;
}

export interface InboxApi {
  list(tenant: TenantId, filter: QuestionFilter, page: PageRequest): Promise<Page<InboxRow>>;
  /** The thread that asks. (N3) */
  threadOf(tenant: TenantId, id: string): Promise<Answered<string>>;
  /** The row as it is then. 404 for what is not asked, 422 for a login. */
  assign(tenant: TenantId, id: string, assigned: Assignment, origin: RequestOrigin): Promise<Answered<InboxRow>>;
  /** 404 for what is not asked, 422 for a login, which ends at its URL. */
  answer(tenant: TenantId, id: string, answer: GivenAnswer, origin: RequestOrigin): ReturnType<ChoiceApi['answer']>;
}

export type InboxPorts = Pick<IngressParts, 'inbox' | 'log' | 'clock'>;

const rowWithinMs = 2_000;
const lookAgainMs = 50;

export function createInboxApi(ports: InboxPorts, choices: ChoiceApi): InboxApi {
  const { inbox, clock } = ports;

  /** (N3) */
  async function rowOf(tenant: TenantId, id: string): Promise<Question | null> {
    const until = clock.now() + rowWithinMs;
    for (;;) {
      const row = await inbox.get(tenant, id);
      if (row !== null || clock.now() >= until || !/^(chc|call)_/.test(id)) return row;
      await clock.sleep(lookAgainMs);
    }
  }

  return {
    async list(tenant, filter, page) {
      const { data, nextCursor } = await inbox.list(tenant, filter, page);
      return { data: await Promise.all(data.map((question) => shown(ports.log, question))), nextCursor };
    },
    async threadOf(tenant, id) {
      const row = await rowOf(tenant, id);
      return row === null ? notFound('choice') : answered(row.thread);
    },
    async assign(tenant, id, assigned, origin) {
      const row = await rowOf(tenant, id);
      if (row === null) return notFound('choice');
      if (row.kind === 'oauth') return invalid([{ pointer: '', detail: 'a login is assigned to its user' }]);
      const { thread: threadId } = row;
      const shown = await choices.assign({ tenant, thread: threadId }, id, assigned, origin);
      return shown.ok ? answered({ ...shown.value, threadId }) : shown;
    },
    async answer(tenant, id, answer, origin) {
      const row = await rowOf(tenant, id);
      if (row === null) return notFound('choice');
      if (row.kind === 'oauth')
        return invalid([{ pointer: '', detail: 'a login ends at its URL, not with an answer' }]);
      return choices.answer({ tenant, thread: row.thread }, id, answer, origin);
    },
  };
}

/** (N1) */
async function shown(log: ThreadLog, question: Question): Promise<InboxRow> {
  const { thread: threadId, agent, operation, toolServer, since } = question;
  const about = { threadId, agent, operation, toolServer, since };
  return { ...(await asked(log, question)), ...about, ...(await settlementOf(log, question)) };
}

async function asked(
  log: ThreadLog,
  question: Question,
): Promise<Omit<ChoiceView, 'kind'> & { readonly kind: InboxRow['kind'] }> {
  const { id, kind, toolCallId, operation, toolServer, asked: position, expiresAt, assignees, progress } = question;
  if (kind === 'oauth') {
    const prompt = `Log in, so that ${operation} of ${toolServer ?? 'its tool server'} can go on.`;
    return { id, kind, toolCallId, prompt, choices: [], default: 0, expiresAt }; // (N2)
  }
  const key = { tenant: question.tenant, thread: question.thread };
  const [view] = await choiceViews(log, key, [{ choiceId: id, position, assignees, progress }]);
  if (view === undefined) throw new Error(`thread ${question.thread}: no event asks for choice ${id}`);
  return view;
}

async function settlementOf(log: ThreadLog, question: Question): Promise<Partial<InboxRow>> {
  const { id, settled } = question;
  if (settled === null) return {};
  const settledAt = settled.at;
  const event = (await eventsAt(log, question, settled.position)).find(
    (each) => each.type === 'ChoiceSettled' && each.choiceId === id,
  );
  if (event?.type !== 'ChoiceSettled') return { settledAt };
  const { decision, selected, by, reason, edited } = event;
  return {
    settledAt,
    by,
    ...(decision === undefined ? {} : { decision }),
    ...(selected === undefined ? {} : { selected }),
    ...(reason === undefined ? {} : { reason }),
    ...(edited === undefined ? {} : { edited }),
  };
}

async function eventsAt(log: ThreadLog, key: ThreadKey, position: number): Promise<readonly RecordedEvent[]> {
  const commit = await log.at({ tenant: key.tenant, thread: key.thread }, position);
  return commit === null ? [] : placedEvents(commit).map(({ event }) => event);
}
