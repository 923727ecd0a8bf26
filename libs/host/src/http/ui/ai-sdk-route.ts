// The door of the AI SDK: `useChat` talks to an agent through it, unmodified. Plain Fastify routes, because their
// answers are streams.
// chat-door.ts has the invariants.
import type { ThreadKey } from '@dormouse/ports';
import {
  AiSdkEncoder,
  answerIdOf,
  type Chunk,
  type Ingress,
  type MessageBeginning,
  UiHistory,
  type Watched,
} from '@dormouse/runtime';
import type { FastifyInstance } from 'fastify';
import { chatRequest, chatStreamQuery } from '../../api/ai-sdk.ts';
import { readBody } from '../data-plane/body.ts';
import { noParameters, originOf, readQuery } from '../data-plane/call.ts';
import { jsonType, reply as jsonReply } from '../data-plane/reply.ts';
import { mayOpen } from '../door/caller.ts';
import { callerOf } from '../door/head-judge.ts';
import { unwrap } from '../problems/problem.ts';
import { readerOf } from '../stream/event-route.ts';
import { type Wish, wishOf } from './ai-sdk-request.ts';
import { chatThread, mayWish, streamAnswer, type UiRouteDeps } from './chat-door.ts';

const messagesMax = 1_000;

interface ChatParams {
  readonly agent: string;
  readonly chatId: string;
}

export function registerAiSdkRoutes(server: FastifyInstance, deps: UiRouteDeps): void {
  const { ingress } = deps;
  const { chats } = ingress;

  server.post<{ Params: { agent: string } }>('/v1/ui/ai-sdk/:agent', async (request, reply) => {
    const reader = readerOf(reply);
    const caller = callerOf(request);
    noParameters(request);
    const body = readBody(request.body, chatRequest);
    const wish = wishOf(body, caller);
    await mayWish(deps, caller, wish.wish === 'answer' ? 'answer' : 'say');
    const key = await chatThread(deps, caller, { agent: request.params.agent, chatId: body.id }, true);
    const { after, beginning } = await begin(ingress, key, wish);
    const encode = (frames: AsyncIterable<Watched>): AsyncIterable<string> =>
      chunkTexts(new AiSdkEncoder(beginning), frames);
    return streamAnswer(deps, { caller, key, after, reader, headers: protocol }, encode, request, reply);
  });

  server.get<{ Params: ChatParams }>('/v1/ui/ai-sdk/:agent/:chatId/stream', async (request, reply) => {
    const reader = readerOf(reply);
    const caller = callerOf(request);
    const { after } = readQuery(request, chatStreamQuery);
    const found = await chats.find({ tenant: caller.tenant, ...nameOf(request.params) });
    if (!found.ok) return reply.status(204).send();
    const key = found.value;
    await mayOpen(ingress, caller, key.thread);
    const running = await chats.running(key);
    if (running === null) return reply.status(204).send();
    const from = Math.max(after ?? running.after, running.after);
    const { turnId } = running;
    const encoder = new AiSdkEncoder({ awaits: null, messageId: answerIdOf(turnId), turnId, calls: [] });
    for await (const event of chats.events(key, running.after, Math.min(from, running.position))) encoder.pass(event);
    const encode = (frames: AsyncIterable<Watched>): AsyncIterable<string> => chunkTexts(encoder, frames);
    return streamAnswer(deps, { caller, key, after: from, reader, headers: protocol }, encode, request, reply);
  });

  server.get<{ Params: ChatParams }>('/v1/ui/ai-sdk/:agent/:chatId', async (request, reply) => {
    const caller = callerOf(request);
    noParameters(request);
    const key = await chatThread(deps, caller, nameOf(request.params), false);
    const mark = await chats.mark(key);
    const history = new UiHistory(messagesMax, (sha256) => `/v1/threads/${key.thread}/blobs/${sha256}`);
    for await (const event of chats.events(key, 0, mark.data.position)) history.take(event);
    const messages = history.messages(mark);
    return reply.header('content-type', jsonType).send(JSON.stringify({ messages, position: mark.data.position }));
  });

  server.post<{ Params: ChatParams }>('/v1/ui/ai-sdk/:agent/:chatId/stop', async (request, reply) => {
    const caller = callerOf(request);
    noParameters(request);
    const key = await chatThread(deps, caller, nameOf(request.params), false);
    const { json } = jsonReply(202, unwrap(await chats.stop(key, originOf(caller.tenant, request))));
    return reply.status(202).header('content-type', jsonType).send(json);
  });
}

const nameOf = ({ agent, chatId }: ChatParams): { readonly agent: string; readonly chatId: string } => ({
  agent,
  chatId,
});

interface Begun {
  readonly after: number;
  readonly beginning: MessageBeginning;
}

async function begin({ chats }: Ingress, key: ThreadKey, wish: Wish): Promise<Begun> {
  if (wish.wish === 'answer') {
    const { messageId, calls, replies } = wish;
    return {
      after: unwrap(await chats.answer(key, replies)).after,
      beginning: { awaits: null, messageId, turnId: null, calls },
    };
  }
  const { after, messageId } = unwrap(await chats[wish.wish](key, wish.messageId, wish.items));
  return { after, beginning: { awaits: messageId, messageId: null, turnId: null, calls: [] } };
}

const protocol = { 'x-vercel-ai-ui-message-stream': 'v1' };

/** `[DONE]` only where the message has come to its end: without it a page knows that it must resume. */
async function* chunkTexts(encoder: AiSdkEncoder, frames: AsyncIterable<Watched>): AsyncGenerator<string> {
  for await (const frame of frames) {
    const chunks: readonly Chunk[] = encoder.take(frame);
    const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    if (text !== '') yield frame.frame === 'event' ? `id: ${frame.event.position}\n${text}` : text;
    if (encoder.isOver) return yield 'data: [DONE]\n\n';
  }
}
