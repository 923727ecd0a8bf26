// A client that does not read its stream, on a real socket.
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeStream } from '@dormouse/host';
import { describe, expect, it } from 'vitest';

const text = 'x'.repeat(100_000);

/** The answer of a model that never stops. */
async function* endless(signal: AbortSignal): AsyncGenerator<{
  readonly frame: 'delta';
  readonly data: { completionId: string; attempt: number; offset: number; kind: 'text'; index: number; text: string };
}> {
  for (let offset = 0; !signal.aborted; offset += text.length) {
    yield { frame: 'delta', data: { completionId: 'cmp_1', attempt: 1, offset, kind: 'text', index: 0, text } };
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a slow reader', () => {
  it('is dropped with `lagged`, and its backlog is bounded', async () => {
    const over = new AbortController();
    let largestBacklog = 0;
    let lagged = 0;
    let ended: Promise<void> = Promise.resolve();
    const server = createServer((_, response) => {
      const watch = setInterval(() => (largestBacklog = Math.max(largestBacklog, response.writableLength)), 5);
      const lag = { written: () => {}, lagged: () => (lagged += 1) };
      ended = writeStream(response, 'req-1', endless(over.signal), over, lag).finally(() => clearInterval(watch));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const response = await new Promise<IncomingMessage>((resolve) =>
      request({ port, host: '127.0.0.1' }, resolve).end(),
    );
    response.pause();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await ended;
    expect(over.signal.aborted).toBe(true);
    expect(largestBacklog).toBeLessThan(6 * 1024 * 1024);
    let tail = '';
    for await (const chunk of response) tail = (tail + String(chunk)).slice(-200);
    expect(tail).toContain('event: lagged');
    expect(lagged).toBe(1);
    server.close();
  });
});
