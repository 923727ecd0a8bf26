// A runtime's callback endpoint: keeps what arrives, in order.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Callback, parseCallback } from '@dormouse/protocol';
import { patienceMs } from '../patience.ts';

export interface CallbackSink {
  readonly url: string;
  readonly messages: readonly Callback[];
  readonly until: (count: number) => Promise<readonly Callback[]>;
  readonly close: () => Promise<void>;
}

export async function startSink(): Promise<CallbackSink> {
  const messages: Callback[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const parsed = parseCallback(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      if (parsed.ok) messages.push(parsed.callback);
      response.writeHead(parsed.ok ? 200 : 422).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    async until(count) {
      const end = performance.now() + patienceMs;
      while (messages.length < count) {
        if (performance.now() > end)
          throw new Error(`${messages.length} of ${count} messages came: ${JSON.stringify(messages)}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return messages;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
