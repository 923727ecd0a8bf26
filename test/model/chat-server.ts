// A local HTTP server that speaks the OpenAI streaming chat format, byte by byte as scripted: the peer of the provider
// tests.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export type ChatAnswer = (response: ServerResponse, request: ChatRequest) => void | Promise<void>;

export interface ChatServer {
  readonly url: string;
  readonly requests: readonly ChatRequest[];
  /** The answers to the next requests, the last one for ever. */
  answers(...answers: readonly ChatAnswer[]): void;
  close(): Promise<void>;
}

export async function startChatServer(): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  let queue: readonly ChatAnswer[] = [];
  const server = createServer((incoming, response) => {
    void readRequest(incoming).then((request) => {
      requests.push(request);
      const [answer, ...later] = queue;
      if (later.length > 0) queue = later;
      return answer?.(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answers: (...answers) => {
      queue = answers;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ChatRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
  return { path: incoming.url ?? '', headers: incoming.headers, body };
}

/** One `data:` line of a stream. */
export const chunk = (delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

export const usage = (prompt: number, completion: number): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } })}\n\n`;

export const done = 'data: [DONE]\n\n';

/** Sends these pieces as one stream, each in its own write. */
export const streams =
  (...pieces: readonly (string | Uint8Array)[]): ChatAnswer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };

/** Answers with a body and a status, an error mostly. */
export const answersWith =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ChatAnswer =>
  (response) => {
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  };
