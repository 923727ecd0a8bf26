// A client of one thread: opens it, talks, interrupts, cancels, approves, retries and perhaps closes. It repeats a
// request under the same idempotency key until it is answered, as the API's contract demands.
import type { Clock, ThreadKey, TenantId } from '@dormouse/ports';
import type { Ingress, RequestOrigin } from '@dormouse/runtime';
import type { Answer, ApprovalDecision, Thread } from '@dormouse/thread';
import type { SentRequest } from '../../invariants/history.ts';
import type { Random } from '../world/random.ts';

export interface ClientDeps {
  readonly name: string;
  readonly tenant: TenantId;
  readonly agent: string;
  readonly random: Random;
  readonly clock: Clock;
  readonly moment: () => number;
  readonly fresh: () => number;
  /** Runs against some living ingress; null when no answer came. */
  readonly ask: <T>(request: (ingress: Ingress) => Promise<T>) => Promise<T | null>;
  /** Ids that a request with this origin has, whether it is answered or not. */
  readonly idsOf: (origin: RequestOrigin) => {
    readonly inputId: string;
    readonly messageId: string;
    readonly threadId: string;
  };
  /** The thread that it will open; known before there is an answer. */
  readonly opened: (key: ThreadKey) => void;
  readonly sent: (request: SentRequest) => void;
  /** The thread as its log is now: what a user sees on the screen. */
  readonly look: (key: ThreadKey) => Thread | null;
  readonly counted: (path: string) => void;
  /** An answer that no client should get. */
  readonly surprised: (text: string) => void;
}

type Kind = SentRequest['kind'];
type Reply = { readonly ok: true } | { readonly ok: false; readonly refusal?: unknown };

const messages = 5;

export async function runClient(deps: ClientDeps): Promise<void> {
  const { random, clock } = deps;
  const key = await open(deps);
  for (let said = 0; said < messages; said += 1) {
    await clock.sleep(random.below(random.chance(0.3) ? 3_000 : 700));
    await meddle(deps, key);
    await say(deps, key);
  }
  await clock.sleep(random.below(1_500));
  await meddle(deps, key);
  if (!random.chance(0.3)) return;
  await post(deps, key, 'close', (ingress, origin) => ingress.requests.post(key, { ask: 'close' }, origin));
  await clock.sleep(random.below(800));
  if (random.chance(0.5)) await say(deps, key);
}

async function open(deps: ClientDeps): Promise<ThreadKey> {
  const origin = originOf(deps, '/v1/threads');
  const { threadId, messageId } = deps.idsOf(origin);
  const key = { tenant: deps.tenant, thread: threadId };
  deps.opened(key);
  const message = deps.random.chance(0.5) ? [{ type: 'text', text: words(deps) } as const] : null;
  const about = { inputId: `open:${threadId}`, messageId: message === null ? null : messageId };
  await untilAnswered(deps, key, 'opening', about, (ingress) =>
    ingress.threads.open(
      deps.tenant,
      {
        agent: deps.agent,
        agentVersion: null,
        userId: null,
        title: null,
        externalId: null,
        ifExists: null,
        metadata: {},
        message,
      },
      origin,
    ),
  );
  return key;
}

function say(deps: ClientDeps, key: ThreadKey): Promise<void> {
  const text = words(deps);
  return post(deps, key, 'message', (ingress, origin) => ingress.messages.post(key, [{ type: 'text', text }], origin));
}

/** What users do while an agent works. */
async function meddle(deps: ClientDeps, key: ThreadKey): Promise<void> {
  const { random } = deps;
  const thread = deps.look(key);
  const choices = Object.keys(thread?.choices ?? {});
  if (thread !== null && choices.length > 0 && random.chance(0.7))
    return answerChoice(deps, key, thread, random.pick(choices));
  const subscriptions = Object.keys(thread?.subscriptions ?? {});
  if (subscriptions.length > 0 && random.chance(0.1)) {
    const toolCallId = random.pick(subscriptions);
    return post(deps, key, 'cancel_call', (ingress, origin) =>
      ingress.requests.post(key, { ask: 'cancel_subscription', toolCallId }, origin),
    );
  }
  const calls = (thread?.calls ?? []).map(({ toolCallId }) => toolCallId);
  if (calls.length > 0 && random.chance(0.15)) {
    const toolCallId = random.pick(calls);
    return post(deps, key, 'cancel_call', (ingress, origin) =>
      ingress.requests.post(key, { ask: 'cancel_call', toolCallId }, origin),
    );
  }
  if (thread?.stalled === true && random.chance(0.6))
    return post(deps, key, 'retry', (ingress, origin) => ingress.requests.post(key, { ask: 'retry' }, origin));
  if (random.chance(0.2)) {
    const includeHuman = random.chance(0.3);
    return post(deps, key, 'interrupt', (ingress, origin) =>
      ingress.requests.post(key, { ask: 'interrupt', includeHuman }, origin),
    );
  }
}

function answerChoice(deps: ClientDeps, key: ThreadKey, thread: Thread, choiceId: string): Promise<void> {
  const { random } = deps;
  const decision: ApprovalDecision = random.pick(['allow', 'allow', 'deny', 'allow_for_thread']);
  const fitting: Answer =
    thread.choices[choiceId]?.kind === 'tool'
      ? { answer: 'selected', selected: random.below(2) }
      : { answer: 'decision', decision };
  const answer: Answer = random.chance(0.1) ? { answer: 'dismiss' } : fitting;
  // One of two people, where two must allow it.
  const isShared = (thread.choices[choiceId]?.approvalsNeeded ?? 1) > 1;
  const credential = isShared ? random.pick(['key_ann', 'key_ben']) : 'key_ann';
  return post(deps, key, 'choice', (ingress, origin) =>
    ingress.choices.answer(
      key,
      choiceId,
      { answer, reason: null, decidedBy: 'someone', by: client, credential },
      origin,
    ),
  );
}

/** A request to the thread; sometimes sent once more after it was answered. */
async function post(
  deps: ClientDeps,
  key: ThreadKey,
  kind: Kind,
  send: (ingress: Ingress, origin: RequestOrigin) => Promise<Reply>,
): Promise<void> {
  const origin = originOf(deps, `/v1/threads/${key.thread}/${kind}`);
  const { inputId, messageId } = deps.idsOf(origin);
  await untilAnswered(deps, key, kind, { inputId, messageId: kind === 'message' ? messageId : null }, (ingress) =>
    send(ingress, origin),
  );
  if (!deps.random.chance(0.1)) return;
  deps.counted('answered request sent again');
  await deps.ask((ingress) => send(ingress, origin));
}

async function untilAnswered(
  deps: ClientDeps,
  key: ThreadKey,
  kind: Kind,
  about: { readonly inputId: string; readonly messageId: string | null },
  send: (ingress: Ingress) => Promise<Reply>,
): Promise<void> {
  const sentAt = deps.moment();
  for (;;) {
    const reply = await deps.ask(send);
    if (reply !== null) {
      // An API refusal (a choice that is settled) is an answer too, but guarantees nothing.
      deps.sent({ key, kind, ...about, sentAt, answeredAt: reply.ok ? deps.moment() : null });
      if (!reply.ok) deps.counted(`${kind} refused by the API`);
      if (!reply.ok && kind !== 'choice')
        deps.surprised(`${kind} ${about.inputId} was refused: ${JSON.stringify(reply)}`);
      return;
    }
    deps.counted('client retried');
    await deps.clock.sleep(100 + deps.random.below(500));
  }
}

const originOf = (deps: ClientDeps, path: string): RequestOrigin => ({
  tenant: deps.tenant,
  method: 'POST',
  path,
  idempotencyKey: `${deps.name}-${deps.fresh()}`,
});

const words = (deps: ClientDeps): string => `m${deps.fresh()} of ${deps.tenant}-canary`;

const client = { actor: 'client', from: null, requestId: null };
