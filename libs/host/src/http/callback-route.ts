// POST /callback/{token}: where tool servers answer. A plain Fastify route; the gateway judges everything, also a body
// that is no JSON or too large, because only it can tell the thread.
//
// Invariants:
//   C1. The path holds a credential: nothing here logs it, and no answer repeats it.
import type { IncomingMessage } from 'node:http';
import { callbackBytesMax } from '@dormouse/protocol';
import type { Logger } from '@dormouse/ports';
import type { CallbackAnswer, CallbackGateway } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { receiveBytes, type RequestBytes } from './request-bytes.ts';

export function registerCallbackRoute(server: FastifyInstance, gateway: CallbackGateway): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request: FastifyRequest, payload: IncomingMessage) =>
    receiveBytes(payload, callbackBytesMax),
  );
  server.post<{ Params: { token: string } }>('/callback/:token', async (request, reply) => {
    const { bytes: body, truncated } = (request.body as RequestBytes | undefined) ?? {
      bytes: Buffer.alloc(0),
      truncated: false,
    };
    const { headers } = request;
    return write(
      reply,
      await gateway.receive(request.params.token, { contentType: headers['content-type'], body, headers, truncated }),
    );
  });
}

/** A failure of our own is temporary for the tool: it sends the message again. */
export function callbackFailure(reply: FastifyReply, thrown: unknown, logger: Logger): void {
  logger.error('callback_failed', {
    reason: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
  });
  void reply.status(500).header('content-type', 'application/json').send('{"code":"INTERNAL"}');
}

function write(reply: FastifyReply, { status, code, detail, retryAfterS }: CallbackAnswer): FastifyReply {
  if (retryAfterS !== undefined) void reply.header('retry-after', String(retryAfterS));
  void reply.status(status).header('content-type', 'application/json');
  return reply.send(code === undefined ? '{}' : JSON.stringify({ code, detail }));
}
