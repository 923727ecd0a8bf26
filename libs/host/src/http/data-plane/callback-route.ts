// POST /callback/{token}: where tool servers answer. The gateway judges everything, also a body that is no JSON or too
// large, because only it can tell the thread. A plain Fastify route in a context of its own.
//
// Invariants:
//   C1. The path holds a credential: nothing here logs it, and no answer repeats it.
//   C2. The token is judged before a byte of the body is read. Of a body that says that it is too large the beginning
//       alone is read: it tells what the message is about.
import type { IncomingMessage } from 'node:http';
import { callbackBytesMax } from '@dormouse/protocol';
import type { Logger } from '@dormouse/ports';
import type { CallbackAnswer, CallbackGateway } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { BodyRoom } from '../server/arrivals.ts';
import { retryAfterS, toProblem } from '../problems/problem.ts';
import { leaveBodies, receiveBytes } from './request-bytes.ts';
import { patternOf } from '../server/route-name.ts';

type AnswerHeaders = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

export function registerCallbackRoute(server: FastifyInstance, gateway: CallbackGateway, room: BodyRoom): void {
  leaveBodies(server); // (C2)
  server.post<{ Params: { token: string } }>(patternOf('/callback/{token}'), async ({ params, raw }, reply) =>
    give(reply, written(await judge(gateway, params.token, raw, room))),
  );
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

/** What the framework refuses by itself, such as a `Content-Type` that is none, is the sender's mistake. */
function failed(thrown: unknown, logger: Logger): Answer {
  const problem = toProblem(thrown);
  if (problem.code !== 'INTERNAL') {
    const retry = retryAfterS(problem);
    return {
      status: problem.status,
      headers: retry === null ? json : { ...json, 'retry-after': String(retry) },
      body: JSON.stringify({ code: problem.code, detail: problem.message }),
    };
  }
  const reason = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  logger.error('callback_failed', { reason });
  return { status: 500, headers: json, body: '{"code":"INTERNAL"}' };
}

const give = (reply: FastifyReply, { status, headers, body }: Answer): FastifyReply =>
  reply.status(status).headers(headers).send(body);
