// The HTTP server of a process that takes callbacks and nothing else.
import type { Logger } from '@dormouse/ports';
import type { CallbackGateway } from '@dormouse/runtime';
import { fastify } from 'fastify';
import { callbackFailure, registerCallbackRoute } from './callback-route.ts';
import type { HttpServer } from './http-server.ts';

const keepAliveTimeoutMs = 65_000;
const tokenCharactersMax = 4_096;

export async function createCallbackServer(options: {
  readonly callbacks: CallbackGateway;
  readonly logger: Logger;
}): Promise<HttpServer> {
  const server = fastify({
    routerOptions: { maxParamLength: tokenCharactersMax },
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
  });
  server.setErrorHandler((error, _request, reply) => callbackFailure(reply, error, options.logger));
  registerCallbackRoute(server, options.callbacks);
  return {
    listen: (host, port) => server.listen({ host, port }),
    close: async () => {
      await server.close();
    },
  };
}
