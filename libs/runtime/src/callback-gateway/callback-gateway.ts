// The door for tool servers: turns a POST on a callback URL into an input of its thread, or into an answer that says
// why not. Judges the message; whether anything waits for it is for `decide`. RAP transport, Tool → Runtime.
// Not here: how the input of each type is made (accept/).
//
// Answers: 200 accepted, already known, or nothing pending · 401 not our token · 403 the body is about another call ·
// 410 expired or revoked · 400 not JSON · 413 too large · 415 not `application/json` · 422 not a RAP message ·
// 503 with Retry-After for anything temporary. Never 429: tools do not retry a 4xx, so it would lose messages.
//
// Invariants:
//   C1. 200 is said when the input is durable, never before.
//   C2. `Dedup` records a message only after that; a missing record costs one more check by `decide`, no more.
//   C3. A message that is refused for good is visible on its thread before the refusal is answered, because tools do
//       not retry a 4xx; a `tool_result` that is too large or unreadable settles its call.
//   C4. The token is in no log line and in no answer; nor is the URL of a login or of a choice's answer, sealed here.
//   C5. An event is accepted once under its sender's event id; without one it is at least once, under our own id. I-13
//   C6. A long message is processed step by step: whatever a server sends, other work waits for one step at most. Only
//       a few are read at once, in rotation over the tenants; the others wait, as bytes.
//   C7. The token is judged, and the tenant's share, before a request is read: its rate, and how much of it waits for
//       its threads already.
//   C8. A question or a login is one under its sender's message id. Without one each is an input of its own, and the
//       thread recognises a repetition by the hash of the question, while that is open. R94
//   C9. An event for a thread with too many unseen inputs is answered 503, but for one in a while: a thread that has
//       stopped before its model saw them needs an input to go on. Results are always taken, because the thread may
//       be waiting for that very one.
import { resultOf } from '@dormouse/json';
import { Fault, type BusInput, type Logger, type RateLimit, type Stores, type TenantId } from '@dormouse/ports';
import { callbackBytesMax, type Callback } from '@dormouse/protocol';
import { inputIds } from '@dormouse/thread';
import { hashOf, isLong, type Acceptance, type AcceptanceDeps } from './accept/acceptance.ts';
import { acceptChoice } from './accept/choice.ts';
import { acceptEvent } from './accept/event.ts';
import { acceptLogin } from './accept/login.ts';
import { acceptResult } from './accept/result.ts';
import { acceptTrial } from './accept/trial.ts';
import { isTrial } from '../ingress-gateway/registry/trial.ts';
import { acceptView, contentOf } from './accept/view.ts';
import { type CallbackTally, noTally } from './callback-tally.ts';
import type { CallbackScope, CallbackTokens } from './callback-token.ts';
import { type TenantLimits, unlimited } from '../tenants/tenant-limits.ts';
import { inTurns } from '../in-turns.ts';
import { createBoundedQueue } from '../bounded-queue.ts';
import {
  readingBody,
  tooLarge,
  typeOf,
  whyUnread,
  type Accepted,
  type CallbackRequest,
  type Refused,
} from './callback-body.ts';

export interface CallbackAnswer {
  readonly status: 200 | 400 | 401 | 403 | 410 | 413 | 415 | 422 | 503;
  readonly code?: string;
  readonly detail?: string;
  readonly retryAfterS?: number;
}

/** Reads a request, once its token has been judged. Whatever it throws is thrown on. */
export type ReadRequest = () => Promise<CallbackRequest>;

export interface CallbackGateway {
  /** @throws only for faults of our own; the host answers 500, which tools retry. */
  receive(token: string, request: CallbackRequest | ReadRequest): Promise<CallbackAnswer>;
}

export interface CallbackGatewayDeps extends AcceptanceDeps, Pick<Stores, 'dedup' | 'rates'> {
  readonly tokens: CallbackTokens;
  /** Rate limit of one tenant; null for no limit. R43 */
  readonly rate?: RateLimit | null;
  readonly logger: Logger;
  /** Default: as many of one tenant may wait for their threads as come. */
  readonly limits?: Pick<TenantLimits, 'mayEnter' | 'isFull'>;
  /** Default: nothing is counted. */
  readonly tally?: CallbackTally;
  readonly settings?: Partial<typeof defaultSettings>;
}

const defaultSettings = {
  bodyBytesMax: callbackBytesMax,
  inlineBytesMax: 65_536,
  viewBytesMax: 1_048_576,
  retryAfterS: 5,
  loginDeadlineMs: 86_400_000,
  choiceDeadlineMs: 3_600_000,
};

/** Text and values take several times the memory of the bytes that they are read from. */
const readAtOnceMax = 2;
/** Waiting long messages of one tenant; one more is answered 503, and its tool retries. */
const waitingMaxOfTenant = 32;
/** Events that a full thread is given all the same. (C9) */
const rateOfFullThread: RateLimit = { perSecond: 1 / 60, burst: 1 };
const taken: CallbackAnswer = { status: 200 };

export function createCallbackGateway(deps: CallbackGatewayDeps): CallbackGateway {
  const settings = { ...defaultSettings, ...deps.settings };
  const { tally = noTally, limits = unlimited } = deps;
  const longOnes = createBoundedQueue({ insideMax: readAtOnceMax, waitingMax: waitingMaxOfTenant }); // (C6)

  /** Makes the input durable unless it is known to be; whether it was. (C1, C2) */
  async function publish(scope: CallbackScope, id: string, make: () => Promise<BusInput>): Promise<boolean> {
    const { tenant, thread } = scope;
    const known = `${thread}:${id}`;
    if (await deps.dedup.seen(tenant, known).catch(notKnown)) return true;
    await deps.inputs.publish({ tenant, thread }, await make(), null);
    await deps.dedup.remember(tenant, known).catch(degraded);
    return false;
  }

  /** The log dedups for ever, so a hit in `Dedup` may always be believed. (C2) */
  function notKnown(error: unknown): boolean {
    degraded(error);
    return false;
  }

  function degraded(error: unknown): void {
    if (!(error instanceof Fault)) throw error;
    deps.logger.warn('callback_dedup_unavailable', { code: error.code });
  }

  async function refuse(scope: CallbackScope, refused: Refused, body: Uint8Array | string): Promise<CallbackAnswer> {
    const { tenant, thread, toolCallId } = scope;
    const { status, code, detail, settles } = refused;
    const id = inputIds.callbackRejection(toolCallId, refused.about ?? hashOf(body));
    const rejection = { kind: 'CallbackRejection', id, toolCallId, reason: detail, settles, code } as const;
    if (!isTrial(thread)) {
      await publish(scope, id, async () => rejection); // (C3)
      tally.refused(scope);
    }
    deps.logger.warn('callback_refused', { tenant, thread, call: toolCallId, status, code });
    return { status, code, detail };
  }

  function accept(scope: CallbackScope, read: Accepted, request: CallbackRequest): Promise<void> {
    const { callback } = read;
    if (callback.groupId === undefined)
      deps.logger.info('callback_without_group_id', { tenant: scope.tenant, toolServer: scope.toolServer });
    const publishOnce: Acceptance['publish'] = async (id, make) => {
      if (await publish(scope, id, make)) tally.duplicate(scope);
    };
    const message: Acceptance = { deps, settings, scope, request, publish: publishOnce };
    if (isTrial(scope.thread)) return acceptTrial(message, callback);
    switch (callback.type) {
      case 'tool_result':
        return acceptResult(message, callback);
      case 'subscription_event':
        return acceptEvent(message, callback);
      case 'oauth':
        return acceptLogin(message, callback);
      case 'user_choice':
        return acceptChoice(message, callback);
      case 'view_update':
        return acceptView(message, callback.viewType, contentOf(callback, read));
    }
  }

  async function judge(scope: CallbackScope, request: CallbackRequest): Promise<CallbackAnswer> {
    const { body } = request;
    const unread = whyUnread(request, settings.bodyBytesMax);
    if (unread !== null) return refuse(scope, unread, body);
    const read = isLong(request)
      ? await longOnes(scope.tenant, () => inTurns(readingBody(body)))
      : resultOf(readingBody(body));
    if (!read.ok) return refuse(scope, read.refused, body);
    const { callback } = read;
    if (!isAbout(scope, callback))
      return { status: 403, code: 'FORBIDDEN', detail: 'the message is about another thread or call than its URL' };
    if (callback.type === 'view_update') {
      const size = Buffer.byteLength(contentOf(callback, read));
      if (size > settings.viewBytesMax)
        return refuse(scope, tooLarge(`a view of ${size} bytes, above ${settings.viewBytesMax}`, callback.type), body);
    }
    const waitS = callback.type === 'subscription_event' ? await tooFull(scope) : null;
    if (waitS !== null) return later('the model of this thread has too many inputs to see; send it again later', waitS);
    await accept(scope, read, request);
    return taken;
  }

  /** Seconds to wait, for an event of a thread that is full. (C9) */
  async function tooFull({ tenant, thread }: CallbackScope): Promise<number | null> {
    if (!limits.isFull(tenant, thread)) return null;
    const { allowed, retryAfterMs } = await deps.rates.take(tenant, `events of ${thread}`, rateOfFullThread);
    return allowed ? null : secondsOf(retryAfterMs);
  }

  /** An input too large for a record is refused for good: sending it again does not help. (C3) */
  async function judged(scope: CallbackScope, request: CallbackRequest): Promise<CallbackAnswer> {
    try {
      return await judge(scope, request);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'RECORD_TOO_LARGE') throw error;
      return refuse(scope, tooLarge('more than the bus takes at once', typeOf(request.body)), request.body);
    }
  }

  /** Seconds to wait, for a tenant above its share. Nothing is lost: tools retry after a 503. */
  async function tooFast(tenant: TenantId): Promise<number | null> {
    if (!limits.mayEnter(tenant).ok) return settings.retryAfterS;
    const { rate = null } = deps;
    if (rate === null) return null;
    const { allowed, retryAfterMs } = await deps.rates.take(tenant, 'callbacks', rate);
    return allowed ? null : secondsOf(retryAfterMs);
  }

  return {
    async receive(token, given) {
      const verdict = deps.tokens.verify(token, deps.clock.now());
      if (!verdict.ok) {
        deps.logger.warn('callback_refused', { status: verdict.status, code: verdict.code }); // (C4)
        return { status: verdict.status, code: verdict.code, detail: verdict.detail };
      }
      const { scope } = verdict;
      const waitS = await tooFast(scope.tenant);
      if (waitS !== null) return later('too many messages; send it again later', waitS);
      const request = typeof given === 'function' ? await given() : given; // (C7)
      try {
        return await judged(scope, request);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const retryAfterS = error.retryAfterMs === null ? settings.retryAfterS : secondsOf(error.retryAfterMs);
        deps.logger.warn('callback_deferred', { tenant: scope.tenant, thread: scope.thread, code: error.code });
        return later('this message cannot be taken right now; send it again', retryAfterS);
      }
    },
  };
}

const later = (detail: string, retryAfterS: number): CallbackAnswer => ({
  status: 503,
  code: 'UNAVAILABLE',
  detail,
  retryAfterS,
});

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

/** RAP tool-result, Routing: the message belongs to the call of its URL. R34 A missing group id is the token's. */
function isAbout(scope: CallbackScope, callback: Callback): boolean {
  if (callback.groupId !== undefined && callback.groupId !== scope.thread) return false;
  switch (callback.type) {
    case 'tool_result':
    case 'oauth':
    case 'user_choice':
      return callback.id === scope.toolCallId;
    case 'subscription_event':
      return callback.toolCallId === scope.toolCallId;
    case 'view_update':
      return true;
  }
}
