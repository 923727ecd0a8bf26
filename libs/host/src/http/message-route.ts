// POST …/messages: the hot path. A plain Fastify route in a context of its own: none of Nest's hooks, guards or
// interceptors run here, the body is read once, and the usual answer is one string.
//
// Invariant:
//   M1. What the guard and the interceptor do for other routes is done here too, by the same functions.
import type { Ingress, MessageItem, PostedMessage, RequestOrigin } from '@dormouse/runtime';
import { shortJsonCharacters } from '@dormouse/protocol';
import { apiCodec, inTurnsIf } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { messageOperations, type newMessage } from '../api/messages.ts';
import { readingBody } from './body.ts';
import { idempotencyKeyOf, noParameters, originOf, pathOf } from './call.ts';
import { authorize, type Doorkeeper, refuseQueryToken } from './caller.ts';
import { unwrap } from './problem.ts';
import { type Reply, reply as jsonReply } from './reply.ts';
import { preferredWaitMs } from './prefer.ts';

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
    deps.doorkeeper.admit(request.headers);
    refuseQueryToken(request);
    const caller = await deps.doorkeeper.identify(request.headers);
    reply.headers(caller.rate);
    const { thread } = request.params;
    authorize(caller, access, thread);
    noParameters(request);
    const origin = originOf(caller.tenant, request);
    const waitMs = preferredWaitMs(request.headers.prefer);
    const run = (): Promise<Reply> => post(deps, { thread, origin, waitMs, bytes: request.body });
    const answer = origin.idempotencyKey === null ? await run() : await runOnce(deps, request, reply, origin, run);
    return reply.status(answer.status).header('content-type', jsonType).send(answer.json);
  });
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
  request: FastifyRequest,
  reply: FastifyReply,
  origin: RequestOrigin,
  run: () => Promise<Reply>,
): Promise<Reply> {
  const key = idempotencyKeyOf(request) ?? '';
  const body = request.body instanceof Uint8Array ? request.body : '';
  const once = await deps.ingress.once(
    { tenant: origin.tenant, route: `POST ${pathOf(request.url)}`, key, body },
    async () => {
      const { status, json } = await run();
      return { status, body: json ?? '' };
    },
  );
  const { answer, replayed } = unwrap(once);
  if (replayed) void reply.header('idempotency-replayed', 'true');
  return { status: answer.status, json: answer.body };
}

/** What a message holds, as items of content. */
export function itemsOf({ text, content }: z.output<typeof newMessage>): readonly MessageItem[] {
  return text === undefined ? apiCodec.toCode(content ?? []) : [{ type: 'text', text }];
}
