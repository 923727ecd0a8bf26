// POST …/messages: the hot path, a plain Fastify route in a context of its own: none of Nest's hooks, guards or
// interceptors run here, the body is read once, and the usual answer is one string.
//
// Invariants:
//   M1. What the guard and the interceptor do for other routes is done here too, by the same functions.
//   M2. Who asks is judged before a byte of the body is read (head-judge.ts).
//   M3. A client that waits for the turn is answered 202 when its credential ends: it reads no more than by a stream.
import { shortJsonCharacters } from '@dormouse/json';
import type { ThreadKey } from '@dormouse/ports';
import type { Credential, Ingress, MessageItem, PostedMessage, RequestOrigin } from '@dormouse/runtime';
import { apiCodec, inTurnsIf } from '@dormouse/runtime';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { messageOperations, type newMessage } from '../../api/messages.ts';
import { readingBody } from './body.ts';
import { idempotencyKeyOf, noParameters, originOf, pathOf, type PlainRequest } from './call.ts';
import { callerOf } from '../door/head-judge.ts';
import { unwrap } from '../problems/problem.ts';
import { jsonType, type Reply, reply as jsonReply } from './reply.ts';
import { preferredWaitMs } from './prefer.ts';
import { patternOf } from '../server/route-name.ts';

export interface MessageRouteDeps {
  readonly ingress: Ingress;
  /** Aborts when the process stops: who waits is answered 202 at once. */
  readonly stopping: AbortSignal;
}

const { body: bodySchema } = messageOperations.postMessage;

export function registerMessageRoute(server: FastifyInstance, deps: MessageRouteDeps): void {
  server.post<{ Params: { id: string } }>(patternOf(messageOperations.postMessage.path), async (request, reply) => {
    const { tenant, credential } = callerOf(request);
    noParameters(request);
    const origin = originOf(tenant, request);
    const waitMs = preferredWaitMs(request.headers.prefer);
    const posting: Posting = { thread: request.params.id, origin, credential, waitMs, bytes: request.body };
    const { status, json, replayed } =
      origin.idempotencyKey === null ? await post(deps, posting) : await postOnce(deps, request, posting);
    if (replayed) reply.header('idempotency-replayed', 'true');
    if (status === 202 && waitMs !== null) reply.header('location', pathOf(request.url)); // where the answer will be
    return reply.status(status).header('content-type', jsonType).send(json);
  });
}

/** `replayed`: the answer to an earlier request with the same idempotency key. (M1) */
interface MessageReply extends Reply {
  readonly replayed?: boolean;
}

interface Posting {
  readonly thread: string;
  readonly origin: RequestOrigin;
  readonly credential: Credential;
  readonly waitMs: number | null;
  readonly bytes: unknown;
}

async function post({ ingress, stopping }: MessageRouteDeps, posting: Posting): Promise<MessageReply> {
  const { origin, waitMs } = posting;
  const key = { tenant: origin.tenant, thread: posting.thread };
  const { bytes } = posting;
  const isLong = bytes instanceof Uint8Array && bytes.length > shortJsonCharacters;
  const items = itemsOf(await inTurnsIf(isLong, readingBody(bytes, bodySchema)));
  if (waitMs === null) return accepted(unwrap(await ingress.messages.post(key, items, origin)).id);
  const end = ingress.watchCredential(posting.credential); // (M3)
  try {
    return await postAndWait(ingress, key, {
      items,
      origin,
      waitMs,
      stopping: AbortSignal.any([stopping, end.signal]),
    });
  } finally {
    end.stop();
  }
}

interface Waiting {
  readonly items: readonly MessageItem[];
  readonly origin: RequestOrigin;
  readonly waitMs: number;
  readonly stopping: AbortSignal;
}

async function postAndWait(
  ingress: Ingress,
  key: ThreadKey,
  { items, origin, waitMs, stopping }: Waiting,
): Promise<MessageReply> {
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

async function postOnce(deps: MessageRouteDeps, request: PlainRequest, posting: Posting): Promise<MessageReply> {
  const { bytes, origin } = posting;
  const key = idempotencyKeyOf(request) ?? '';
  const body = bytes instanceof Uint8Array ? bytes : '';
  const route = `POST ${pathOf(request.url)}`;
  const once = await deps.ingress.once({ tenant: origin.tenant, route, key, body }, async () => {
    const { status, json } = await post(deps, posting);
    return { status, body: json ?? '' };
  });
  const { answer: first, replayed } = unwrap(once);
  return { status: first.status, json: first.body, replayed };
}

/** The content items of a message. */
export function itemsOf({ text, content }: z.output<typeof newMessage>): readonly MessageItem[] {
  return text === undefined ? apiCodec.toCode(content ?? []) : [{ type: 'text', text }];
}
