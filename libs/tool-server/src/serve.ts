/**
 * Owns: the port of a tool server, from listening to its last connection.
 *
 * Y1. `serve` resolves when both the manifest and the endpoint answer over this port. T3
 * Y3. Head and body of a request must arrive within a time limit, and a peer has a bound of unfinished ones.
 * Y5. A port that cannot be had, and one that every machine reaches without a credential, are refused in one sentence.
 */
import { createServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, BlockList, isIP } from 'node:net';
import { createAuthentication } from './http/authentication.ts';
import { send } from './http/door.ts';
import { probeItself } from './http/self-probe.ts';
import { boundUnfinishedRequests } from './http/unfinished-requests.ts';
import { describeError } from './outbox/describe-error.ts';
import { remember } from './fetch-handler.ts';
import { type OpenServer, openServer } from './open-server.ts';
import { serverLimits, type ServeOptions } from './define/serve-options.ts';
import type { ToolServer } from './define/tool-server.ts';

const hostDefault = '127.0.0.1';
const timeoutsCheckedEveryMs = 1_000;

/** Starts a tool server; resolves when it is ready. @throws Error for a manifest or settings that cannot be served. */
export async function serve(options: ServeOptions): Promise<ToolServer> {
  refuseOpenHost(options);
  const requestMsMax = options.limits?.requestMsMax ?? serverLimits.requestMsMax;
  const timeouts = {
    headersTimeout: requestMsMax, // (Y3)
    requestTimeout: requestMsMax,
    connectionsCheckingInterval: Math.min(timeoutsCheckedEveryMs, requestMsMax),
  };
  const http = createServer(timeouts);
  const opened = openServer(options, {
    stop: () => new Promise((resolve) => http.close(() => resolve())),
    cut: () => http.closeAllConnections(),
  });
  http.on('request', (request, response) => {
    opened.door(request, response).catch((error: unknown) => {
      opened.log(`a request failed: ${describeError(error)}`);
      send(response, { status: 500 });
    });
  });
  boundUnfinishedRequests(http, opened.limits.unfinishedPerPeerMax);
  try {
    await start(opened, options, http);
    return remember(opened);
  } catch (error) {
    await opened.server.close();
    throw error;
  }
}

/** (Y1) */
async function start(opened: OpenServer, options: ServeOptions, http: HttpServer): Promise<void> {
  const address = await listen(http, options);
  await opened.open(urlOf(address));
  await probeItself(address);
  opened.setReady();
}

/** (Y5) */
function listen(http: HttpServer, { port = 0, host = hostDefault }: ServeOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(error, port, host)));
    http.listen(port, host, () => resolve(http.address() as AddressInfo));
  });
}

function listenFailure(error: NodeJS.ErrnoException, port: number, host: string): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new Error(
        `port ${port} of ${host} is taken by another process; stop it, or pass another \`port\` (0 takes a free one).`,
        { cause: error },
      );
    case 'EACCES':
      return new Error(`port ${port} may not be used by this user; pass a \`port\` of 1024 or more.`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`${host} is no address of this machine; pass a \`host\` that is one, such as 127.0.0.1.`, {
        cause: error,
      });
    default:
      return error;
  }
}

/** (Y5) */
function refuseOpenHost({ host = hostDefault, auth }: ServeOptions): void {
  const family = isIP(host);
  const isOwn = family === 0 ? host === 'localhost' : loopback().check(host, family === 6 ? 'ipv6' : 'ipv4');
  if (isOwn || auth?.open === true || createAuthentication(auth).isRequired) return;
  throw new Error(
    `a server on ${host} is reached from other machines, and without \`auth\` each of them may call its tools; ` +
      'set auth: { bearer: … }, or host: "127.0.0.1", or auth: { open: true } if a network in front of it decides.',
  );
}

function loopback(): BlockList {
  const addresses = new BlockList();
  addresses.addSubnet('127.0.0.0', 8);
  addresses.addAddress('::1', 'ipv6');
  return addresses;
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
