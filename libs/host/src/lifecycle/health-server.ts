// /healthz and /readyz of one process of a cluster, from its first moment on: alive while it waits for what it depends on,
// ready only when it can do its work.
import { createServer } from 'node:http';
import { once } from 'node:events';

export interface HealthServer {
  close(): Promise<void>;
}

/** `ready`: null, or the reason why not; a rejection is a reason too. @throws the system's error, `EADDRINUSE` among them. */
export async function startHealthServer(
  host: string,
  port: number,
  ready: () => Promise<string | null>,
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.url === '/healthz') return answer(200, { status: 'ok' });
    if (request.url !== '/readyz') return answer(404, { status: 'unknown' });
    ready().then(
      (reason) =>
        answer(reason === null ? 200 : 503, reason === null ? { status: 'ready' } : { status: 'waiting', reason }),
      (error: unknown) => answer(503, { status: 'waiting', reason: (error as Error).message }),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
