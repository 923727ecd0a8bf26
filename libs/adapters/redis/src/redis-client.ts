// Clients of ioredis for each form of address.
//
// Invariants:
//   R1. Commands go to the master: of one server there is no other, Sentinels name it, and nodes of a cluster say which
//       of them has a key. Another server that becomes the master is found without a restart.
//   R2. Subscriptions of a cluster are at any of its nodes, because what is published at one node comes to all: when it
//       is gone, at the next that the address names.
//   R3. An encrypted connection says which name it wants (SNI), so that a proxy that routes by it knows the server, and
//       the certificate is checked for that name; an address has no such name. Not those to Sentinels, which have one
//       set of options in ioredis, whatever their hosts: their certificates are checked for the hosts all the same.
import { AbstractConnector, Cluster, Redis, type RedisOptions } from 'ioredis';
import { createConnection, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { RedisAddress, RedisNode } from './redis-address.ts';

export interface ClientOptions extends Omit<RedisOptions, 'tls' | 'retryStrategy' | 'lazyConnect'> {
  /** Of an encrypted address: the installation's own authorities and certificate. */
  readonly tls?: ConnectionOptions | undefined;
  /** Milliseconds before the next connection, after so many that failed in a row; null for none. */
  readonly retryMs: (failed: number) => number | null;
  /** Connects with `connect()`. Default: at once. */
  readonly isLazy?: boolean;
}

type Clustered = RedisAddress & { readonly kind: 'cluster' };

const slotsEveryMs = 2_000;
/** Of one command, from node to node. */
const redirectionsMax = 4;
const tryAgainMs = 50;

/** (R1) */
export function commandClient(address: RedisAddress, options: ClientOptions): Redis | Cluster {
  return address.kind === 'cluster' ? clusterClient(address, options) : serverClient(address, options);
}

/** (R2) */
export function subscriptionClient(address: RedisAddress, options: ClientOptions): Redis {
  if (address.kind !== 'cluster') return serverClient(address, options);
  const { login, nodes } = address;
  return new Redis({ ...sharedOptions(address, options), ...login, Connector: connectorTo(nextOf(nodes)) });
}

function serverClient(address: Exclude<RedisAddress, Clustered>, options: ClientOptions): Redis {
  const shared = sharedOptions(address, options);
  if (address.kind === 'server') return new Redis(address.url, { ...shared, ...(shared.tls && byName) });
  const { nodes, master, db, login, sentinelLogin, isEncrypted } = address;
  return new Redis({
    ...shared,
    ...{ sentinels: [...nodes], name: master, db, ...login },
    ...{ sentinelUsername: sentinelLogin.username, sentinelPassword: sentinelLogin.password },
    ...(isEncrypted ? { enableTLSForSentinelMode: true, sentinelTLS: { ...options.tls }, natMap: namedMaster } : {}),
    sentinelCommandTimeout: shared.connectTimeout,
    sentinelRetryStrategy: options.retryMs,
    // The master of before may still answer, without being asked for more: Sentinels say when there is another.
    failoverDetector: true,
    sentinelReconnectStrategy: options.retryMs,
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  });
}

function clusterClient(address: Clustered, options: ClientOptions): Cluster {
  const {
    retryStrategy: _each,
    enableOfflineQueue,
    enableAutoPipelining,
    lazyConnect,
    ...ofNodes
  } = sharedOptions(address, options);
  return new Cluster([...address.nodes], {
    ...{ enableOfflineQueue, enableAutoPipelining, lazyConnect },
    redisOptions: { ...ofNodes, ...address.login, ...(ofNodes.tls && byName) },
    dnsLookup: (name, found) => found(null, name), // certificates are of names
    clusterRetryStrategy: options.retryMs,
    slotsRefreshInterval: slotsEveryMs,
    slotsRefreshTimeout: slotsEveryMs,
    maxRedirections: redirectionsMax,
    // A node that is gone, or a cluster that is choosing another: the command fails now.
    ...{ retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, retryDelayOnTryAgain: tryAgainMs },
  });
}

function sharedOptions(
  { isEncrypted }: RedisAddress,
  { tls, retryMs, isLazy = false, ...given }: ClientOptions,
): RedisOptions {
  return { ...given, ...(isEncrypted ? { tls: { ...tls } } : {}), retryStrategy: retryMs, lazyConnect: isLazy };
}

/** What is given for a host that has a name. (R3) */
export const nameOf = (host: string): { readonly servername?: string } =>
  isIP(host) === 0 ? { servername: host } : {};

/** Where the Sentinels say that the master is: `host:port`. ioredis connects with all that this returns. (R3) */
function namedMaster(place: string): RedisNode & { readonly servername?: string } {
  const end = place.lastIndexOf(':');
  const host = place.slice(0, end);
  return { host, port: Number(place.slice(end + 1)), ...nameOf(host) };
}

type Connector = NonNullable<RedisOptions['Connector']>;

/** One node after the other, at each attempt the next. (R2) */
function nextOf(nodes: readonly RedisNode[]): () => RedisNode {
  let at = Math.floor(Math.random() * nodes.length);
  return () => {
    const node = nodes[at++ % nodes.length];
    if (node === undefined) throw new RangeError('no nodes');
    return node;
  };
}

/** To the node of the client's options, or to the one that is to be next. */
function connectorTo(next?: () => RedisNode): Connector {
  return class extends AbstractConnector {
    readonly #given: RedisOptions;

    constructor(options: unknown) {
      super(disconnectMs);
      this.#given = options as RedisOptions;
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      const { host = standardHost, port = standardPort, family, tls } = this.#given;
      const node = next?.() ?? { host, port, family };
      const stream = tls === undefined ? createConnection(node) : connectTls({ ...node, ...nameOf(node.host), ...tls });
      this.stream = stream;
      stream.once('error', (error) => (this.firstError = error));
      return stream;
    }
  };
}

const disconnectMs = 2_000;
const standardHost = '127.0.0.1';
const standardPort = 6_379;
/** (R3) */
const byName = { Connector: connectorTo() };
