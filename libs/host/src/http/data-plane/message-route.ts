// POST …/messages: the hot path, a plain Fastify route in a context of its own: none of Nest's hooks, guards or
// interceptors run here, the body is read once, and the usual answer is one string.
//
// Invariants:
//   M1. What the guard and the interceptor do for other routes is done here too, by the same functions.
//   M2. Who asks is judged before a byte of the body is read (head-judge.ts).
import { shortJsonCharacters } from '@dormouse/json';
import type { Ingress, MessageItem, PostedMessage, RequestOrigin } from '@dormouse/runtime';
import { apiCodec, inTurnsIf } from '@dormouse/runtime';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { messageOperations, type newMessage } from '../../api/messages.ts';
import { readingBody } from './body.ts';
import { idempotencyKeyOf, noParameters, originOf, pathOf, type PlainRequest } from './call.ts';
import type { Caller } from '../door/caller.ts';
import { callerOf } from '../door/head-judge.ts';
import { unwrap } from '../problems/problem.ts';
import { type Reply, reply as jsonReply } from './reply.ts';
import { preferredWaitMs } from './prefer.ts';

export interface MessageRouteDeps {
  readonly ingress: Ingress;
  /** Aborts when the process stops: who waits is answered 202 at once. */
  readonly stopping: AbortSignal;
}

const jsonType = 'application/json; charset=utf-8';
const { body: bodySchema } = messageOperations.post;

type AnswerHeaders = Readonly<Record<string, string>>;

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

/** `tell` adds headers to the answer, whichever it will be. (M1) @throws HttpProblem */
async function judge(
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
  const items = itemsOf(await inTurnsIf(isLong, readingBody(bytes, bodySchema)));
  if (waitMs === null) return accepted(unwrap(await ingress.messages.post(key, items, origin)).id);
  const turn = await ingress.watchTurn(key, waitMs, stopping);
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

/** The content items of a message. */
export function itemsOf({ text, content }: z.output<typeof newMessage>): readonly MessageItem[] {
  return text === undefined ? apiCodec.toCode(content ?? []) : [{ type: 'text', text }];
}
