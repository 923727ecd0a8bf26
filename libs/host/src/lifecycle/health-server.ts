// The operations port of one process: /healthz, /readyz and /metrics, from its start on. It is alive while it waits for
// its dependencies, not when it makes no progress; ready only when it can do its work.
import { metricsMediaType } from '@dormouse/adapter-telemetry';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { type ArrivalLimits, arrivalOptions, boundPeers, standardArrivalLimits } from '../http/server/arrivals.ts';

export interface HealthServer {
  /** The address it listens on. */
  readonly url: string;
  close(): Promise<void>;
}

export interface Health {
  /** Null, or the reason why not; a rejection is a reason too. */
  readonly ready: () => Promise<string | null>;
  /** Null, or why this process makes no progress any more and should be restarted. */
  readonly stalled: () => string | null;
  /** All metrics as Prometheus text; null when metrics are off. */
  readonly metrics: (() => Promise<string>) | null;
}

/** @throws the system's error, `EADDRINUSE` among them. */
export async function startHealthServer(
  host: string,
  port: number,
  { ready, stalled, metrics }: Health,
  limits: ArrivalLimits = standardArrivalLimits,
): Promise<HealthServer> {
  const server = createServer(arrivalOptions(limits), (request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const [path] = (request.url ?? '').split('?', 1); // a scraper may send parameters
    if (path === '/healthz') {
      const reason = stalled();
      return answer(reason === null ? 200 : 503, reason === null ? { status: 'ok' } : { status: 'stalled', reason });
    }
    if (path === '/metrics' && metrics !== null) {
      metrics().then(
        (text) => response.writeHead(200, { 'content-type': metricsMediaType }).end(text),
        (error: unknown) => answer(503, { status: 'unreadable', reason: (error as Error).message }),
      );
      return;
    }
    if (path !== '/readyz') return answer(404, { status: 'unknown' });
    ready().then(
      (reason) =>
        answer(reason === null ? 200 : 503, reason === null ? { status: 'ready' } : { status: 'waiting', reason }),
      (error: unknown) => answer(503, { status: 'waiting', reason: (error as Error).message }),
    );
  });
  boundPeers(server, limits.unfinishedPerPeerMax, (socket) => socket.destroy());
  server.listen(port, host);
  await once(server, 'listening');
  const { port: listening } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
