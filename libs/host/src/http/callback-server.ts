// The HTTP server of a process that takes callbacks and nothing else.
import type { Logger } from '@dormouse/ports';
import type { CallbackGateway } from '@dormouse/runtime';
import { fastify } from 'fastify';
import { callbackFailure, callbackShortcut, registerCallbackRoute } from './callback-route.ts';
import type { HttpServer } from './http-server.ts';
import { addShortcuts } from './shortcut.ts';

const keepAliveTimeoutMs = 65_000;
const tokenCharactersMax = 4_096;
const noMarks = {};

export async function createCallbackServer(options: {
  readonly callbacks: CallbackGateway;
  readonly logger: Logger;
}): Promise<HttpServer> {
  const { callbacks, logger } = options;
  const stopping = new AbortController();
  const server = fastify({
    routerOptions: { maxParamLength: tokenCharactersMax },
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
  });
  const shortcut = callbackShortcut({ callbacks, logger, newMarks: () => noMarks, stopping: stopping.signal });
  addShortcuts(server.server, [shortcut], stopping.signal);
  server.setErrorHandler((error, _request, reply) => callbackFailure(reply, error, logger));
  registerCallbackRoute(server, callbacks);
  return {
    listen: (host, port) => server.listen({ host, port }),
    close: async () => {
      stopping.abort();
      await server.close();
    },
  };
}
