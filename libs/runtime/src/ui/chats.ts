// Chats of pages: threads by their `external_id`, and what a page does with them, whatever protocol it speaks. Owns no
// protocol's shapes; encoders and routes do.
//
// Invariants:
//   H1. A chat is a thread of its agent: another agent's thread is not found by its id.
//   H2. A message of a page is taken once: its id and its thread make the input's id.
//   H3. An answer is read from the commit on that decided its message: sent again, the same answer is given again.
//   H4. Of several answers to choices none is sent while one of them would be refused.
import type { ThreadKey, ThreadLog, TenantId } from '@dormouse/ports';
import { isAtRest, type RecordedEvent, statusOf, type Thread, waitingOn } from '@dormouse/thread';
import type { IngressParts } from '../ingress-gateway/ingress-ports.ts';
import { loadThread } from '../log/thread-reader.ts';
import { inputIdOf, type RequestOrigin } from '../ingress-gateway/access/client-id.ts';
import { apiJson } from '../ingress-gateway/read/api-json.ts';
import { apiEvent, type ApiEvent } from '../ingress-gateway/read/events.ts';
import { commitsAfter, endOf, lastEventBefore, placedEvents } from '../ingress-gateway/read/log-scan.ts';
import { familyOf, questionsBelow } from '../ingress-gateway/read/questions-below.ts';
import { answered, type Answered, notFound, refused } from '../ingress-gateway/refusal.ts';
import { unknownName } from '../ingress-gateway/registry/known-names.ts';
import { decidedCommit } from '../ingress-gateway/watch/decided-commit.ts';
import type { FollowPorts } from '../ingress-gateway/watch/follow-commits.ts';
import type { FollowApi } from '../ingress-gateway/watch/follow.ts';
import type { ChoiceApi, GivenAnswer } from '../ingress-gateway/write/choices.ts';
import type { MessageItem } from '../ingress-gateway/write/message-content.ts';
import type { MessageApi } from '../ingress-gateway/write/messages.ts';
import type { RequestApi } from '../ingress-gateway/write/requests.ts';
import type { ThreadApi } from '../ingress-gateway/write/threads.ts';
import { type ThreadMark, type Watched, watchedOf } from './watched.ts';

export interface ChatName {
  readonly tenant: TenantId;
  /** Name or id. */
  readonly agent: string;
  readonly chatId: string;
}

/** Where an answer is read from. */
export interface AnswerPlace {
  readonly after: number;
  /** The public id of the message that is answered; null where the model is asked again without one. */
  readonly messageId: string | null;
}

/** The answer that is being given. */
export interface RunningAnswer {
  readonly turnId: string;
  /** The position before the turn's first event. */
  readonly after: number;
  readonly position: number;
}

export interface Chats {
  find(name: ChatName): Promise<Answered<ThreadKey>>;
  /** Opens the thread if there is none. 404 when there is no such agent, 409 when another agent's thread has the id. */
  open(name: ChatName): Promise<Answered<ThreadKey>>;
  /** (H2) */
  say(key: ThreadKey, pageMessageId: string, items: readonly MessageItem[]): Promise<Answered<AnswerPlace>>;
  /** Asks again: what failed is tried again, else the message is sent once more. (H2) */
  again(key: ThreadKey, pageMessageId: string, items: readonly MessageItem[]): Promise<Answered<AnswerPlace>>;
  /** What follows comes after this position, and about these calls. A choice that was answered before stays so. */
  answer(
    key: ThreadKey,
    answers: readonly ChoiceReply[],
  ): Promise<Answered<{ readonly after: number; readonly calls: readonly string[] }>>;
  /** What people are asked in the thread and below it, but for logins. */
  questions(key: ThreadKey): Promise<readonly OpenQuestion[]>;
  stop(key: ThreadKey, origin: RequestOrigin): Promise<Answered<{ readonly id: string }>>;
  /** Null while the thread is at rest. */
  running(key: ThreadKey): Promise<RunningAnswer | null>;
  /** The thread as it is now. */
  mark(key: ThreadKey): Promise<ThreadMark>;
  /** All events up to `upTo`, in order. */
  events(key: ThreadKey, after: number, upTo: number): AsyncIterable<ApiEvent>;
  watch(key: ThreadKey, after: number, signal: AbortSignal): Promise<Answered<AsyncIterable<Watched>>>;
}

export interface OpenQuestion {
  readonly id: string;
  readonly thread: string;
}

export interface ChoiceReply {
  readonly choiceId: string;
  /** Default: the thread of the chat. */
  readonly thread?: string;
  readonly answer: GivenAnswer;
}

/** How long to wait for the decision on a request. */
const decidedWithinMs = 5_000;

export type ChatPorts = FollowPorts &
  Pick<IngressParts, 'agents' | 'directory' | 'inbox' | 'snapshots' | 'bus' | 'mintName'>;

export interface ChatParts {
  readonly threads: ThreadApi;
  readonly messages: MessageApi;
  readonly choices: ChoiceApi;
  readonly requests: RequestApi;
  readonly follow: FollowApi;
}

export function createChats(ports: ChatPorts, parts: ChatParts): Chats {
  const { agents, directory, log } = ports;
  const agentNameOf = async ({ tenant, agent }: ChatName): Promise<string> =>
    (await agents.latest(tenant, agent))?.name ?? agent;

  const originOf = ({ tenant, thread }: ThreadKey, name: string): RequestOrigin => ({
    ...{ tenant, method: 'UI', path: `/v1/ui/${thread}`, idempotencyKey: name },
  });

  async function say(key: ThreadKey, name: string, items: readonly MessageItem[]): Promise<Answered<AnswerPlace>> {
    const head = endOf(await log.head(key));
    const posted = await parts.messages.post(key, items, originOf(key, name));
    if (!posted.ok) return posted;
    const { id: messageId, inputId } = posted.value;
    const [decided] = await log.findByInputs(key, [inputId]);
    return answered({ messageId, after: Math.min(head, decided?.version ?? head) }); // (H3)
  }

  return {
    say,
    async find(name) {
      const page = { limit: 1, cursor: null };
      const [row] = (await directory.list(name.tenant, { externalId: name.chatId }, page)).data;
      if (row === undefined || row.agent !== (await agentNameOf(name))) return notFound('chat'); // (H1)
      return answered({ tenant: row.tenant, thread: row.thread });
    },
    async open(name) {
      const { tenant, agent, chatId: externalId } = name;
      if ((await agents.latest(tenant, agent)) === null)
        return refused('NOT_FOUND', await unknownName('agent', agent, (page) => agents.list(tenant, page)));
      const wanted = { agent, agentVersion: null, userId: null, title: null, externalId, metadata: {}, message: null };
      const origin = { tenant, method: 'UI', path: '/v1/ui', idempotencyKey: null };
      const opened = await parts.threads.open(tenant, { ...wanted, ifExists: 'return' }, origin);
      if (!opened.ok) return opened;
      const { thread } = opened.value;
      if (thread.agent.name !== (await agentNameOf(name)))
        return refused('ALREADY_EXISTS', 'A thread of another agent has this id.');
      return answered({ tenant, thread: thread.id });
    },
    async again(key, name, items) {
      const { thread } = await loadThread(ports, key);
      if (!thread.stalled) return say(key, `${name} again after ${thread.turnId ?? ''}`, items);
      const origin = originOf(key, `retry at ${thread.position}`);
      const asked = await parts.requests.post(key, { ask: 'retry' }, origin);
      if (!asked.ok) return asked;
      await decidedCommit(ports, key, inputIdOf(ports.mintName(origin)), decidedWithinMs); // until then it is at rest
      return answered({ messageId: null, after: thread.position });
    },
    async answer(key, answers) {
      const { calls, position: head } = (await loadThread(ports, key)).thread;
      for (const { choiceId, answer, thread = key.thread } of answers) {
        const judged = await parts.choices.judge({ ...key, thread }, choiceId, answer); // (H4)
        if (!judged.ok && judged.refusal.code !== 'CHOICE_SETTLED') return judged;
      }
      for (const { choiceId, answer, thread = key.thread } of answers) {
        const asking = { ...key, thread };
        const origin = originOf(asking, nameOfAnswer(choiceId, answer));
        const given = await parts.choices.answer(asking, choiceId, answer, origin);
        if (!given.ok && given.refusal.code !== 'CHOICE_SETTLED') return given;
      }
      const settled = await Promise.all(answers.map(({ choiceId }) => settledAt(log, key, choiceId)));
      const after = Math.min(head, ...settled.map((position) => (position === null ? head : position - 1)));
      return answered({ after, calls: calls.map(({ toolCallId }) => toolCallId) });
    },
    async questions(key) {
      const { thread } = await loadThread(ports, key);
      const own = Object.keys(thread.choices).map((id) => ({ id, thread: key.thread }));
      const asked = await questionsBelow(ports.inbox, key, familyOf(thread));
      const below = asked.filter(({ kind }) => kind !== 'oauth');
      return [...own, ...below.map(({ id, thread: child }) => ({ id, thread: child }))];
    },
    stop: (key, origin) => parts.requests.post(key, { ask: 'interrupt', includeHuman: false }, origin),
    async running(key) {
      const { thread } = await loadThread(ports, key);
      const { turnId, position } = thread;
      if (turnId === null || thread.status === 'closed' || isAtRest(thread)) return null;
      return { turnId, position, after: await turnStart(log, key, turnId, position) };
    },
    mark: async (key) => markOf((await loadThread(ports, key)).thread),
    events: (key, after, upTo) => eventsUpTo(log, key, after, upTo),
    async watch(key, after, signal) {
      const frames = await parts.follow.follow(key, after, signal, { marks: true });
      if (!frames.ok) return frames;
      return answered(frames.value === 'nothing_newer' ? none() : watched(frames.value));
    },
  };
}

const markOf = (thread: Thread): ThreadMark => {
  const waiting = waitingOn(thread).map((each) => apiJson(each) as object);
  const { position } = thread;
  return { frame: 'mark', data: { status: statusOf(thread), waitingOn: waiting, atRest: isAtRest(thread), position } };
};

async function* watched(frames: Exclude<FrameSource, 'nothing_newer'>): AsyncGenerator<Watched> {
  for await (const frame of frames) {
    const taken = watchedOf(frame);
    if (taken !== null) yield taken;
  }
}

type FrameSource = Extract<Awaited<ReturnType<FollowApi['follow']>>, { readonly ok: true }>['value'];

/** A closed thread that has nothing newer: it is at rest. */
async function* none(): AsyncGenerator<Watched> {
  yield { frame: 'mark', data: { status: 'closed', waitingOn: [], atRest: true, position: 0 } };
}

async function* eventsUpTo(log: ThreadLog, key: ThreadKey, after: number, upTo: number): AsyncGenerator<ApiEvent> {
  for await (const commit of commitsAfter(log, key, after))
    for (const placed of placedEvents(commit, after)) {
      if (placed.position > upTo) return;
      yield apiEvent(placed);
    }
}

/** The same answer of the same credential is one, however often a page sends it; several may have to allow a call. */
const nameOfAnswer = (
  choiceId: string,
  { answer, by, credential = by.actor, arguments: edited }: GivenAnswer,
): string => `answer ${choiceId} ${JSON.stringify([credential, answer, edited ?? null])}`;

async function settledAt(log: ThreadLog, key: ThreadKey, choiceId: string): Promise<number | null> {
  const end = endOf(await log.head(key));
  const isIt = (event: RecordedEvent): boolean => event.type === 'ChoiceSettled' && event.choiceId === choiceId;
  return (await lastEventBefore(log, key, end + 1, isIt))?.position ?? null;
}

/** The position before the first event of a turn that has begun and is the last one. */
async function turnStart(log: ThreadLog, key: ThreadKey, turnId: string, head: number): Promise<number> {
  const isOfAnother = (event: RecordedEvent): boolean =>
    event.type === 'CompletionRequested' && event.turnId !== turnId;
  const before = await lastEventBefore(log, key, head + 1, isOfAnother);
  for await (const { position, turn_id: turn } of eventsUpTo(log, key, before?.position ?? 0, head))
    if (turn === turnId) return position - 1;
  return head;
}
