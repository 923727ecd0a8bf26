// Choices that wait for a person, and their answers: approvals of calls (R27), and what tools ask (R89–R92).
//
// Invariants:
//   H1. The first answer stays. A second one is refused with the first, whether the first is seen before the second is
//       sent or was decided before it; in the latter case the thread has recorded the second as refused.
import type { InputBus, PageRequest, Snapshots, ThreadKey } from '@dormouse/ports';
import { type Answer, answerMismatch, type RecordedEvent } from '@dormouse/thread';
import { loadThread } from '../../log/thread-reader.ts';
import { type ChoiceView, choiceViews } from '../read/choice-view.ts';
import { decidedCommit } from '../watch/decided-commit.ts';
import type { FollowPorts } from '../watch/follow-commits.ts';
import { inputIdOf, type MintRequestName, publicId, type RequestOrigin } from '../access/client-id.ts';
import { lastEventBefore, placedEvents } from '../read/log-scan.ts';
import { answered, type Answered, invalid, notFound, refused } from '../refusal.ts';
import type { ThreadLookup } from './thread-lookup.ts';
import type { ListPage } from '../read/thread-page.ts';
import { cutPage } from '../read/whole-list.ts';

export interface GivenAnswer {
  readonly answer: Answer;
  readonly reason: string | null;
  readonly decidedBy: string | null;
}

export interface ChoiceApi {
  list(key: ThreadKey, page: PageRequest): Promise<Answered<ListPage<ChoiceView>>>;
  answer(
    key: ThreadKey,
    choiceId: string,
    answer: GivenAnswer,
    origin: RequestOrigin,
  ): Promise<Answered<{ readonly id: string }>>;
}

export interface ChoicePorts extends FollowPorts {
  readonly snapshots: Snapshots;
  readonly bus: InputBus;
  readonly threads: ThreadLookup;
  readonly mintName: MintRequestName;
}

/** How long a client waits for the decision whether its answer was first. */
const decidedWithinMs = 5_000;

export function createChoiceApi(ports: ChoicePorts): ChoiceApi {
  const { log, bus, threads, mintName } = ports;
  return {
    async list(key, page) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const { thread } = await loadThread(ports, key);
      const open = cutPage(Object.values(thread.choices), page, ({ position, choiceId }) => [position, choiceId]);
      return answered({ data: await choiceViews(log, key, open.data), nextCursor: open.nextCursor });
    },
    async answer(key, choiceId, answer, origin) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const name = mintName(origin);
      const id = inputIdOf(name);
      const requestId = publicId('req', name);
      const { thread } = await loadThread(ports, key);
      const choice = Object.hasOwn(thread.choices, choiceId) ? thread.choices[choiceId] : undefined;
      const problem = choice === undefined ? null : answerMismatch(choice, answer.answer);
      if (problem !== null) return invalid([{ pointer: pointerOf(answer.answer), detail: problem }]);
      if (choice === undefined) {
        const [own] = await log.findByInputs(key, [id]);
        if (
          own !== null &&
          own !== undefined &&
          !isRefused(
            placedEvents(own).map(({ event }) => event),
            requestId,
          )
        )
          return answered({ id: requestId });
        return settledRefusal(ports, key, choiceId, thread.position + 1);
      }
      await bus.publish(key, { kind: 'ChoiceAnswer', id, requestId, choiceId, ...answer });
      const decided = await decidedCommit(ports, key, id, decidedWithinMs); // (H1) null when the thread is behind
      const lost =
        decided &&
        isRefused(
          placedEvents(decided).map(({ event }) => event),
          requestId,
        );
      // One commit may have decided both answers.
      return lost
        ? settledRefusal(ports, key, choiceId, decided.version + decided.count + 1)
        : answered({ id: requestId });
    },
  };
}

const pointerOf = ({ answer }: Answer): string => (answer === 'selected' ? '/selected' : '/decision');

const isRefused = (events: readonly RecordedEvent[], requestId: string): boolean =>
  events.some((event) => event.type === 'RequestRefused' && event.requestId === requestId);

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
