// Questions to people over all threads, in `questions`. Contract: ports/stores/inbox.ts.
//
// Invariant:
//   X1. Every list begins at an index that ends in (since, id), its order: of the tenant, a kind, an agent, a thread, a
//       family or an assignee, each by whether the question is open.
import {
  familyQuestionsMax,
  type Inbox,
  lastChangeOf,
  pageOf,
  type Question,
  type QuestionFilter,
  type QuestionKind,
} from '@dormouse/ports';
import { type QueryFilter, Schema } from 'mongoose';
import { everySchema, number, numberOrNull, text, textOrNull } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { type MongoServer, upserted } from '../mongo-server.ts';
import { behindCursor } from '../behind-cursor.ts';

interface QuestionDocument extends Omit<Question, 'id' | 'settled'> {
  readonly _id: string;
  readonly question: string;
  readonly kind: QuestionKind;
  readonly settled: number | null;
  readonly settledAt: number | null;
  /** Position of the last change. (I1) */
  readonly changed: number;
  readonly isOpen: boolean;
}

const questionSchema = new Schema<QuestionDocument>(
  {
    ...{ _id: text, tenant: text, question: text, thread: text, kind: text, family: text, agent: text },
    ancestors: { type: [String], required: true },
    ...{ toolCallId: text, operation: text, toolServer: textOrNull, asked: number, since: number, expiresAt: number },
    ...{ settled: numberOrNull, settledAt: numberOrNull, changed: number },
    isOpen: { type: Boolean, required: true },
    // Absent in documents of earlier releases, and where there are none.
    assignees: { type: [String], default: undefined },
    progress: { type: Schema.Types.Mixed },
  },
  { ...everySchema, collection: 'questions' },
);
const order = { since: 1, question: 1 } as const;
questionSchema.index({ tenant: 1, isOpen: 1, ...order }, { name: 'oldest' });
questionSchema.index({ tenant: 1, isOpen: 1, kind: 1, ...order }, { name: 'by_kind' });
questionSchema.index({ tenant: 1, isOpen: 1, agent: 1, ...order }, { name: 'by_agent' });
questionSchema.index({ tenant: 1, isOpen: 1, assignees: 1, ...order }, { name: 'by_assignee' });
questionSchema.index({ tenant: 1, isOpen: 1, thread: 1, ...order }, { name: 'by_thread' });
questionSchema.index({ tenant: 1, isOpen: 1, family: 1, ...order }, { name: 'by_family' });

export function createInbox(server: MongoServer): Inbox {
  const questions = server.connection.model<QuestionDocument>('Question', questionSchema);

  /** (I1) A later change is there when the replacement finds nothing to replace and its `_id` taken. */
  async function putOne(question: Question): Promise<void> {
    const document = documentOf(question);
    const { _id, changed, isOpen } = document;
    const same = isOpen ? [] : [{ changed }];
    const earlier = { _id, $or: [{ changed: { $lt: changed } }, ...same] };
    await upserted(server, (options) => questions.replaceOne(earlier, document, options));
  }

  return {
    put: async (all) => {
      for (const question of all) await putOne(question);
    },
    get: async (tenant, id) => {
      const found = await server.read(() => questions.findOne({ _id: idOf(tenant, id) }).lean());
      return found && questionOf(found);
    },
    list: async (tenant, filter, page) => {
      const isOpen = filter.status === 'open';
      const direction = isOpen ? 1 : -1;
      const behind = behindCursor(page, ['since', 'question'], isOpen ? '$gt' : '$lt');
      const found = await server.read(() =>
        questions
          .find({ $and: [{ tenant, ...conditionsOf(filter) }, behind] })
          .sort({ since: direction, question: direction })
          .limit(page.limit + 1)
          .lean(),
      );
      return pageOf(found.map(questionOf), page, ({ since, id }) => [since, id]);
    },
    openOf: async (tenant, families) => {
      if (families.length === 0) return [];
      const found = await server.read(() =>
        questions
          .find({ tenant, isOpen: true, family: { $in: [...families] } })
          .sort(order)
          .limit(familyQuestionsMax)
          .lean(),
      );
      return found.map(questionOf);
    },
  };
}

function documentOf({ id, settled, ...same }: Question): QuestionDocument {
  return {
    _id: idOf(same.tenant, id),
    question: id,
    ...same,
    settled: settled?.position ?? null,
    settledAt: settled?.at ?? null,
    changed: lastChangeOf({ id, settled, ...same }),
    isOpen: settled === null,
  };
}

function questionOf(document: QuestionDocument): Question {
  const { _id, question, settled, settledAt, changed: _changed, isOpen: _isOpen, ...same } = document;
  return {
    ...same,
    id: question,
    settled: settled === null || settledAt === null ? null : { position: settled, at: settledAt },
  };
}

function conditionsOf({
  status,
  kind,
  agent,
  assignee,
  agents,
  thread,
}: QuestionFilter): QueryFilter<QuestionDocument> {
  const given = Object.entries({ kind, agent, assignees: assignee, thread }).filter(([, value]) => value !== undefined);
  const of = agents === undefined ? {} : { $and: [{ agent: { $in: [...agents] } }] };
  return { isOpen: status === 'open', ...Object.fromEntries(given), ...of };
}
