// The route of a request by the name that the API's reference has for it: `/v1/threads/{id}/messages`. OpenAPI, spans,
// logs and metrics use these names; a request's own path, which has ids and may hold a token, is in none of them.
import type { FastifyRequest } from 'fastify';

/** By the pattern that Fastify has for it; as many as there are routes. */
const names = new Map<string, string>();

/** Null for a request that no route takes. */
export function routeOf({ routeOptions: { url } }: Pick<FastifyRequest, 'routeOptions'>): string | null {
  if (url === undefined) return null;
  const name =
    names.get(url) ??
    url.replaceAll(/:(\w+)|::/g, (_all, parameter?: string) => (parameter === undefined ? ':' : `{${parameter}}`));
  names.set(url, name);
  return name;
}

/** A route's name as Nest and Fastify write it: `/v1/threads/:id/messages`, and `::` for a colon. */
export const patternOf = (route: string): string => route.replaceAll(':', '::').replaceAll(/\{(\w+)\}/g, ':$1');
