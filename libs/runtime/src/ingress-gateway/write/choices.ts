// Choices that wait for a person, and their answers: approvals of calls (R27), and what tools ask (R89–R92).
//
// Invariants:
//   H1. The first answer stays. A second one is refused with the first, whether the first is seen before the second is
//       sent or was decided before it; in the latter case the thread has recorded the second as refused.
//   H2. Other arguments come only with `allow`, are held to the tool's schema before they are sent, and replace exactly
//       those that were shown; else the choice stays open.
//   H3. Where several must allow a call, an answer is about the arguments that the call had when it was judged: an edit
//       that comes between makes it one about other arguments, which is refused.
//   H5. A decision about a call is in the audit before it is sent to the thread: none takes effect that the audit does
//       not have. One that the thread then refuses is there, too.
import {
  type Commit,
  Fault,
  type Question,
  type PageRequest,
  type ThreadKey,
  type ThreadLog,
  type Page,
} from '@dormouse/ports';
import {
  type Answer,
  answerMismatch,
  type ArgumentsEdit,
  callOf,
  type Choice,
  type RecordedEvent,
  stateOf,
  type Thread,
} from '@dormouse/thread';
import { hash } from 'node:crypto';
import type { IngressParts } from '../ingress-ports.ts';
import type { Requester } from '../../audit/audit-entry.ts';
import type { Auditor } from '../../audit/auditor.ts';
import { loadThread } from '../../log/thread-reader.ts';
import { type ChoiceView, choiceViews, openChoices, shownHash } from '../read/choice-view.ts';
import { decidedCommit } from '../watch/decided-commit.ts';
import type { FollowPorts } from '../watch/follow-commits.ts';
import { inputIdOf, publicId, type RequestOrigin } from '../access/client-id.ts';
import { lastEventBefore, placedEvents } from '../read/log-scan.ts';
import { answered, type Answered, invalid, notFound, refused } from '../refusal.ts';
import { type EditPorts, editProblem } from './edited-arguments.ts';
import { cutPage } from '../read/whole-list.ts';

export interface GivenAnswer {
  readonly answer: Answer;
  readonly reason: string | null;
  readonly decidedBy: string | null;
  /** The credential that answers. */
  readonly by: Requester;
  /** The credential as approvals are counted by it: absent for the actor of `by`. */
  readonly credential?: string;
  /** It is good for one answer. */
  readonly once?: true;
  /** Instead of the model's. (H2) */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Names what was shown: the hash in the choice's view. */
  readonly argumentsHash?: string | undefined;
}

export interface ChoiceApi {
  list(key: ThreadKey, page: PageRequest): Promise<Answered<Page<ChoiceView>>>;
  /** The choice as it is then. 404 and 409 as for an answer. @throws Fault UNAVAILABLE when the thread is behind. */
  assign(key: ThreadKey, choiceId: string, assigned: Assignment, origin: RequestOrigin): Promise<Answered<ShownChoice>>;
  /** What `answer` would refuse as the thread is now; sends nothing. */
  judge(key: ThreadKey, choiceId: string, answer: GivenAnswer): Promise<Answered<JudgedAnswer>>;
  answer(
    key: ThreadKey,
    choiceId: string,
    answer: GivenAnswer,
    origin: RequestOrigin,
  ): Promise<Answered<{ readonly id: string }>>;
}

export interface Assignment {
  readonly assignees: readonly string[];
  /** A label of what assigns. */
  readonly by: string;
}

/** A choice with its call. */
export interface ShownChoice extends ChoiceView, Pick<Question, 'agent' | 'operation' | 'toolServer' | 'since'> {}

/** What an answer brings besides itself. */
export interface JudgedAnswer {
  readonly edit?: ArgumentsEdit;
  /** SHA-256 of the JSON of the arguments as they were judged; where others may come between. (H3) */
  readonly shown?: string;
}

export type ChoicePorts = FollowPorts &
  EditPorts &
  Pick<IngressParts, 'snapshots' | 'bus' | 'threads' | 'mintName' | 'audit'>;

/** How long a client waits for the decision whether its answer was first. */
const decidedWithinMs = 5_000;

export function createChoiceApi(ports: ChoicePorts): ChoiceApi {
  const { log, bus, threads, mintName, audit } = ports;

  async function judge(key: ThreadKey, choiceId: string, given: GivenAnswer): Promise<Answered<JudgedAnswer>> {
    const found = await threads.find(key);
    if (!found.ok) return found;
    const { thread } = await loadThread(ports, key);
    const choice = Object.hasOwn(thread.choices, choiceId) ? thread.choices[choiceId] : undefined;
    if (choice === undefined) return settledRefusal(ports, key, choiceId, thread.position + 1);
    const problem = answerMismatch(choice, given.answer);
    if (problem !== null) return invalid([{ pointer: pointerOf(given.answer), detail: problem }]);
    return boundAnswer(ports, key, { thread, choice, given });
  }

  return {
    async list(key, page) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const { thread } = await loadThread(ports, key);
      const open = cutPage(Object.values(thread.choices), page, ({ position, choiceId }) => [position, choiceId]);
      const asked = open.data.map((choice) => ({ ...choice, ...stateOf(choice) }));
      return answered({ data: await choiceViews(log, key, asked), nextCursor: open.nextCursor });
    },
    judge,
    async assign(key, choiceId, { assignees, by }, origin) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const name = mintName(origin);
      const [id, requestId] = [inputIdOf(name), publicId('req', name)];
      const isOpen = ({ choices }: Thread): boolean => Object.hasOwn(choices, choiceId);
      const before = await loadThread(ports, key);
      if (!isOpen(before.thread)) return settledRefusal(ports, key, choiceId, before.thread.position + 1);
      await bus.publish(key, { kind: 'AssignmentRequest', id, requestId, choiceId, assignees, by });
      const decided = await decidedCommit(ports, key, id, decidedWithinMs);
      if (decided === null)
        throw new Fault('UNAVAILABLE', 'The thread has not come to it yet; it will. Sent again, it is the same.');
      const { thread } = await loadThread(ports, key);
      const shown = isOpen(thread) ? await shownChoice(log, key, thread, choiceId) : null;
      return shown === null ? settledRefusal(ports, key, choiceId, thread.position + 1) : answered(shown);
    },
    async answer(key, choiceId, answer, origin) {
      const name = mintName(origin);
      const id = inputIdOf(name);
      const requestId = publicId('req', name);
      const bound = await judge(key, choiceId, answer);
      if (!bound.ok) {
        // What the answer itself has settled, or changed, is no reason to refuse it when it is sent again.
        if (bound.refusal.code !== 'CHOICE_SETTLED' && bound.refusal.code !== 'CHOICE_CHANGED') return bound;
        const [own] = await log.findByInputs(key, [id]);
        return own && refusalIn(own, requestId) === undefined ? answered({ id: requestId }) : bound;
      }
      const { reason, decidedBy } = answer;
      const by = { credential: answer.credential ?? answer.by.actor, ...(answer.once && { once: answer.once }) };
      const said = { answer: answer.answer, reason, decidedBy, ...by, ...bound.value };
      await auditDecision(audit, key, choiceId, answer); // (H5)
      await bus.publish(key, { kind: 'ChoiceAnswer', id, requestId, choiceId, ...said });
      const decided = await decidedCommit(ports, key, id, decidedWithinMs); // (H1) null when the thread is behind
      const refusal = decided === null ? undefined : refusalIn(decided, requestId);
      if (decided === null || refusal === undefined) return answered({ id: requestId });
      if (refusal.code === 'CHOICE_CHANGED') return changed();
      if (refusal.code === 'APPROVAL_COUNTED') return counted();
      // One commit may have decided both answers.
      return settledRefusal(ports, key, choiceId, decided.version + decided.count + 1);
    },
  };
}

/** (H5) */
async function auditDecision(
  audit: Auditor,
  { tenant }: ThreadKey,
  choiceId: string,
  { answer, by }: GivenAnswer,
): Promise<void> {
  if (answer.answer !== 'decision') return;
  const action = answer.decision === 'deny' ? 'choice.denied' : 'choice.allowed';
  await audit.record({ ...by, tenant, action, target: choiceId, outcome: 'answered' });
}

/** What the answer brings besides itself, or why it must not be sent. (H2) */
async function boundAnswer(
  ports: ChoicePorts,
  key: ThreadKey,
  { thread, choice, given }: { readonly thread: Thread; readonly choice: Choice; readonly given: GivenAnswer },
): Promise<Answered<JudgedAnswer>> {
  const { arguments: edited, argumentsHash } = given;
  const isShared = (choice.approvalsNeeded ?? 1) > 1;
  if (edited === undefined && argumentsHash === undefined && !isShared) return answered({});
  const call = callOf(thread, choice.toolCallId);
  if (call === undefined || choice.kind !== 'approval')
    return invalid([{ pointer: edited ? '/arguments' : '/arguments_hash', detail: 'is only for approvals' }]);
  if (argumentsHash !== undefined && argumentsHash !== shownHash(call.arguments)) return changed();
  const current = hash('sha256', JSON.stringify(call.arguments));
  const shown = isShared ? { shown: current } : {}; // (H3)
  if (edited === undefined) return answered(shown);
  if (given.answer.answer !== 'decision' || given.answer.decision !== 'allow')
    return invalid([{ pointer: '/arguments', detail: 'comes only with the decision allow' }]);
  const problem = await editProblem(ports, key.tenant, call, edited);
  if (problem !== null) return invalid([{ pointer: '/arguments', detail: problem }]);
  return answered({ ...shown, edit: { arguments: edited, of: current } });
}

const counted = (): Answered<never> =>
  refused('APPROVAL_COUNTED', 'An approval of this credential counts already; another one is needed.');

async function shownChoice(
  log: ThreadLog,
  key: ThreadKey,
  thread: Thread,
  choiceId: string,
): Promise<ShownChoice | null> {
  const view = (await openChoices(log, key, thread)).find(({ id }) => id === choiceId);
  const call = view && callOf(thread, view.toolCallId);
  if (view === undefined || call === undefined) return null;
  const { operation, toolServer } = call;
  const since = thread.choices[choiceId]?.since ?? call.since;
  return { ...view, agent: thread.agent.name, operation, toolServer, since };
}

const changed = (): Answered<never> =>
  refused('CHOICE_CHANGED', 'The call has other arguments than this answer is about.');

const pointerOf = ({ answer }: Answer): string => (answer === 'selected' ? '/selected' : '/decision');

function refusalIn(commit: Commit, requestId: string): Extract<RecordedEvent, { type: 'RequestRefused' }> | undefined {
  const refusals = placedEvents(commit).flatMap(({ event }) => (event.type === 'RequestRefused' ? [event] : []));
  return refusals.find((refusal) => refusal.requestId === requestId);
}

async function settledRefusal(
  ports: ChoicePorts,
  key: ThreadKey,
  choiceId: string,
  before: number,
): Promise<Answered<never>> {
  const first = await lastEventBefore(
    ports.log,
    key,
    before,
    (event) => event.type === 'ChoiceSettled' && event.choiceId === choiceId,
  );
  if (first?.event.type !== 'ChoiceSettled') return notFound('choice');
  const { decision, selected, by, reason } = first.event;
  return refused('CHOICE_SETTLED', 'This choice has been answered.', {
    settled: { choiceId, decision, selected, by, reason, at: first.at },
  });
}
