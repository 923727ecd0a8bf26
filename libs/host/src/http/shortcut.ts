// The way past Fastify: the two requests that every turn consists of, a message and a callback, are taken from `node:http` itself.
// Routing, hooks, parsers and replies for what is always the same take time that a turn does not have. ADR 27
//
// Invariants:
//   S1. A shortcut takes a request, or leaves it untouched: then it goes through Fastify as ever, to the same handler.
//   S2. Once the server closes nothing is taken: Fastify refuses as it does. What was taken before is answered, and its
//       connection ends.
//   S3. It answers what Fastify would, with the same headers, in one write.
//   S4. What cannot even be answered ends its connection, and nothing else.
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/** True when it takes the request. (S1) */
export type Shortcut = (request: IncomingMessage, response: ServerResponse) => boolean;

export type AnswerHeaders = Readonly<Record<string, string>>;

export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string | Uint8Array;
}

/** Puts them before whatever the server does with its requests. `stopping` aborts when it begins to close. */
export function addShortcuts(server: Server, shortcuts: readonly Shortcut[], stopping: AbortSignal): void {
  const others = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (!stopping.aborted && shortcuts.some((takes) => takes(request, response))) return; // (S1, S2)
    for (const other of others) other.call(server, request, response);
  });
}

/** JSON in UTF-8, spelled as nearly everybody does. */
export const isPlainJson = ({ 'content-type': type }: IncomingHttpHeaders): boolean =>
  type === 'application/json' || (type !== undefined && /^application\/json; ?charset=utf-8$/i.test(type));

/** Answers, once it is known what. */
export function answerWith(response: ServerResponse, answer: Promise<Answer>, stopping: AbortSignal): void {
  const giveUp = (): void => void response.destroy(); // (S4)
  const write = ({ status, headers, body }: Answer): void => {
    try {
      if (stopping.aborted) response.setHeader('connection', 'close'); // (S2)
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body); // (S3)
    } catch {
      giveUp();
    }
  };
  answer.then(write, giveUp);
}
