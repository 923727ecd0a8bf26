// A collector as a process of its own: takes spans over OTLP as protobuf, counts them, and behaves as it is told.
//
// Invariants:
//   B36. While it is well it answers at once, and counts every span; a request that it does not accept counts nothing.
//   B37. `away` refuses connections, on the same port as before and after. `slow` answers a little before the sender
//        gives up, and accepts. `failing` answers 500. `silent` never answers.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { CollectorBehaviour, CollectorCounts } from './driver-job.ts';
import { spansIn } from './span-count.ts';

interface Question {
  readonly ask: 'base' | 'counts' | 'behave';
  readonly how?: CollectorBehaviour;
}

const slowMs = 8_000;
const counted: { -readonly [name in keyof CollectorCounts]: number } = { spans: 0, requests: 0 };
let behaviour: CollectorBehaviour = 'well';

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  void buffer(request).then(
    (bytes) => {
      if (behaviour === 'silent') return;
      if (behaviour === 'failing') return void response.writeHead(500).end();
      counted.spans += spansIn(bytes); // (B36)
      counted.requests += 1;
      const accept = (): void => void response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      if (behaviour === 'slow') setTimeout(accept, slowMs);
      else accept();
    },
    () => {}, // the sender has gone
  );
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

/** (B37) */
async function behave(how: CollectorBehaviour): Promise<void> {
  if (how === 'away' && server.listening) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  } else if (how !== 'away' && !server.listening) {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
  behaviour = how;
}

process.on('message', ({ ask, how = 'well' }: Question) => {
  const answer = (value: unknown): void => void process.send?.(value);
  if (ask === 'base') answer(`http://127.0.0.1:${port}`);
  else if (ask === 'behave') void behave(how).then(() => answer('done'));
  else answer(counted);
});
process.on('disconnect', () => process.exit(0));
