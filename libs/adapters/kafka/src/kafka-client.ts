// The client of kafkajs with the settings this adapter needs, and what its errors mean.
import { certificateProblem, Fault, type Logger, networkErrorCode } from '@dormouse/ports';
import { Kafka, type KafkaConfig, type LogEntry, logLevel, type SASLOptions } from 'kafkajs';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

export interface ClientOptions {
  /** `host:port` of at least one broker. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: ConnectionOptions | undefined;
  readonly sasl?: SASLOptions | undefined;
  readonly logger: Logger;
}

/** kafkajs doubles the time between two tries: a moved leader is found after milliseconds, an ended one within 3 s. */
export const soonAgain = { initialRetryTime: 25, maxRetryTime: 250, retries: 16 };

export function createClient(options: ClientOptions): Kafka {
  const { brokers, clientId, ssl, sasl, logger } = options;
  const config: KafkaConfig = {
    brokers: [...brokers],
    clientId,
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: soonAgain,
    socketFactory: undelayedSocket,
    logLevel: logLevel.ERROR,
    logCreator: () => saidOnce(logger),
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
  };
  return new Kafka(config);
}

const repeatedAfterMs = 60_000;

/** Every client that retries logs the same entry again: once a minute is enough. */
function saidOnce(logger: Logger): (entry: LogEntry) => void {
  const saidAt = new Map<string, number>();
  return ({ namespace, log: { message, error } }) => {
    const line = { namespace, message, error: String(error ?? '') };
    const [name, now] = [`${namespace} ${message}`, performance.now()];
    if (now - (saidAt.get(name) ?? -repeatedAfterMs) < repeatedAfterMs) return;
    for (const [known, at] of saidAt) if (now - at >= repeatedAfterMs) saidAt.delete(known);
    saidAt.set(name, now);
    logger.warn('kafka_client', line);
  };
}

/** A request of a few bytes is sent without delay. */
const undelayedSocket: NonNullable<KafkaConfig['socketFactory']> = ({ host, port, ssl, onConnect }): Socket => {
  const socket =
    ssl instanceof Object
      ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
      : connect({ host, port }, onConnect);
  socket.setKeepAlive(true, 60_000);
  socket.setNoDelay(true);
  return socket;
};

const retryAfterMs = 1_000;

export function unavailable(why: string, cause?: unknown): Fault {
  return new Fault('UNAVAILABLE', why, { retryAfterMs, cause });
}

const tlsSettings = {
  authority: 'DORMOUSE_KAFKA_TLS_CA_FILE',
  certificate: 'DORMOUSE_KAFKA_TLS_CERT_FILE and _KEY_FILE',
};

/** The fault of a broker's error; its text says what an operator can do. */
export function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const { type, name, message } = error as {
    readonly type?: string;
    readonly name?: string;
    readonly message?: string;
  };
  const certificate = certificateProblem(error, tlsSettings);
  if (certificate !== null) return unavailable(`Kafka (DORMOUSE_KAFKA_BROKERS, _TLS): ${certificate}`, error);
  const unreachable = networkErrorCode(error);
  if (unreachable !== null) return unavailable(`No Kafka answers at DORMOUSE_KAFKA_BROKERS (${unreachable}).`, error);
  if (type === 'SASL_AUTHENTICATION_FAILED' || name === 'KafkaJSSASLAuthenticationError')
    return unavailable('Kafka refuses our credentials: see DORMOUSE_KAFKA_SASL.', error);
  if (type === 'TOPIC_AUTHORIZATION_FAILED' || type === 'GROUP_AUTHORIZATION_FAILED')
    return unavailable('Kafka does not let us use a topic or group of our prefix: see its ACLs.', error);
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION')
    return unavailable('A topic is missing. Make the topics with: npm run setup', error);
  return unavailable(
    `Kafka does not answer as it should (${type ?? name ?? 'error'}: ${message ?? ''}). See DORMOUSE_KAFKA_BROKERS and DORMOUSE_KAFKA_TLS and, where they want a certificate of ours, ${tlsSettings.certificate}; and whether what is sent there is dropped, as a firewall or a NetworkPolicy does.`,
    error,
  );
}
