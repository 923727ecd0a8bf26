// The connection to Redis, which may be away at any time: no caller waits for it, and none fails because of it.
//
// Invariants:
//   L1. A command that cannot be sent now fails now; its caller goes on without it. Losing Redis costs only time.
//   L2. An outage is logged once when it begins, and once when it ends; that of one node of a cluster as such.
//   L3. The URL, which may contain a password, is never repeated.
//   L4. A server that stays silent is away: one timer for the connection; one per command would cost more than it.
//   L5. A client that has ended by itself connects again: ioredis ends one whose Sentinels announce another master
//       while it is asking them, and would not reconnect it.
import { certificateProblem, type Histogram, type Logger, networkErrorCode } from '@dormouse/ports';
import { Cluster, type Redis } from 'ioredis';
import type { ConnectionOptions } from 'node:tls';
import { encryptionProblem } from './encryption-problem.ts';
import type { RedisAddress, RedisNode } from './redis-address.ts';
import { type ClientOptions, commandClient, subscriptionClient } from './redis-client.ts';

export interface RedisLink<Client extends Redis | Cluster = Redis | Cluster> {
  readonly client: Client;
  /** The answer, or `otherwise` when Redis cannot give one now. (L1) */
  ask<Answer>(question: (client: Client) => Promise<Answer>, otherwise: Answer): Promise<Answer>;
  close(): Promise<void>;
}

const reconnectMsFirst = 50;
const reconnectMsMax = 2_000;
const silenceMsMax = 1_000;

export interface LinkOptions {
  readonly address: RedisAddress;
  readonly tls?: ConnectionOptions | undefined;
  readonly name: string;
  readonly logger: Logger;
  /** Of the commands that Redis answers. */
  readonly times: Histogram;
}

/** Connects in the background. */
export const openCommands = (options: LinkOptions): RedisLink =>
  linkOver(commandClient(options.address, clientOptions(options)), options);

/** The same, for commands that subscribe. */
export const openSubscriptions = (options: LinkOptions): RedisLink<Redis> =>
  linkOver(subscriptionClient(options.address, clientOptions(options)), options);

const clientOptions = ({ name, tls }: LinkOptions): ClientOptions => ({
  connectionName: name,
  tls,
  enableOfflineQueue: false, // (L1)
  enableAutoPipelining: true,
  maxRetriesPerRequest: 0,
  connectTimeout: 3_000,
  socketTimeout: silenceMsMax, // (L4)
  retryMs: (failed) => Math.min(reconnectMsFirst * 2 ** Math.min(failed, 10), reconnectMsMax),
});

function linkOver<Client extends Redis | Cluster>(
  client: Client,
  { name, logger, times, address, tls }: LinkOptions,
): RedisLink<Client> {
  /** Resolves when the outage has been logged; null while there is none. */
  let outage: Promise<void> | null = null;
  const log = (reason: string): void => logger.warn('redis_away', { name, reason }); // (L3)
  const away = (reason: string | Promise<string>): void => {
    if (outage !== null) return; // (L2)
    outage = typeof reason === 'string' ? Promise.resolve(log(reason)) : reason.then(log);
  };
  client.on('error', (error: NodeJS.ErrnoException) => {
    if (outage !== null) return;
    const reason = reasonOf(error, client.status === 'connect');
    away(saysNothingOfTls(error, address) ? tlsReason(address.nodes, tls, reason) : reason);
  });
  client.on('ready', () => {
    void outage?.then(() => logger.info('redis_back', { name })); // (L2)
    outage = null;
  });
  let isClosed = false;
  client.on('end', () => {
    const again = (): void => void (isClosed || client.connect().catch(() => {})); // it failed: `error` has the reason
    if (!isClosed) setTimeout(again, reconnectMsFirst).unref(); // (L5)
  });
  if (client instanceof Cluster) watchNodes(client, name, logger);
  return {
    client,
    ask: async (question, otherwise) => {
      if (client.status !== 'ready') return otherwise; // (L1)
      try {
        const from = performance.now();
        const answer = await question(client);
        times.record((performance.now() - from) / 1_000);
        return answer;
      } catch (error) {
        const misplaced = misplacedIn(address, error as Error);
        if (misplaced !== null) away(misplaced);
        return otherwise; // the outage is logged already
      }
    },
    close: async () => {
      isClosed = true;
      client.disconnect();
    },
  };
}

/** (L2) */
function watchNodes(cluster: Cluster, name: string, logger: Logger): void {
  const absent = new Set<string>();
  cluster.on('node error', (error: NodeJS.ErrnoException, node: string) => {
    if (!absent.has(node)) logger.warn('redis_node_away', { name, node, reason: reasonOf(error, false) });
    absent.add(node);
  });
  cluster.on('+node', (redis: Redis) =>
    redis.once('ready', () => {
      const node = `${redis.options.host}:${redis.options.port}`;
      if (absent.delete(node)) logger.info('redis_node_back', { name, node });
    }),
  );
}

const tlsSettings = {
  authority: 'DORMOUSE_REDIS_TLS_CA_FILE',
  certificate: 'DORMOUSE_REDIS_TLS_CERT_FILE and _KEY_FILE',
};

/** The reason, with what an operator can do about it. (L3) */
function reasonOf(error: NodeJS.ErrnoException, hasJustConnected: boolean): string {
  const certificate = certificateProblem(error, tlsSettings);
  if (certificate !== null) return `Redis (DORMOUSE_REDIS_URL): ${certificate}`;
  const { lastNodeError } = error as { readonly lastNodeError?: Error };
  const said = lastNodeError?.message ?? error.message;
  if (/^(WRONGPASS|NOAUTH|NOPERM)\b|^ERR .*AUTH/.test(said))
    return 'Redis refuses our credentials: see DORMOUSE_REDIS_URL.';
  // A server may close a connection that it refuses before the client has read the refusal.
  if (hasJustConnected && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
    return `Redis ends our connections at once (${error.code}): with TLS, see ${tlsSettings.certificate}.`;
  if (/^All sentinels are unreachable.* Last error: (WRONGPASS|NOAUTH|NOPERM)\b/.test(error.message))
    return 'The Sentinels refuse our credentials: see sentinelUser and sentinelPassword of DORMOUSE_REDIS_URL.';
  if (error.message.startsWith('All sentinels are unreachable'))
    return 'No Sentinel answers, or none knows a master of that name: see DORMOUSE_REDIS_URL.';
  if (said.includes('cluster support disabled')) return 'This Redis is no node of a cluster: see DORMOUSE_REDIS_URL.';
  return error.code ?? lastNodeError?.name ?? error.name;
}

/** ioredis passes on what a command says of several servers, which is that there is no connection. */
const saysNothingOfTls = (
  error: NodeJS.ErrnoException,
  address: RedisAddress,
): address is Exclude<RedisAddress, { readonly kind: 'server' }> =>
  address.kind !== 'server' && address.isEncrypted && error.code === undefined;

async function tlsReason(
  nodes: readonly RedisNode[],
  tls: ConnectionOptions | undefined,
  otherwise: string,
): Promise<string> {
  const problem = await encryptionProblem(nodes, tls);
  if (problem === null || networkErrorCode(problem.error) !== null) return otherwise;
  return reasonOf(problem.error, problem.hasConnected);
}

/** What a server answers that is of another kind than the address says: its commands will never succeed. */
function misplacedIn({ kind }: RedisAddress, { message }: Error): string | null {
  if (kind === 'server' && /^(MOVED|ASK|CLUSTERDOWN)\b/.test(message))
    return 'This Redis is a node of a cluster: DORMOUSE_REDIS_URL must begin with redis+cluster://.';
  if (kind === 'server' && message.startsWith('ERR unknown command'))
    return 'This Redis knows no usual commands. If it is a Sentinel, DORMOUSE_REDIS_URL must begin with redis+sentinel://.';
  if (kind === 'server' && message.startsWith('READONLY'))
    return 'This Redis is a replica: DORMOUSE_REDIS_URL must name the master, or Sentinels that know it.';
  return null;
}

/** Resolves when connected, or after `withinMs` without: it is optional. */
export async function readyOrAway({ client }: RedisLink, withinMs: number): Promise<void> {
  if (client.status === 'ready') return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, withinMs);
  client.once('ready', resolve);
  client.once('error', resolve);
  await promise;
  clearTimeout(timer);
  client.off('ready', resolve);
  client.off('error', resolve);
}
