// The way past Fastify: the two requests that every turn consists of, a message and a callback, are taken from `node:http` itself.
// Routing, hooks, parsers and replies for what is always the same take time that a turn does not have. ADR 26
//
// Invariants:
//   S1. A shortcut takes a request, or leaves it untouched: then it goes through Fastify as ever, to the same handler.
//   S2. Once the server closes nothing is taken: Fastify refuses as it does.
//   S3. It answers what Fastify would, with the same headers, in one write.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { FastifyServerFactory } from 'fastify';

/** True when it has taken the request. (S1) */
export type Shortcut = (request: IncomingMessage, response: ServerResponse) => boolean;

export type AnswerHeaders = Readonly<Record<string, string>>;

/** What every answer of a server carries. */
export type RequestMarks = AnswerHeaders & { readonly 'x-request-id': string };

/** What a server is made with: Fastify's own, and the shortcuts before it. */
export interface ShortcutOptions {
  readonly shortcuts: readonly Shortcut[];
  readonly keepAliveTimeoutMs: number;
  /** Aborts when the server begins to close. (S2) */
  readonly stopping: AbortSignal;
}

export function serverWithShortcuts({
  shortcuts,
  keepAliveTimeoutMs,
  stopping,
}: ShortcutOptions): FastifyServerFactory {
  return (handler) => {
    const server = createServer((request, response) => {
      const isTaken = !stopping.aborted && shortcuts.some((take) => take(request, response));
      if (!isTaken) handler(request, response);
    });
    // As Fastify sets them on a server of its own.
    server.keepAliveTimeout = keepAliveTimeoutMs;
    server.requestTimeout = 0;
    server.setTimeout(0);
    return server;
  };
}

/** JSON in UTF-8, spelled as nearly everybody does. */
export const isPlainJson = ({ 'content-type': type }: IncomingHttpHeaders): boolean =>
  type === 'application/json' || (type !== undefined && /^application\/json; ?charset=utf-8$/i.test(type));

/** (S3) */
export function answer(
  response: ServerResponse,
  status: number,
  headers: AnswerHeaders,
  body: string | Uint8Array,
): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
