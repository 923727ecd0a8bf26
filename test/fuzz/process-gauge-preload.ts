// Loaded into every process of a fuzzed system (`node --import`): tells on a socket of its own, a file named after the
// process, what the process holds after a collection.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { Held } from './process-gauge.ts';

const directory = process.env['PROCESS_GAUGE_DIRECTORY'];

if (isMainThread && directory !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const server = createServer((_request, response) => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    response.end(JSON.stringify({ bytes: heapUsed + external, sockets } satisfies Held));
  });
  server.listen(join(directory, String(process.pid))).unref();
}
