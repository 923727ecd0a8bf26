// POST …/messages: the hot path. As clients send it, it is taken before Fastify (shortcut.ts). What is unusual about one comes
// through a plain Fastify route in a context of its own: none of Nest's hooks, guards or interceptors run here, the body is read
// once, and the usual answer is one string.
//
// Invariants:
//   M1. What the guard and the interceptor do for other routes is done here too, by the same functions.
//   M2. Both ways lead to the same answer.
//   M3. Who asks is judged before a byte of the body is read: on the other way by the server (head-judge.ts).
import type { IncomingMessage } from 'node:http';
import type { Logger } from '@dormouse/ports';
import type { Ingress, MessageItem, PostedMessage, RequestOrigin } from '@dormouse/runtime';
import { shortJsonCharacters } from '@dormouse/protocol';
import { apiCodec, inTurnsIf } from '@dormouse/runtime';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { messageOperations, type newMessage } from '../api/messages.ts';
import type { BodyRoom } from './arrivals.ts';
import { bodyBytesMax, readingBody } from './body.ts';
import { idempotencyKeyOf, noParameters, originOf, pathOf, type PlainRequest } from './call.ts';
import { type Caller, type Doorkeeper, enter } from './caller.ts';
import { callerOf } from './head-judge.ts';
import { bodyTooLarge, problemAnswer, unwrap } from './problem.ts';
import { type Reply, reply as jsonReply } from './reply.ts';
import { preferredWaitMs } from './prefer.ts';
import { receiveBytes, saysMoreThan } from './request-bytes.ts';
import { marksOf } from './request-marks.ts';
import { type Answer, type AnswerHeaders, answerWith, isPlainJson, type Shortcut } from './shortcut.ts';

export interface MessageRouteDeps {
  readonly ingress: Ingress;
  readonly doorkeeper: Doorkeeper;
  /** Aborts when the process stops: who waits is answered 202 at once. */
  readonly stopping: AbortSignal;
}

const jsonType = 'application/json; charset=utf-8';
const { access, body: bodySchema } = messageOperations.post;

export function registerMessageRoute(server: FastifyInstance, deps: MessageRouteDeps): void {
  server.post<{ Params: { thread: string } }>('/v1/threads/:thread/messages', async (request, reply) => {
    const { params, body } = request;
    const caller = callerOf(request);
    const { status, json } = await judge(
      deps,
      request,
      params.thread,
      caller,
      body,
      (more) => void reply.headers(more),
    );
    return reply.status(status).header('content-type', jsonType).send(json);
  });
}

/** A thread's plain id, and no query; what is longer than any id goes the other way, and to the same end. */
const usual = /^\/v1\/threads\/([\w-]{1,128})\/messages$/;
const noQuery = {};

export interface MessageShortcutDeps extends MessageRouteDeps {
  readonly logger: Logger;
  readonly newId: () => string;
  readonly room: BodyRoom;
}

export function messageShortcut(deps: MessageShortcutDeps): Shortcut {
  const { logger, newId, stopping } = deps;

  async function answerOf(request: IncomingMessage, thread: string): Promise<Answer> {
    const id = newId();
    const { headers, url = '' } = request;
    let told: AnswerHeaders = marksOf(id);
    const tell = (more: AnswerHeaders): void => void (told = { ...told, ...more });
    try {
      const plain = { method: 'POST', url, headers, query: noQuery };
      const entering = enter(deps.doorkeeper, plain, access, thread); // (M3)
      const caller = entering instanceof Promise ? await entering : entering;
      tell(caller.rate);
      if (saysMoreThan(bodyBytesMax, request)) throw bodyTooLarge();
      const { bytes, truncated } = await receiveBytes(request, bodyBytesMax, deps.room);
      if (truncated) {
        tell({ connection: 'close' }); // the rest of the body is still on its way
        throw bodyTooLarge();
      }
      const { status, json } = await judge(deps, plain, thread, caller, bytes, tell);
      return { status, headers: { ...told, 'content-type': jsonType }, body: json ?? '' };
    } catch (thrown) {
      const problem = problemAnswer({ id, headers }, thrown, logger);
      return { ...problem, headers: { ...told, ...problem.headers } };
    }
  }

  return (request, response) => {
    if (request.method !== 'POST' || !isPlainJson(request.headers)) return false;
    const thread = usual.exec(request.url ?? '')?.[1];
    if (thread === undefined) return false;
    answerWith(response, answerOf(request, thread), stopping);
    return true;
  };
}

/** `tell` adds headers to the answer, whichever it will be. (M1) @throws HttpProblem: at once, or the promise rejects with it. */
function judge(
  deps: MessageRouteDeps,
  request: PlainRequest,
  thread: string,
  caller: Caller,
  bytes: unknown,
  tell: (headers: AnswerHeaders) => void,
): Promise<Reply> {
  noParameters(request);
  const origin = originOf(caller.tenant, request);
  const waitMs = preferredWaitMs(request.headers.prefer);
  const run = (): Promise<Reply> => post(deps, { thread, origin, waitMs, bytes });
  return origin.idempotencyKey === null ? run() : runOnce(deps, request, origin, bytes, run, tell);
}

interface Posting {
  readonly thread: string;
  readonly origin: RequestOrigin;
  readonly waitMs: number | null;
  readonly bytes: unknown;
}

async function post({ ingress, stopping }: MessageRouteDeps, posting: Posting): Promise<Reply> {
  const { origin, waitMs } = posting;
  const key = { tenant: origin.tenant, thread: posting.thread };
  const { bytes } = posting;
  const isLong = bytes instanceof Uint8Array && bytes.length > shortJsonCharacters;
  const reading = inTurnsIf(isLong, readingBody(bytes, bodySchema));
  const items = itemsOf(reading instanceof Promise ? await reading : reading);
  if (waitMs === null) return accepted(unwrap(await ingress.messages.post(key, items, origin)).id);
  const watching = ingress.watchTurn(key, waitMs, stopping);
  const turn = watching instanceof Promise ? await watching : watching;
  let posted: PostedMessage;
  try {
    posted = unwrap(await ingress.messages.post(key, items, origin));
  } catch (error) {
    turn.drop();
    throw error;
  }
  const ended = await turn.end(posted);
  return ended === null ? accepted(posted.id) : jsonReply(200, ended);
}

const accepted = (id: string): Reply => ({ status: 202, json: `{"id":"${id}"}` });

async function runOnce(
  deps: MessageRouteDeps,
  request: PlainRequest,
  { tenant }: RequestOrigin,
  bytes: unknown,
  run: () => Promise<Reply>,
  tell: (headers: AnswerHeaders) => void,
): Promise<Reply> {
  const key = idempotencyKeyOf(request) ?? '';
  const body = bytes instanceof Uint8Array ? bytes : '';
  const once = await deps.ingress.once({ tenant, route: `POST ${pathOf(request.url)}`, key, body }, async () => {
    const { status, json } = await run();
    return { status, body: json ?? '' };
  });
  const { answer: first, replayed } = unwrap(once);
  if (replayed) tell({ 'idempotency-replayed': 'true' });
  return { status: first.status, json: first.body };
}

/** What a message holds, as items of content. */
export function itemsOf({ text, content }: z.output<typeof newMessage>): readonly MessageItem[] {
  return text === undefined ? apiCodec.toCode(content ?? []) : [{ type: 'text', text }];
}
