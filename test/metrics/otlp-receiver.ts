// A Collector for tests: takes metrics over OTLP as JSON, and names them as the Collector does for Prometheus.
//
// Invariant:
//   O1. A name gets its unit unless it has it, and a counter ends with `total`; what is in braces is no unit.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface PushedMetric {
  readonly name: string;
  readonly unit?: string;
  readonly sum?: { readonly isMonotonic?: boolean };
}

interface Push {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] };
    readonly scopeMetrics: readonly { readonly metrics: readonly PushedMetric[] }[];
  }[];
}

export interface OtlpReceiver {
  readonly url: string;
  /** The first push, or the next one that comes. */
  readonly pushed: Promise<Push>;
  close(): void;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const first = Promise.withResolvers<Push>();
  const server = createServer((request, response) => {
    if (request.url !== '/v1/metrics') return void response.writeHead(404).end();
    void json(request).then((body) => {
      first.resolve(body as Push);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    }, first.reject);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, pushed: first.promise, close: () => server.close() };
}

export const metricsIn = ({ resourceMetrics }: Push): readonly PushedMetric[] =>
  resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));

/** (O1) */
export function collectorName({ name, unit = '', sum }: PushedMetric): string {
  const words = name.split(/[^a-zA-Z0-9]+/);
  const unitWord = unit === 's' ? 'seconds' : unit.replace(/\{.*\}/, '');
  if (unitWord !== '' && !words.includes(unitWord)) words.push(unitWord);
  if (sum?.isMonotonic !== true) return words.join('_');
  return [...words.filter((word) => word !== 'total'), 'total'].join('_');
}
