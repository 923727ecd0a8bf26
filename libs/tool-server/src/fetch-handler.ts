/**
 * Owns: a tool server inside another HTTP server: `(Request) => Promise<Response>`, and the server that needs no port.
 *
 * H1. The paths of the protocol are below `basePath`; any other path is answered 404.
 * H2. A body that another part of the program has read is an error of its author, and said so in the log.
 * H3. A platform that ends what a request has begun is asked, before the answer, to wait until the work of the request
 *     is done and sent.
 */
import { type FetchExchange, fetchExchange } from './http/fetch-exchange.ts';
import { describeError } from './outbox/describe-error.ts';
import { type OpenServer, openServer } from './open-server.ts';
import type { ToolServerOptions } from './define/serve-options.ts';
import type { ToolServer } from './define/tool-server.ts';
import { isWorkers } from './workers.ts';

/** What Hono, Next and others call; further arguments are the platform's. */
export type FetchHandler = (request: Request, ...platform: readonly unknown[]) => Promise<Response>;

export interface FetchHandlerOptions {
  /** Where the handler is mounted, if the paths of its requests begin with it: `/tools`. Default: the `publicUrl`'s. */
  readonly basePath?: string;
}

const opened = new WeakMap<ToolServer, OpenServer>();

/** So that `toFetchHandler` finds what belongs to a server. */
export function remember(one: OpenServer): ToolServer {
  opened.set(one.server, one);
  return one.server;
}

/**
 * A tool server without a port, for `toFetchHandler`. Resolves when it is ready.
 * @throws Error for a manifest or settings that cannot be served
 */
export async function createToolServer(options: ToolServerOptions): Promise<ToolServer> {
  const one = openServer(options);
  try {
    await one.open();
    one.setReady();
    return remember(one);
  } catch (error) {
    await one.server.close();
    throw error;
  }
}

/**
 * The server's manifest, endpoint and notices as one function, to be mounted in Hono, Fastify, Next, Express.
 * Options instead of a server make one, at the first request. A `publicUrl` is needed where the address that runtimes
 * use is not the one of the requests.
 */
export function toFetchHandler(
  toolServer: ToolServer | Promise<ToolServer> | ToolServerOptions,
  { basePath }: FetchHandlerOptions = {},
): FetchHandler {
  let made: Promise<ToolServer> | undefined;
  const server = (): Promise<ToolServer> =>
    (made ??= 'tools' in toolServer ? createToolServer(toolServer) : Promise.resolve(toolServer));
  return async (request, ...platform) => {
    const one = opened.get(await server());
    if (one === undefined) throw new TypeError('toFetchHandler takes what serve or createToolServer made, or options');
    return answer(one, request, basePath ?? pathOf(one.server.url), platform);
  };
}

async function answer(
  one: OpenServer,
  request: Request,
  basePath: string,
  platform: readonly unknown[],
): Promise<Response> {
  const { origin, pathname, search } = new URL(request.url);
  const prefix = basePath.replace(/\/+$/, '');
  if (prefix !== '' && !pathname.startsWith(`${prefix}/`)) return new Response(null, { status: 404 }); // (H1)
  if (request.bodyUsed) {
    one.log('a request came without its body: something before toFetchHandler has read it, a body parser perhaps'); // (H2)
    return new Response(null, { status: 500 });
  }
  one.attend();
  const exchange = fetchExchange(request, `${pathname.slice(prefix.length)}${search}`, `${origin}${prefix}`);
  try {
    await one.door(exchange.request, exchange.response);
  } catch (error) {
    one.log(`a request failed: ${describeError(error)}`);
    return new Response(null, { status: 500 });
  }
  wait(one, platform, afterAnswer(one, exchange));
  return exchange.answer();
}

/** (H3) */
async function afterAnswer(one: OpenServer, exchange: FetchExchange): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve)); // the caller has its answer then
  await one.settled(exchange.handedOver());
}

/** (H3) Platforms that run functions, and Hono on them, pass a context that has `waitUntil`. */
function wait(one: OpenServer, platform: readonly unknown[], work: Promise<void>): void {
  const contexts = platform.filter(hasWaitUntil);
  for (const context of contexts) context.waitUntil(work);
  if (contexts.length > 0 || !isWorkers() || warned.has(one)) return;
  warned.add(one);
  one.log('the handler got no context: pass it on, handler(request, env, ctx), or no result is sent');
}

const warned = new WeakSet<OpenServer>();

const hasWaitUntil = (given: unknown): given is { waitUntil(work: Promise<void>): void } =>
  typeof given === 'object' && given !== null && 'waitUntil' in given && typeof given.waitUntil === 'function';

const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : '');
