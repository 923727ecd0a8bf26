// Clients of ioredis for each form of address.
//
// Invariants:
//   R1. Commands go to the master: of one server there is no other, Sentinels name it, and nodes of a cluster say which
//       of them has a key. Another server that becomes the master is found without a restart.
//   R2. Subscriptions of a cluster are at any of its nodes, because what is published at one node comes to all: when it
//       is gone, at the next that the address names.
import { AbstractConnector, Cluster, Redis, type RedisOptions } from 'ioredis';
import { createConnection, type Socket } from 'node:net';
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
  return new Redis({ ...sharedOptions(address, options), ...login, Connector: connectorTo(nodes) });
}

function serverClient(address: Exclude<RedisAddress, Clustered>, options: ClientOptions): Redis {
  const shared = sharedOptions(address, options);
  if (address.kind === 'server') return new Redis(address.url, shared);
  const { nodes, master, db, login, sentinelLogin, isEncrypted } = address;
  return new Redis({
    ...shared,
    ...{ sentinels: [...nodes], name: master, db, ...login },
    ...{ sentinelUsername: sentinelLogin.username, sentinelPassword: sentinelLogin.password },
    ...(isEncrypted ? { enableTLSForSentinelMode: true, sentinelTLS: { ...options.tls } } : {}),
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
    redisOptions: { ...ofNodes, ...address.login },
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

/** Connects to one node after the other, at each attempt to the next. (R2) */
function connectorTo(nodes: readonly RedisNode[]): NonNullable<RedisOptions['Connector']> {
  let at = Math.floor(Math.random() * nodes.length);
  return class extends AbstractConnector {
    readonly #tls: ConnectionOptions | undefined;

    constructor(options: unknown) {
      super(disconnectMs);
      this.#tls = (options as RedisOptions).tls;
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      const node = nodes[at++ % nodes.length];
      if (node === undefined) throw new RangeError('no nodes');
      const stream = this.#tls === undefined ? createConnection(node) : connectTls({ ...node, ...this.#tls });
      this.stream = stream;
      stream.once('error', (error) => (this.firstError = error));
      return stream;
    }
  };
}

const disconnectMs = 2_000;
