// POST /callback/{token}: where tool servers answer. A plain Fastify route; the gateway judges everything, also a body
// that is no JSON or too large, because only it can tell the thread.
//
// Invariants:
//   C1. At most `callbackBytesMax` and one chunk are held; what follows is thrown away unread, and not for ever.
//   C2. The path holds a credential: nothing here logs it, and no answer repeats it.
import { callbackBytesMax } from '@dormouse/protocol';
import type { Logger } from '@dormouse/ports';
import type { CallbackAnswer, CallbackGateway } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';

interface Received {
  readonly body: Buffer;
  readonly truncated: boolean;
}

const discardedBytesMax = 64 * 1024 * 1024;

export function registerCallbackRoute(server: FastifyInstance, gateway: CallbackGateway): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request: FastifyRequest, payload: IncomingMessage) => receive(payload));
  server.post<{ Params: { token: string } }>('/callback/:token', async (request, reply) => {
    const { body, truncated } = (request.body as Received | undefined) ?? { body: Buffer.alloc(0), truncated: false };
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

function receive(payload: IncomingMessage): Promise<Received> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    payload.on('data', (chunk: Buffer) => {
      if (bytes <= callbackBytesMax) chunks.push(chunk); // (C1)
      bytes += chunk.length;
      if (bytes > discardedBytesMax) payload.destroy();
      if (bytes > callbackBytesMax) resolve({ body: Buffer.concat(chunks), truncated: true });
    });
    payload.on('end', () => resolve({ body: Buffer.concat(chunks), truncated: false }));
    payload.on('error', reject);
  });
}
