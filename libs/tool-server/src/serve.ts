/**
 * Owns: the life of a tool server, from its options to a port that answers, and its shutdown.
 *
 * Y1. Nothing is ready before the manifest is valid, the calls of an earlier process are recovered, and both the
 *     manifest and the endpoint answer. T3 T26 T46
 * Y2. Closing takes no more calls, ends those that run, and allows a bounded time for sending their messages.
 * Y3. Head and body of a request must arrive within a time limit, and a peer has a bound of unfinished ones.
 */
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Assembly, assemble } from './assembly.ts';
import { type Authentication, createAuthentication } from './http/authentication.ts';
import { createDoor, type Door, type DoorState, invocationPath, send } from './http/door.ts';
import { manifestText } from './define/manifest.ts';
import type { MigrateHook } from './call/migration.ts';
import { checkProvider } from './ask/oauth-provider.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { createBodyReader } from './http/request-body.ts';
import { createRedactor, type Redactor } from './outbox/redactor.ts';
import { probeItself } from './http/self-probe.ts';
import { type ServeOptions, serverLimits, type ServerLimits } from './define/serve-options.ts';
import type { ToolServer } from './define/tool-server.ts';
import { boundUnfinishedRequests } from './http/unfinished-requests.ts';

const sweepEveryMs = 60_000;
const timeoutsCheckedEveryMs = 1_000;
/** No bound where all requests come from one peer. */
const behindProxy = { unfinishedPerPeerMax: Number.POSITIVE_INFINITY };

interface Life {
  readonly options: ServeOptions;
  readonly limits: ServerLimits;
  readonly log: (line: string) => void;
  state: DoorState;
  publicUrl: string;
  manifest: string;
}

/** Starts a tool server; resolves when it is ready. @throws Error for a manifest or settings that cannot be served. */
export async function serve(options: ServeOptions): Promise<ToolServer> {
  manifestAt(options, 'http://localhost'); // (Y1) before anything is opened
  const authentication = createAuthentication(options.auth);
  if (!authentication.isRequired && options.tools.some((tool) => tool.requiresUser === true))
    throw new Error('a tool that acts for a user needs a server with authentication'); // T33
  const redactor = redactorOf(options, authentication);
  const publicUrl = options.publicUrl?.replace(/\/+$/, '') ?? '';
  const limits = { ...serverLimits, ...(publicUrl === '' ? {} : behindProxy), ...options.limits };
  const log = loggerOf(options, redactor);
  const life: Life = { options, limits, log, state: 'starting', publicUrl, manifest: '' };
  const trustsUserId = authentication.isRequired;
  const assembly = assemble(options, { limits, redactor, trustsUserId, publicUrl: () => life.publicUrl, log });
  const timeouts = {
    headersTimeout: limits.requestMsMax, // (Y3)
    requestTimeout: limits.requestMsMax,
    connectionsCheckingInterval: Math.min(timeoutsCheckedEveryMs, limits.requestMsMax),
  };
  const http = createServer(timeouts, (request, response) => {
    door(request, response).catch((error: unknown) => {
      log(`a request failed: ${error instanceof Error ? error.message : 'unknown'}`);
      send(response, { status: 500 });
    });
  });
  const unbound = boundUnfinishedRequests(http, limits.unfinishedPerPeerMax);
  http.once('close', unbound);
  const server = serverOf(life, assembly, http);
  const door = doorOf(life, assembly, authentication, server);
  try {
    await start(life, assembly, http);
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** (Y1) */
async function start(life: Life, assembly: Assembly, http: HttpServer): Promise<void> {
  const { port = 0, host = '127.0.0.1' } = life.options;
  await new Promise<void>((resolve, reject) => http.once('error', reject).listen(port, host, resolve));
  const address = http.address() as AddressInfo;
  if (life.publicUrl === '') life.publicUrl = urlOf(address);
  life.manifest = manifestAt(life.options, life.publicUrl);
  for (const provider of assembly.providers.values()) checkProvider(provider, life.publicUrl);
  assembly.calls.recover();
  await assembly.resume();
  assembly.outbox.start();
  life.state = 'opening';
  await probeItself(address);
  life.state = 'ready';
}

function serverOf(life: Life, assembly: Assembly, http: HttpServer): ToolServer {
  const sweeper = setInterval(assembly.sweep, sweepEveryMs).unref();
  const { subscriptions, calls, outbox } = assembly;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    life.state = 'closing'; // (Y2)
    clearInterval(sweeper);
    const closed = new Promise<void>((resolve) => http.close(() => resolve()));
    await calls.close();
    if (life.options.dataDir === undefined)
      subscriptions.endAll('The subscription has ended: the tool server was stopped.');
    await outbox.flush(life.limits.closeMsMax);
    http.closeAllConnections();
    await closed;
    await assembly.release();
  };
  return {
    get url() {
      return life.publicUrl;
    },
    get endpoint() {
      return endpointAt(life.publicUrl);
    },
    subscriptions: subscriptions.live,
    secret: assembly.secret,
    waitingMessages: outbox.size,
    sweep: assembly.sweep,
    close: () => (closing ??= close()),
  };
}

function doorOf(life: Life, assembly: Assembly, authentication: Authentication, server: ToolServer): Door {
  const { options, limits, log } = life;
  const { calls, choices, authorizations, closeThread, cancelToolCall } = assembly;
  return createDoor({
    state: () => life.state,
    manifest: () => life.manifest,
    name: options.name,
    authentication,
    version: options.refuseStale === true ? (options.version ?? null) : null,
    invocations: createRateLimit(limits.invocationsPerSecond, limits.invocationsBurst),
    notices: createRateLimit(limits.noticesPerSecond, limits.noticesBurst),
    isFull: () => calls.count() >= limits.callsRunningMax,
    admit: options.admit ?? (() => null),
    mayCall: (url) => options.callbackOrigins?.includes(URL.parse(url)?.origin ?? '') ?? true,
    take: assembly.take,
    closeThread,
    cancelToolCall,
    isAsked: choices.isAsked,
    answerChoice: choices.answer,
    async login(query) {
      const { status, text } = await authorizations.callback(query);
      return { status, headers: pageHeaders, body: text };
    },
    migration: needsMigration(options) ? { hook: moveAll(options, assembly), migrateMsMax: limits.migrateMsMax } : null,
    handOver: assembly.handover?.take ?? null,
    routes: options.routes ?? [],
    readBody: createBodyReader(limits.bodiesBytesMax),
    server: () => server,
    log,
  });
}

const needsMigration = ({ migrate, handoverKey }: ServeOptions): boolean =>
  migrate !== undefined || handoverKey !== undefined;

/** The author's hook runs first: once the subscriptions are handed over there is no way back. */
const moveAll =
  ({ migrate }: ServeOptions, { handover }: Assembly): MigrateHook =>
  async (notice, signal) => {
    await migrate?.(notice, signal);
    await handover?.send(notice, signal);
  };

const endpointAt = (url: string): string => `${url}${invocationPath}`;

const manifestAt = (options: ServeOptions, url: string): string =>
  manifestText({ ...options, needsMigration: needsMigration(options) }, endpointAt(url));

function redactorOf({ redact }: ServeOptions, authentication: Authentication): Redactor {
  const own = redact === undefined ? undefined : { protect: () => {}, clean: redact, line: redact };
  const redactor = createRedactor(own);
  for (const secret of authentication.secrets) redactor.protect(secret);
  return redactor;
}

function loggerOf({ name, log }: ServeOptions, redactor: Redactor): (line: string) => void {
  const write = log ?? ((line: string): void => void process.stderr.write(`${name}: ${line}\n`));
  return (line) => write(redactor.line(line));
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/** The page a browser returns to after a login. */
const pageHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
