// The HTTP server of a process that takes only callbacks.
//
// Invariant:
//   C1. What is no callback is refused with a problem document, and no answer repeats a path: it may hold a token.
import type { CallbackGateway } from '@dormouse/runtime';
import type { FastifyRequest } from 'fastify';
import { callbackFailure, registerCallbackRoute } from '../data-plane/callback-route.ts';
import { HttpProblem, nothingHere } from '../problems/problem.ts';
import { type BoundedServerOptions, createBoundedServer } from './bounded-server.ts';
import type { HttpServer } from './http-server.ts';
import { requireHost } from './unreadable-request.ts';

export async function createCallbackServer({
  callbacks,
  ...options
}: BoundedServerOptions & { readonly callbacks: CallbackGateway }): Promise<HttpServer> {
  const { server, room, refuse } = createBoundedServer(options); // (C1)
  server.addHook('onRequest', async ({ raw }) => requireHost(raw));
  server.setErrorHandler((error, _request, reply) => callbackFailure(reply, error, options.logger));
  server.setNotFoundHandler((request, reply) => refuse(noCallback(request), request, reply)); // (C1)
  registerCallbackRoute(server, callbacks, room);
  return {
    listen: (host, port) => server.listen({ host, port }),
    close: () => server.close(),
  };
}

function noCallback({ method, url }: FastifyRequest): HttpProblem {
  if (method === 'POST' || !/^\/callback\/[^/?]+(\?|$)/.test(url)) return nothingHere();
  return new HttpProblem('METHOD_NOT_ALLOWED', 'This path takes POST.', { headers: { allow: 'POST' } });
}
