// A thread's event stream, as frames: durable events, the running completion's text, open choices and logins, views,
// status. The host writes them to a socket and nothing else.
//
// Invariants:
//   S1. Durable events carry their position as id, each once, in order, from the one after `after`. I-19
//   S2. Text that comes twice (once as "so far", once live) is cut: a client only appends. A new attempt starts over.
//   S3. On connect: status, open choices, open logins and current views, then what is newer, then the text so far.
//   S6. While the running completion waits for its next attempt, the stream shows it, also on connect.
//   S5. The URL of a login is opened for the stream alone; it is in no event. R84, R88
//   S7. Open questions of the threads below are shown too, with the thread that asks, as soon as the inbox has them.
//   S8. Text of a completion is not shown after its end.
//   S4. A closed thread gives what is newer, then `end`.
import type { Commit, Delta, Login, Question, Retrying, ThreadKey, View, TenantId } from '@dormouse/ports';
import { loginOwner } from '@dormouse/ports';
import { evolve, isAtRest, type SlotWait, statusOf, type Thread, type WaitingOn, waitingOn } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { loadThread } from '../../log/thread-reader.ts';
import { unsealed } from '../../secrets/unsealed.ts';
import { type ChoiceView, choiceViews, openChoices } from '../read/choice-view.ts';
import { DeltaCutter } from './delta-cutter.ts';
import { type ApiEvent, apiEvent } from '../read/events.ts';
import { followCommits, type FollowPorts, holdHints } from './follow-commits.ts';
import { endOf, placedEvents } from '../read/log-scan.ts';
import { familyOf, questionsBelow, statusWith, waitingWith } from '../read/questions-below.ts';
import { answered, type Answered, invalid } from '../refusal.ts';
import { slotWait } from '../read/slot-wait.ts';

export type Frame =
  | { readonly frame: 'event'; readonly event: ApiEvent }
  | { readonly frame: 'delta'; readonly data: Delta }
  | { readonly frame: 'retrying'; readonly data: RetryingView }
  | { readonly frame: 'choice'; readonly data: ChoiceView }
  | { readonly frame: 'oauth'; readonly data: OpenLogin }
  | { readonly frame: 'view'; readonly data: View }
  | { readonly frame: 'status'; readonly data: Pick<Mark, 'status' | 'waitingOn'> }
  /** Only with `marks`. */
  | { readonly frame: 'mark'; readonly data: Mark }
  | { readonly frame: 'lagged' }
  | { readonly frame: 'end' };

/** The thread after a commit, or when all that was stored has been given; comes after the commit's events. */
export interface Mark {
  readonly status: string;
  readonly waitingOn: readonly WaitingOn[];
  /** Nothing more happens by itself: the turn is over, or waits for a person or a time. */
  readonly atRest: boolean;
  readonly position: number;
}

export type RetryingView = Omit<Retrying, 'failedAt' | 'since'>;

/** A login that waits for the user. */
export interface OpenLogin extends Omit<Login, 'sealed'> {
  readonly authUrl: string;
  /** Set for a login of a thread below the one that is followed. */
  readonly threadId?: string;
}

export interface FollowApi {
  /**
   * 404, or `nothing_newer` on a closed thread that has been read to its end, or the stream. `marks` marks the thread
   * after each commit, too, from the newest one of the beginning on.
   */
  follow(
    key: ThreadKey,
    after: number,
    signal: AbortSignal,
    options?: { readonly marks?: boolean },
  ): Promise<Answered<AsyncIterable<Frame> | 'nothing_newer'>>;
}

export type FollowApiPorts = FollowPorts &
  Pick<IngressParts, 'snapshots' | 'threads' | 'logins' | 'sealer' | 'views' | 'inbox'>;

export function createFollowApi(ports: FollowApiPorts): FollowApi {
  return {
    async follow(key, after, signal, { marks = false } = {}) {
      const found = await ports.threads.find(key);
      if (!found.ok) return found;
      const { thread } = await loadThread(ports, key);
      if (after > thread.position) return invalid([{ pointer: '/after', detail: 'is beyond the last event' }]);
      if (thread.status === 'closed' && after >= thread.position) return answered('nothing_newer');
      return answered(frames(ports, key, { after, marks }, thread, signal));
    },
  };
}

async function* frames(
  ports: FollowApiPorts,
  key: ThreadKey,
  { after, marks }: { readonly after: number; readonly marks: boolean },
  head: Thread,
  signal: AbortSignal,
): AsyncGenerator<Frame> {
  const deltas = new DeltaCutter();
  let thread = head;
  let slot = slotWait([]);
  let given = after;
  const hints = await holdHints(ports, key, signal); // before anything else is read: nothing falls between
  let questions = await questionsBelow(ports.inbox, key, familyOf(thread));
  let shown = statusFrame(thread, slot, questions);
  yield shown; // (S3)
  for (const choice of await openChoices(ports.log, key, thread)) yield { frame: 'choice', data: choice };
  for (const login of await openLogins(ports, key, thread)) yield { frame: 'oauth', data: login };
  yield* framesBelow(ports, key.tenant, questions); // (S7)
  for (const view of await ports.views.list(key)) yield { frame: 'view', data: view }; // R97
  for await (const item of followCommits(ports, key, after, hints)) {
    if (item.what === 'lagged') return yield { frame: 'lagged' };
    const said = item.what === 'delta' ? [item.delta] : item.what === 'caught_up' ? item.soFar : [];
    yield* cutDeltas(deltas, said);
    if (item.what === 'view') yield { frame: 'view', data: item.view }; // R96
    if (item.what === 'retrying' || item.what === 'caught_up') yield* retryingFrames(thread, item.retrying); // (S6)
    if (item.what === 'commit') {
      await ports.threads.announce(item.commit);
      const seen = thread.position;
      yield* eventFrames(item.commit, after);
      for (const completionId of endedIn(item.commit)) deltas.end(completionId); // (S8)
      const asksForLogin = newLogins(item.commit, thread.position);
      thread = fold(thread, item.commit);
      for (const choice of await openChoices(ports.log, key, thread, seen)) yield { frame: 'choice', data: choice };
      if (asksForLogin.length > 0)
        for (const login of await openLogins(ports, key, thread))
          if (asksForLogin.includes(login.toolCallId)) yield { frame: 'oauth', data: login };
      given = endOf(item.commit);
    }
    if (item.what === 'questions') {
      const before = new Set(questions.map(nameOfQuestion));
      questions = await questionsBelow(ports.inbox, key, familyOf(thread));
      const fresh = questions.filter((question) => !before.has(nameOfQuestion(question)));
      yield* framesBelow(ports, key.tenant, fresh);
    }
    const waited = slot;
    slot = slotWait(said, slot);
    if (item.what === 'commit' || item.what === 'questions' || slot?.completionId !== waited?.completionId) {
      const status = statusFrame(thread, slot, questions);
      if (JSON.stringify(status) !== JSON.stringify(shown)) yield (shown = status);
    }
    if (marks && (item.what === 'commit' || item.what === 'caught_up' || item.what === 'questions')) {
      if (given >= thread.position) yield markOf(thread, shown);
    }
    if (thread.status === 'closed' && given >= thread.position) return yield { frame: 'end' }; // (S4)
  }
}

/** (S1) */
function* eventFrames(commit: Commit, after: number): Generator<Frame> {
  for (const placed of placedEvents(commit, after)) yield { frame: 'event', event: apiEvent(placed) };
}

const endedIn = (commit: Commit): readonly string[] =>
  placedEvents(commit).flatMap(({ event }) =>
    event.type === 'CompletionRecorded' || event.type === 'CompletionFailed' ? [event.completionId] : [],
  );

/** Calls of this commit that ask for a login and had not been seen when the stream began. */
const newLogins = (commit: Commit, seen: number): readonly string[] =>
  placedEvents(commit, seen).flatMap(({ event }) => (event.type === 'OauthRequested' ? [event.toolCallId] : []));

/** (S5) */
async function openLogins(ports: FollowApiPorts, key: ThreadKey, thread: Thread): Promise<readonly OpenLogin[]> {
  const waiting = thread.calls.filter((call) => call.waiting.for === 'login');
  if (waiting.length === 0) return [];
  const logins = await ports.logins.list(key, ports.clock.now());
  return logins
    .filter(({ toolCallId }) => waiting.some((call) => call.toolCallId === toolCallId))
    .flatMap((login) => loginView(ports, key, login) ?? []);
}

/** Null for one whose master key was removed: nothing shows it any more. */
function loginView(
  { sealer }: FollowApiPorts,
  { tenant, thread }: ThreadKey,
  { toolCallId, sealed, expiresAt }: Login,
): OpenLogin | null {
  const authUrl = unsealed(sealer, loginOwner(tenant, thread, toolCallId), sealed);
  return authUrl === null ? null : { toolCallId, authUrl, expiresAt };
}

/** No frame for a completion that is over. */
function* retryingFrames({ completion }: Thread, retrying: Retrying | null): Generator<Frame> {
  if (retrying === null || completion?.completionId !== retrying.completionId) return;
  const { failedAt: _, since: __, ...data } = retrying;
  yield { frame: 'retrying', data };
}

function* cutDeltas(cutter: DeltaCutter, deltas: readonly Delta[]): Generator<Frame> {
  for (const delta of deltas) {
    if (delta.kind === 'slot') continue; // it is part of the status
    const data = cutter.cut(delta); // (S2)
    if (data !== null) yield { frame: 'delta', data };
  }
}

function fold(thread: Thread, commit: Commit): Thread {
  return placedEvents(commit, thread.position).reduce((state, { event, at }) => evolve(state, event, at), thread);
}

const statusFrame = (
  thread: Thread,
  slot: SlotWait | null,
  questions: readonly Question[],
): Extract<Frame, { readonly frame: 'status' }> => {
  const status = statusOf(thread);
  const waiting = waitingWith(status, waitingOn(thread, slot), questions);
  return { frame: 'status', data: { status: statusWith(status, questions), waitingOn: waiting } };
};

const markOf = (
  thread: Thread,
  { data }: ReturnType<typeof statusFrame>,
): Extract<Frame, { readonly frame: 'mark' }> => ({
  frame: 'mark',
  data: { ...data, atRest: isAtRest(thread), position: thread.position },
});

/** A call may ask for a login again, under the same id; a choice may change while it is open. */
const nameOfQuestion = ({ id, asked, progress }: Question): string => `${id} ${asked} ${progress?.position ?? asked}`;

/** (S7) */
async function* framesBelow(
  ports: FollowApiPorts,
  tenant: TenantId,
  questions: readonly Question[],
): AsyncGenerator<Frame> {
  for (const question of questions) {
    const { id, thread, kind, asked, assignees, progress } = question;
    const key = { tenant, thread };
    if (kind === 'oauth') {
      for (const login of await ports.logins.list(key, ports.clock.now())) {
        const shown = login.toolCallId === question.toolCallId ? loginView(ports, key, login) : null;
        if (shown !== null) yield { frame: 'oauth', data: { ...shown, threadId: thread } };
      }
    } else {
      const asking = [{ choiceId: id, position: asked, assignees, progress }];
      for (const choice of await choiceViews(ports.log, key, asking))
        yield { frame: 'choice', data: { ...choice, threadId: thread } };
    }
  }
}
