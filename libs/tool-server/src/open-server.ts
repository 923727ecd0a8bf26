/**
 * Owns: the life of a tool server without its port: from its options to a door that answers, and its end.
 * Not here: the port (`serve.ts`), requests of another HTTP server (`fetch-handler.ts`).
 *
 * Y1. Nothing is ready before the manifest is valid, the calls of an earlier process are recovered, and both the
 *     manifest and the endpoint answer. T3 T26 T46
 * Y2. Closing takes no more calls, ends those that run, and allows a bounded time for sending their messages.
 * Y4. A server without a `publicUrl` and without a port has the address under which its last call reached it.
 * Y5. In Workers a timer ends with the request that has set it: what is due is done when the next request comes.
 */
import { type Assembly, assemble } from './assembly.ts';
import { type Authentication, createAuthentication } from './http/authentication.ts';
import { createDoor, type Door, type DoorState, invocationPath } from './http/door.ts';
import { manifestText } from './define/manifest.ts';
import type { MigrateHook } from './call/migration.ts';
import { checkProvider } from './ask/oauth-provider.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { createBodyReader } from './http/request-body.ts';
import { createRedactor, type Redactor } from './outbox/redactor.ts';
import { serverLimits, type ServerLimits, type ToolServerOptions } from './define/serve-options.ts';
import type { ToolServer } from './define/tool-server.ts';
import { isWorkers } from './workers.ts';

const sweepEveryMs = 60_000;
/** No bound where all requests come from one peer. */
const behindProxy = { unfinishedPerPeerMax: Number.POSITIVE_INFINITY };

/** What stops with the server: its port. */
export interface Listener {
  /** Takes no new connections; resolves when the last one is closed. */
  readonly stop: () => Promise<void>;
  readonly cut: () => void;
}

interface Life {
  readonly options: ToolServerOptions;
  readonly limits: ServerLimits;
  readonly log: (line: string) => void;
  readonly hasOwnAddress: boolean;
  state: DoorState;
  publicUrl: string;
  manifest: string;
}

export interface OpenServer {
  readonly server: ToolServer;
  readonly door: Door;
  readonly limits: ServerLimits;
  readonly log: (line: string) => void;
  /** Recovers what an earlier process left, and opens the door; `url` is used where there is no `publicUrl`. (Y1) */
  readonly open: (url?: string) => Promise<void>;
  /** The door has been seen to answer. */
  readonly setReady: () => void;
  /** Resolves when this work is done, and what is owed is sent or waits for its next attempt. */
  readonly settled: (work: Promise<void>) => Promise<void>;
  /** A request has come: does what timers do elsewhere. (Y5) */
  readonly attend: () => void;
}

/** Nothing answers before `open`. @throws Error for a manifest or settings that cannot be served. */
export function openServer(options: ToolServerOptions, listener?: Listener): OpenServer {
  manifestAt(options, 'http://localhost'); // (Y1) before anything is opened
  const authentication = createAuthentication(options.auth);
  if (!authentication.isRequired && options.tools.some((tool) => tool.requiresUser === true))
    throw new Error('a tool that acts for a user needs a server with authentication'); // T33
  const redactor = redactorOf(options, authentication);
  const publicUrl = options.publicUrl?.replace(/\/+$/, '') ?? '';
  const limits = { ...serverLimits, ...(publicUrl === '' ? {} : behindProxy), ...options.limits };
  const log = loggerOf(options, redactor);
  const hasOwnAddress = listener !== undefined || publicUrl !== '';
  const life: Life = { options, limits, log, hasOwnAddress, state: 'starting', publicUrl, manifest: '' };
  const trustsUserId = authentication.isRequired;
  const assembly = assemble(options, { limits, redactor, trustsUserId, publicUrl: () => life.publicUrl, log });
  const server = serverOf(life, assembly, listener);
  return {
    server,
    door: doorOf(life, assembly, authentication, server),
    limits,
    log,
    async open(url = '') {
      if (life.publicUrl === '') life.publicUrl = url;
      if (life.publicUrl !== '') life.manifest = manifestAt(options, life.publicUrl);
      for (const provider of assembly.providers.values()) checkProvider(provider, life.publicUrl);
      assembly.calls.recover();
      await assembly.resume();
      assembly.outbox.start();
      life.state = 'opening';
    },
    setReady: () => void (life.state = 'ready'),
    async settled(work) {
      await work;
      await assembly.outbox.flush(limits.closeMsMax);
    },
    attend: isWorkers() ? attendingOf(assembly) : () => {},
  };
}

/** (Y5) */
function attendingOf({ sweep, outbox, calls }: Assembly): () => void {
  let sweptAt = Date.now();
  return () => {
    outbox.takeUp();
    calls.endLost();
    if (Date.now() - sweptAt < sweepEveryMs) return;
    sweptAt = Date.now();
    sweep();
  };
}

function serverOf(life: Life, assembly: Assembly, listener: Listener | undefined): ToolServer {
  const sweeper = isWorkers() ? undefined : setInterval(assembly.sweep, sweepEveryMs).unref(); // (Y5)
  const { subscriptions, calls, outbox } = assembly;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    life.state = 'closing'; // (Y2)
    clearInterval(sweeper);
    const stopped = listener?.stop();
    await calls.close();
    if (life.options.dataDir === undefined)
      subscriptions.endAll('The subscription has ended: the tool server was stopped.');
    await outbox.flush(life.limits.closeMsMax);
    listener?.cut();
    await stopped;
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
    copyInto: assembly.copyInto,
    close: () => (closing ??= close()),
  };
}

function doorOf(life: Life, assembly: Assembly, authentication: Authentication, server: ToolServer): Door {
  const { options, limits, log } = life;
  const { calls, choices, authorizations, closeThread, cancelToolCall } = assembly;
  return createDoor({
    state: () => life.state,
    manifest: (base) =>
      life.hasOwnAddress || base === undefined ? life.manifest : manifestAt(options, base.replace(/\/+$/, '')),
    reachedAt(base) {
      if (!life.hasOwnAddress && base !== undefined) life.publicUrl = base.replace(/\/+$/, ''); // (Y4)
    },
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
    choices,
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

const needsMigration = ({ migrate, handoverKey }: ToolServerOptions): boolean =>
  migrate !== undefined || handoverKey !== undefined;

/** The author's hook runs first: once the subscriptions are handed over there is no way back. */
const moveAll =
  ({ migrate }: ToolServerOptions, { handover }: Assembly): MigrateHook =>
  async (notice, signal) => {
    await migrate?.(notice, signal);
    await handover?.send(notice, signal);
  };

const endpointAt = (url: string): string => `${url}${invocationPath}`;

const manifestAt = (options: ToolServerOptions, url: string): string =>
  manifestText({ ...options, needsMigration: needsMigration(options) }, endpointAt(url));

function redactorOf({ redact }: ToolServerOptions, authentication: Authentication): Redactor {
  const own = redact === undefined ? undefined : { protect: () => {}, clean: redact, line: redact, record: redact };
  const redactor = createRedactor(own);
  for (const secret of authentication.secrets) redactor.protect(secret);
  return redactor;
}

function loggerOf({ name, log }: ToolServerOptions, redactor: Redactor): (line: string) => void {
  const write = log ?? ((line: string): void => writeLog(`${name}: ${line}`));
  return (line) => write(redactor.record(line));
}

function writeLog(line: string): void {
  // oxlint-disable-next-line no-console -- what Workers have for a log
  if (isWorkers()) console.error(line);
  else process.stderr.write(`${line}\n`);
}

/** The page a browser returns to after a login. */
const pageHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
