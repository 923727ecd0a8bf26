// Counts and times the requests of one HTTP server: rate, errors and duration by route.
//
// Invariants:
//   M1. A route is its template, whatever the method, never a path: a path has ids, and a callback's is a credential.
//       With the method the routes would not fit into the values of a label.
//   M2. A stream of events is counted when it ends, and its duration is not recorded.
import type { Histogram, Metrics } from '@dormouse/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { routeOf } from './route-name.ts';

const unknownRoute = 'unknown';
const streamed = 'text/event-stream';

/** A route that takes what no other does; GET of `/*` is the console. */
const isFallback = (method: string, url: string): boolean =>
  url === '/v1/*' || (url === '/*' && method !== 'GET' && method !== 'HEAD');

export function countRequests(server: FastifyInstance, metrics: Metrics): void {
  const durations = new Map<string, Histogram>();

  /** (M1) */
  function labelOf(request: FastifyRequest): string {
    const route = routeOf(request);
    return route === null || isFallback(request.method, route) ? unknownRoute : route;
  }

  function durationOf(route: string): Histogram {
    const known = durations.get(route) ?? metrics.histogram('dormouse_http_duration_seconds', route);
    durations.set(route, known);
    return known;
  }

  server.addHook('onResponse', (request, reply, done) => {
    const route = labelOf(request);
    metrics.counter('dormouse_http_requests_total', route, String(reply.raw.statusCode)).add(1);
    const type = reply.raw.getHeader('content-type');
    if (typeof type !== 'string' || !type.startsWith(streamed)) durationOf(route).record(reply.elapsedTime / 1_000); // (M2)
    done();
  });
}
