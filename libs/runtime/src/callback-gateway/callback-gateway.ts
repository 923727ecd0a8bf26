// The door for tool servers: turns a POST on a callback URL into an input of its thread, or into an answer that says
// why not. Judges the message; whether anything waits for it is for `decide`. RAP transport, Tool → Runtime.
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
//   C7. The token is judged, and the tenant's share, before a request is read.
//   C8. A question or a login is one under its sender's message id. Without one each is an input of its own, and the
//       thread recognises a repetition by the hash of the question, while that is open. R94
import { type Steps, resultOf, shortJsonCharacters } from '@dormouse/json';
import { hash } from 'node:crypto';
import {
  answerOwner,
  type Blobs,
  type BusInput,
  type Clock,
  type Dedup,
  type Entropy,
  Fault,
  type InputBus,
  type Logger,
  loginOwner,
  type Logins,
  type RateLimit,
  type RateLimits,
  type Sealer,
} from '@dormouse/ports';
import { callbackBytesMax, idCharactersMax, opensSubscription, resultContent, type Callback } from '@dormouse/protocol';
import { inputIds, type CallbackRejection } from '@dormouse/thread';
import type { CallbackScope, CallbackTokens } from './callback-token.ts';
import { cleanText } from './clean-text.ts';
import { inTurns, inTurnsIf } from '../in-turns.ts';
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
import { cleaningResult, dividingResult, storeBlobs, type CleanResult, type DividedResult } from './result-content.ts';

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

export interface CallbackGatewayDeps {
  readonly tokens: CallbackTokens;
  readonly inputs: InputBus;
  readonly blobs: Blobs;
  readonly dedup: Dedup;
  readonly logins: Logins;
  readonly sealer: Sealer;
  readonly rates: RateLimits;
  /** Rate limit of one tenant; null for no limit. R43 */
  readonly rate?: RateLimit | null;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly settings?: Partial<CallbackGatewaySettings>;
}

export interface CallbackGatewaySettings {
  readonly bodyBytesMax: number;
  /** Payload of one result that is kept in the log itself. */
  readonly inlineBytesMax: number;
  readonly viewBytesMax: number;
  readonly retryAfterS: number;
  /** How long a person may take to log in, and to choose. */
  readonly loginDeadlineMs: number;
  readonly choiceDeadlineMs: number;
}

const defaultSettings: CallbackGatewaySettings = {
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
const isLong = ({ body }: CallbackRequest): boolean => body.length > shortJsonCharacters;
/** Megabytes are worked on step by step. (C6) */
const taking = async <Result>(request: CallbackRequest, steps: Steps<Result>): Promise<Result> =>
  inTurnsIf(isLong(request), steps);

const taken: CallbackAnswer = { status: 200 };

export function createCallbackGateway(deps: CallbackGatewayDeps): CallbackGateway {
  const settings = { ...defaultSettings, ...deps.settings };
  const longOnes = createBoundedQueue({ insideMax: readAtOnceMax, waitingMax: waitingMaxOfTenant }); // (C6)

  /** Makes the input durable unless it is known to be. (C1, C2) */
  async function publish(scope: CallbackScope, id: string, make: () => Promise<BusInput>): Promise<CallbackAnswer> {
    const { tenant, thread } = scope;
    const known = `${thread}:${id}`;
    if (await deps.dedup.seen(tenant, known).catch(notKnown)) return taken;
    await deps.inputs.publish({ tenant, thread }, await make(), null);
    await deps.dedup.remember(tenant, known).catch(degraded);
    return taken;
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
    const { status, code, detail, settles } = refused;
    const about = refused.about ?? hashOf(body);
    const id = inputIds.callbackRejection(scope.toolCallId, about);
    const rejection: CallbackRejection = {
      kind: 'CallbackRejection',
      id,
      toolCallId: scope.toolCallId,
      reason: detail,
      settles,
      code,
    };
    await publish(scope, id, async () => rejection); // (C3)
    deps.logger.warn('callback_refused', {
      tenant: scope.tenant,
      thread: scope.thread,
      toolCallId: scope.toolCallId,
      status,
      code,
    });
    return { status, code, detail };
  }

  function accept(scope: CallbackScope, read: Accepted, request: CallbackRequest): Promise<CallbackAnswer> {
    const { callback } = read;
    if (callback.groupId === undefined)
      deps.logger.info('callback_without_group_id', { tenant: scope.tenant, toolServer: scope.toolServer });
    switch (callback.type) {
      case 'tool_result':
        return takeResult(scope, callback, request);
      case 'subscription_event':
        return takeEvent(scope, callback, request);
      case 'oauth':
        return takeLogin(scope, callback, request);
      case 'user_choice':
        return takeChoice(scope, callback, request);
      case 'view_update':
        return takeView(scope, callback.viewType, contentOf(callback, read));
    }
  }

  /** (C5) */
  function takeEvent(
    scope: CallbackScope,
    event: Extract<Callback, { type: 'subscription_event' }>,
    request: CallbackRequest,
  ): Promise<CallbackAnswer> {
    const { tenant, toolCallId, toolServer } = scope;
    const eventId = messageIdOf(request) ?? event.eventId ?? null;
    const id = inputIds.subscriptionEvent(toolCallId, eventId ?? deps.entropy.nonce());
    const { associative, final } = event;
    return publish(scope, id, async () => {
      const clean = await taking(request, cleaningResult([{ type: 'text', text: event.text }], undefined));
      const { content } = await store(tenant, clean, request);
      return { kind: 'SubscriptionEvent', id, toolCallId, toolServer, eventId, content, associative, final };
    });
  }

  /** (C4) The URL is sealed before it reaches the thread. */
  function takeLogin(
    scope: CallbackScope,
    login: Extract<Callback, { type: 'oauth' }>,
    request: CallbackRequest,
  ): Promise<CallbackAnswer> {
    const { tenant, thread, toolCallId, toolServer } = scope;
    const { message, question } = namesOf(request, login.authUrl);
    const id = inputIds.login(toolCallId, message);
    const expiresAt = deps.clock.now() + settings.loginDeadlineMs;
    return publish(scope, id, async () => {
      const sealed = deps.sealer.seal(loginOwner(tenant, thread, toolCallId), login.authUrl);
      await deps.logins.put({ tenant, thread }, { toolCallId, sealed, expiresAt });
      return { kind: 'LoginPrompt', id, toolCallId, toolServer, question, expiresAt };
    });
  }

  function takeChoice(
    scope: CallbackScope,
    choice: Extract<Callback, { type: 'user_choice' }>,
    request: CallbackRequest,
  ): Promise<CallbackAnswer> {
    const { tenant, thread, toolCallId, toolServer } = scope;
    const { prompt, choices, responseUrl } = choice;
    const asked = JSON.stringify([prompt, choices, choice.default, responseUrl]);
    const { message, question } = namesOf(request, asked);
    const id = inputIds.userChoice(toolCallId, message);
    return publish(scope, id, async () => ({
      kind: 'ChoicePrompt',
      id,
      toolCallId,
      toolServer,
      question,
      prompt: cleanText(prompt),
      choices: choices.map(cleanText),
      default: choice.default,
      answerTo: deps.sealer.seal(answerOwner(tenant, thread, toolCallId), responseUrl),
      expiresAt: deps.clock.now() + settings.choiceDeadlineMs,
    }));
  }

  /** The name of the message, or without one the hash of its question, for the thread to compare. (C8) */
  function namesOf(
    request: CallbackRequest,
    asked: string,
  ): { readonly message: string; readonly question: string | null } {
    const messageId = messageIdOf(request);
    return messageId === null
      ? { message: deps.entropy.nonce(), question: hashOf(asked) }
      : { message: hashOf(messageId), question: null };
  }

  /** R98: the content is passed on as it was written. Whether the thread exists is checked by its lane, not here. */
  async function takeView(
    { tenant, thread }: CallbackScope,
    viewType: string,
    content: string,
  ): Promise<CallbackAnswer> {
    const update = { kind: 'ViewUpdate', id: `v:${deps.entropy.nonce()}`, viewType, content } as const;
    await deps.inputs.publish({ tenant, thread }, update, null);
    return taken;
  }

  async function takeResult(
    scope: CallbackScope,
    callback: Extract<Callback, { type: 'tool_result' }>,
    request: CallbackRequest,
  ): Promise<CallbackAnswer> {
    const { tenant, toolCallId, toolServer } = scope;
    const clean = await taking(request, cleaningResult(resultContent(callback), callback.displayAs)); // R49
    const subscription = opensSubscription({ content: [...clean.items], subscription: callback.subscription });
    const id = subscription ? inputIds.confirmation(toolCallId) : inputIds.result(toolCallId);
    return publish(scope, id, async () => {
      const { content, displayAs } = await store(tenant, clean, request);
      return { kind: 'ToolResult', id, toolCallId, toolServer, content, displayAs, subscription };
    });
  }

  /** Answers when what the input will refer to is durable. */
  async function store(tenant: string, clean: CleanResult, request: CallbackRequest): Promise<DividedResult> {
    const divided = await taking(request, dividingResult(clean, settings.inlineBytesMax));
    if (divided.blobs.length > 0) await storeBlobs(deps.blobs, tenant, divided.blobs);
    return divided;
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
    return accept(scope, read, request);
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
  async function tooFast(tenant: string, rate: RateLimit): Promise<number | null> {
    const { allowed, retryAfterMs } = await deps.rates.take(tenant, 'callbacks', rate);
    return allowed ? null : Math.max(1, Math.ceil(retryAfterMs / 1_000));
  }

  return {
    async receive(token, given) {
      const verdict = deps.tokens.verify(token, deps.clock.now());
      if (!verdict.ok) {
        deps.logger.warn('callback_refused', { status: verdict.status, code: verdict.code }); // (C4)
        return { status: verdict.status, code: verdict.code, detail: verdict.detail };
      }
      const waitS = deps.rate ? await tooFast(verdict.scope.tenant, deps.rate) : null;
      if (waitS !== null)
        return {
          status: 503,
          code: 'UNAVAILABLE',
          detail: 'too many messages; send it again later',
          retryAfterS: waitS,
        };
      const request = typeof given === 'function' ? await given() : given; // (C7)
      try {
        return await judged(verdict.scope, request);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const retryAfterS =
          error.retryAfterMs === null ? settings.retryAfterS : Math.max(1, Math.ceil(error.retryAfterMs / 1_000));
        deps.logger.warn('callback_deferred', {
          tenant: verdict.scope.tenant,
          thread: verdict.scope.thread,
          code: error.code,
        });
        return {
          status: 503,
          code: 'UNAVAILABLE',
          detail: 'this message cannot be taken right now; send it again',
          retryAfterS,
        };
      }
    },
  };
}

/** R98: as it was written. */
const contentOf = (view: Extract<Callback, { type: 'view_update' }>, { rawContent }: Accepted): string =>
  rawContent ?? JSON.stringify(view.content);

const hashOf = (body: Uint8Array | string): string => hash('sha256', body).slice(0, 32);

/** The sender's own id for a message, in the headers that webhooks use. Not in RAP: see SPEC.md. */
function messageIdOf({ headers }: CallbackRequest): string | null {
  for (const name of ['webhook-id', 'idempotency-key']) {
    const value = headers[name];
    if (typeof value === 'string' && value.length > 0 && value.length <= idCharactersMax) return value;
  }
  return null;
}

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
