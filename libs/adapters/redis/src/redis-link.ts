// The connection to Redis, which may be away at any time: no caller waits for it, and none fails because of it.
//
// Invariants:
//   L1. A command that cannot be sent now fails now; its caller goes on without it. Losing Redis costs only time.
//   L2. An outage is logged once when it begins, and once when it ends.
//   L3. The URL, which may contain a password, is never repeated.
//   L4. A server that stays silent is away: one timer for the connection; one per command would cost more than it.
import { certificateProblem, type Histogram, type Logger } from '@dormouse/ports';
import { Redis } from 'ioredis';
import type { ConnectionOptions } from 'node:tls';

export interface RedisLink {
  readonly client: Redis;
  /** The answer, or `otherwise` when Redis cannot give one now. (L1) */
  ask<Answer>(question: (client: Redis) => Promise<Answer>, otherwise: Answer): Promise<Answer>;
  close(): Promise<void>;
}

const reconnectMsFirst = 50;
const reconnectMsMax = 2_000;
const silenceMsMax = 1_000;

export interface LinkOptions {
  readonly url: string;
  readonly tls?: ConnectionOptions | undefined;
  readonly name: string;
  readonly logger: Logger;
  /** Of the commands that Redis answers. */
  readonly times: Histogram;
}

/** Connects in the background. */
export function openLink({ url, tls, name, logger, times }: LinkOptions): RedisLink {
  const client = new Redis(url, {
    connectionName: name,
    ...(url.startsWith('rediss:') ? { tls: { ...tls } } : {}),
    enableOfflineQueue: false, // (L1)
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    connectTimeout: 3_000,
    socketTimeout: silenceMsMax, // (L4)
    retryStrategy: (times) => Math.min(reconnectMsFirst * 2 ** Math.min(times, 10), reconnectMsMax),
  });
  let isAway = false;
  const away = (reason: string): void => {
    if (!isAway) logger.warn('redis_away', { name, reason }); // (L2, L3)
    isAway = true;
  };
  client.on('error', (error: NodeJS.ErrnoException) => away(reasonOf(error, client.status === 'connect')));
  client.on('ready', () => {
    if (isAway) logger.info('redis_back', { name });
    isAway = false;
  });
  return {
    client,
    ask: async (question, otherwise) => {
      try {
        const from = performance.now();
        const answer = await question(client);
        times.record((performance.now() - from) / 1_000);
        return answer;
      } catch {
        return otherwise; // the outage is logged already
      }
    },
    close: async () => {
      client.disconnect();
    },
  };
}

const tlsSettings = {
  authority: 'DORMOUSE_REDIS_TLS_CA_FILE',
  certificate: 'DORMOUSE_REDIS_TLS_CERT_FILE and _KEY_FILE',
};

/** The reason, with what an operator can do about it. (L3) */
function reasonOf(error: NodeJS.ErrnoException, hasJustConnected: boolean): string {
  const certificate = certificateProblem(error, tlsSettings);
  if (certificate !== null) return `Redis (DORMOUSE_REDIS_URL): ${certificate}`;
  if (/^(WRONGPASS|NOAUTH|NOPERM)\b|^ERR .*AUTH/.test(error.message))
    return 'Redis refuses our credentials: see DORMOUSE_REDIS_URL.';
  // A server may close a connection that it refuses before the client has read the refusal.
  if (hasJustConnected && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
    return `Redis ends our connections at once (${error.code}): with TLS, see ${tlsSettings.certificate}.`;
  return error.code ?? error.name;
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
