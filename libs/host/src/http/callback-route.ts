// POST /callback/{token}: where tool servers answer. The gateway judges everything, also a body that is no JSON or too large,
// because only it can tell the thread. What a tool server sends as most do is taken before Fastify (shortcut.ts); a plain Fastify
// route takes the rest.
//
// Invariants:
//   C1. The path holds a credential: nothing here logs it, and no answer repeats it.
//   C2. Both ways lead to the same answer.
//   C3. The token is judged before a byte of the body is read. Of a body that says that it is too large the beginning alone is
//       read: it tells what the message is about.
import type { IncomingMessage } from 'node:http';
import { callbackBytesMax } from '@dormouse/protocol';
import type { Logger } from '@dormouse/ports';
import type { CallbackAnswer, CallbackGateway } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { BodyRoom } from './arrivals.ts';
import { HttpProblem, retryAfterS } from './problem.ts';
import { receiveBytes } from './request-bytes.ts';
import { type Answer, type AnswerHeaders, answerWith, isPlainJson, type Shortcut } from './shortcut.ts';

export function registerCallbackRoute(server: FastifyInstance, gateway: CallbackGateway, room: BodyRoom): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null)); // (C3)
  server.post<{ Params: { token: string } }>('/callback/:token', async ({ params, raw }, reply) =>
    give(reply, written(await judge(gateway, params.token, raw, room))),
  );
}

/** A token as it is made, and nothing behind it; what is longer than any token goes the other way, and to the same end. */
const usual = /^\/callback\/([\w-]{1,4096})$/;

export interface CallbackShortcutDeps {
  readonly callbacks: CallbackGateway;
  readonly logger: Logger;
  /** The headers that every answer of the server carries. */
  readonly newMarks: () => AnswerHeaders;
  readonly room: BodyRoom;
  readonly stopping: AbortSignal;
}

export function callbackShortcut({ callbacks, logger, newMarks, room, stopping }: CallbackShortcutDeps): Shortcut {
  async function answerOf(request: IncomingMessage, token: string): Promise<Answer> {
    const marks = newMarks();
    const marked = (told: Answer): Answer => ({ ...told, headers: { ...marks, ...told.headers } });
    try {
      return marked(written(await judge(callbacks, token, request, room)));
    } catch (thrown) {
      return marked(failed(thrown, logger));
    }
  }

  return (request, response) => {
    if (request.method !== 'POST' || !isPlainJson(request.headers)) return false;
    const token = usual.exec(request.url ?? '')?.[1];
    if (token === undefined) return false;
    answerWith(response, answerOf(request, token), stopping);
    return true;
  };
}

/** A failure of our own is temporary for the tool: it sends the message again. */
export const callbackFailure = (reply: FastifyReply, thrown: unknown, logger: Logger): void =>
  void give(reply, failed(thrown, logger));

const json: AnswerHeaders = { 'content-type': 'application/json; charset=utf-8' };

const judge = (
  gateway: CallbackGateway,
  token: string,
  request: IncomingMessage,
  room: BodyRoom,
): Promise<CallbackAnswer> =>
  gateway.receive(token, async () => {
    const { bytes: body, truncated } = await receiveBytes(request, callbackBytesMax, room);
    const { headers } = request;
    return { contentType: headers['content-type'], body, headers, truncated };
  });

const written = ({ status, code, detail, retryAfterS }: CallbackAnswer): Answer => ({
  status,
  headers: retryAfterS === undefined ? json : { ...json, 'retry-after': String(retryAfterS) },
  body: code === undefined ? '{}' : JSON.stringify({ code, detail }),
});

function failed(thrown: unknown, logger: Logger): Answer {
  if (thrown instanceof HttpProblem) {
    const retry = retryAfterS(thrown);
    return {
      status: thrown.status,
      headers: retry === null ? json : { ...json, 'retry-after': String(retry) },
      body: JSON.stringify({ code: thrown.code, detail: thrown.message }),
    };
  }
  const reason = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  logger.error('callback_failed', { reason });
  return { status: 500, headers: json, body: '{"code":"INTERNAL"}' };
}

const give = (reply: FastifyReply, { status, headers, body }: Answer): FastifyReply =>
  reply.status(status).headers(headers).send(body);
