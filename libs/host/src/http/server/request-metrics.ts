// Counts and times the requests of one HTTP server: rate, errors and duration by route.
//
// Invariants:
//   M1. A route is its method and template, never a path: a path has ids, and a callback's is a credential.
//   M2. A stream of events is counted when it ends, and its duration is not recorded.
import type { Histogram, Metrics } from '@dormouse/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const unknownRoute = 'unknown';
const streamed = 'text/event-stream';

export function countRequests(server: FastifyInstance, metrics: Metrics): void {
  const names = new Map<string, Map<string, string>>();
  const durations = new Map<string, Histogram>();

  /** (M1) */
  function routeOf({ method, routeOptions }: FastifyRequest): string {
    const { url } = routeOptions;
    if (url === undefined) return unknownRoute;
    const ofUrl = names.get(url) ?? new Map<string, string>();
    names.set(url, ofUrl);
    const known = ofUrl.get(method);
    if (known !== undefined) return known;
    const name = `${method} ${url}`;
    ofUrl.set(method, name);
    return name;
  }

  function durationOf(route: string): Histogram {
    const known = durations.get(route) ?? metrics.histogram('dormouse_http_duration_seconds', route);
    durations.set(route, known);
    return known;
  }

  server.addHook('onResponse', (request, reply, done) => {
    const route = routeOf(request);
    metrics.counter('dormouse_http_requests_total', route, String(reply.raw.statusCode)).add(1);
    const type = reply.raw.getHeader('content-type');
    if (typeof type !== 'string' || !type.startsWith(streamed)) durationOf(route).record(reply.elapsedTime / 1_000); // (M2)
    done();
  });
}
