// Pays for questions that began or ended: their rows in the inbox, and a hint to the threads above, whose streams show
// them too. The rows come first: who gets the hint reads them.
import type { Question, Stores, ThreadKey } from '@dormouse/ports';
import type { ListQuestions } from '@dormouse/thread';

export type ListsQuestions = (key: ThreadKey, effect: ListQuestions) => Promise<void>;

export function createQuestionList({ inbox, feed }: Pick<Stores, 'inbox' | 'feed'>): ListsQuestions {
  return async (key, { family, ancestors, agent, questions }) => {
    await inbox.put(questions.map((question): Question => ({ ...key, family, ancestors, agent, ...question })));
    for (const thread of ancestors) feed.publish({ tenant: key.tenant, thread }, { hint: 'questions' });
  };
}
