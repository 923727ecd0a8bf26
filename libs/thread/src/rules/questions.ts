// What people are asked, as a list over all threads needs it: the difference that a decision makes, as one effect.
//
// Invariants:
//   L1. Every way in which a question begins or ends is seen here, because the thread before and after an event are
//       compared; no rule has to remember it.
//   L2. A question is complete in its effect, also when it ends: the order in which two payments arrive changes
//       nothing, the later position wins.
import type { AskedQuestion, ListQuestions } from '../effect.ts';
import type { ThreadEvent } from '../event.ts';
import { type Call, type Choice, own, type Thread } from '../thread.ts';

/** Events after which another question may be open. */
const changing: ReadonlySet<ThreadEvent['type']> = new Set([
  ...(['ChoiceRequested', 'ChoiceSettled', 'OauthRequested'] as const),
  ...(['ChoiceAssigned', 'ApprovalCounted', 'ToolCallSettled', 'ThreadClosed'] as const),
]);

export class QuestionChanges {
  /** By id, as of the last change. */
  readonly #changed = new Map<string, AskedQuestion>();

  /** `after` is `before` with this event. (L1) */
  see(type: ThreadEvent['type'], before: Thread, after: Thread): void {
    if (!changing.has(type)) return;
    const open = questionsOf(after);
    const settled = { position: after.position, at: after.updatedAt };
    for (const question of questionsOf(before))
      if (!open.some((one) => isSame(one, question))) this.#changed.set(question.id, { ...question, settled });
    for (const question of open)
      if (!questionsOf(before).some((one) => isUnchanged(one, question))) this.#changed.set(question.id, question);
  }

  /** None, or one. */
  effects(thread: Thread): readonly ListQuestions[] {
    const questions = [...this.#changed.values()];
    if (questions.length === 0) return [];
    const { id, ancestors, agent, position } = thread;
    const about = { family: ancestors[0] ?? id, ancestors, agent: agent.name };
    return [{ do: 'ListQuestions', id: `list:${position}`, ...about, questions }];
  }
}

const isSame = (one: AskedQuestion, other: AskedQuestion): boolean => one.id === other.id && one.asked === other.asked;

const isUnchanged = (one: AskedQuestion, other: AskedQuestion): boolean =>
  isSame(one, other) && one.progress?.position === other.progress?.position;

/** The questions that are open in a thread, in the order of their calls. */
export const questionsOf = (thread: Thread): readonly AskedQuestion[] =>
  thread.calls.flatMap((call) => questionOf(thread, call) ?? []);

function questionOf(thread: Thread, call: Call): AskedQuestion | null {
  const { toolCallId, operation, toolServer, waiting } = call;
  const about = { toolCallId, operation, toolServer, settled: null };
  switch (waiting.for) {
    case 'result':
      return null;
    case 'login': {
      const { asked } = waiting;
      if (asked === undefined) return null; // asked by a release that did not list questions
      const { position, at, expiresAt } = asked;
      return { ...about, id: toolCallId, kind: 'oauth', asked: position, since: at, expiresAt };
    }
    case 'approval':
    case 'choice': {
      const choice = own(thread.choices, waiting.choiceId);
      if (choice === undefined) return null;
      const { choiceId: id, kind, position: asked, since, expiresAt } = choice;
      return { ...about, id, kind, asked, since, expiresAt, ...stateOf(choice) };
    }
  }
}

/** Whose task a choice is, and how far it is. */
export function stateOf(choice: Choice): Pick<AskedQuestion, 'assignees' | 'progress'> {
  const { position, assignees = [], approvalsNeeded: needed = 1, approvals = [], editedAt = null, changedAt } = choice;
  const progress = {
    position: changedAt ?? position,
    needed,
    approvedBy: approvals.map(({ by }) => by),
    editedAt,
  };
  return {
    ...(assignees.length === 0 ? {} : { assignees }),
    ...(needed === 1 && changedAt === undefined ? {} : { progress }),
  };
}
