// A runtime's callback endpoint, independent of our code: records what arrives, byte by byte, and answers as scripted.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Callback, parseCallback } from '@dormouse/protocol';

export interface Delivered {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: string;
  /** As parsed by the protocol package. */
  readonly callback: Callback;
  readonly at: number;
}

export interface CallbackSink {
  readonly url: string;
  readonly delivered: Delivered[];
  /** Statuses of the next answers; 200 when none is left. `hang` never answers, `drop` cuts the connection. */
  readonly answers: (number | 'hang' | 'drop')[];
  /** Waits until so many messages have arrived. */
  readonly until: (count: number, withinMs?: number) => Promise<readonly Delivered[]>;
  /** Waits until the call has its result. */
  readonly resultOf: (callId: string) => Promise<Extract<Callback, { type: 'tool_result' }>>;
  readonly close: () => Promise<void>;
}

export async function startSink(port = 0): Promise<CallbackSink> {
  const delivered: Delivered[] = [];
  const answers: CallbackSink['answers'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {}); // a sender that was killed
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const parsed = parseCallback(JSON.parse(bytes.toString('utf8')));
      if (!parsed.ok) throw new Error(`not a callback: ${JSON.stringify(parsed.problems)}`);
      const { method = '', url: path = '', headers } = request;
      const body = bytes.toString('utf8');
      delivered.push({ method, path, headers, bytes, body, callback: parsed.callback, at: performance.now() });
      const answer = answers.shift() ?? 200;
      if (answer === 'drop') request.destroy();
      else if (answer !== 'hang') response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const until = async (count: number, withinMs = 60_000): Promise<readonly Delivered[]> => {
    await eventually(() => delivered.length >= count, `${count} messages`, withinMs);
    return delivered;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delivered,
    answers,
    until,
    async resultOf(callId) {
      const find = (): Callback | undefined =>
        delivered.map((each) => each.callback).find((each) => each.type === 'tool_result' && each.id === callId);
      await eventually(() => find() !== undefined, `the result of ${callId}`);
      return find() as Extract<Callback, { type: 'tool_result' }>;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function eventually(condition: () => boolean, what: string, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`it did not happen in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}

/** Long enough for any wrong message to arrive. */
export const quiet = (ms = 80): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
