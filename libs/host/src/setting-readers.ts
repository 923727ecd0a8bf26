// Which process reads which setting, in which unit, and which standard variables are honoured: for the reference.
//
// Invariants:
//   S1. Every setting has its readers here, or this file does not compile.
//   S2. A unit is the end of the setting's name: `_MS`, `_BYTES`, `_PER_S`. (STYLE 8)
import type { SettingName } from './config.ts';
import type { ServiceName } from './lifecycle/run-service.ts';

/** `setup` makes topics and indexes: `ingress-gateway setup`, which is `npm run setup`. */
export type SettingReader = ServiceName | 'standalone' | 'setup';

const services = ['ingress-gateway', 'callback-gateway', 'thread-processor', 'tool-dispatcher', 'notifier'] as const;
const everywhere = ['standalone', ...services] as const;
const cluster = [...services, 'setup'] as const;
/** The consumers of topics. */
const consumers = ['thread-processor', 'tool-dispatcher', 'notifier'] as const;
/** What a wrong address is refused by, also where it is not used. */
const checked = [...everywhere, 'setup'] as const;

/** (S1) */
export const settingReaders: Readonly<Record<SettingName, readonly SettingReader[]>> = {
  PORT: ['standalone', 'ingress-gateway', 'callback-gateway', 'tool-dispatcher'],
  HOST: everywhere,
  DATA_DIR: ['standalone'],
  BOOTSTRAP_KEY: ['standalone', 'ingress-gateway'],
  PLATFORM_KEY: ['standalone', 'ingress-gateway'],
  PUBLIC_URL: checked,
  ALLOWED_ORIGINS: ['standalone', 'ingress-gateway'],
  OIDC_ISSUER: ['standalone', 'ingress-gateway'],
  OIDC_AUDIENCE: ['standalone', 'ingress-gateway'],
  OIDC_TENANT_CLAIM: ['standalone', 'ingress-gateway'],
  OIDC_USER_CLAIM: ['standalone', 'ingress-gateway'],
  OIDC_SCOPES_CLAIM: ['standalone', 'ingress-gateway'],
  CALLBACK_BASE_URL: checked,
  PLAIN_HTTP_CALLBACKS: checked,
  OUTBOUND_ALLOW: everywhere,
  TOOL_ACK_TIMEOUT_MS: ['standalone', 'tool-dispatcher'],
  TOOL_RETRY_TOTAL_MS: ['standalone', 'tool-dispatcher'],
  TOOL_RETRY_FIRST_MS: ['standalone', 'tool-dispatcher'],
  UNKNOWN_OUTCOME_GRACE_MS: ['standalone', 'tool-dispatcher'],
  OAUTH_DEADLINE_MS: ['standalone', 'callback-gateway'],
  CHOICE_DEADLINE_MS: ['standalone', 'callback-gateway'],
  TRACE_TURN_MAX_MS: everywhere,
  TRACE_CONTENT: everywhere,
  TENANT_REQUESTS_PER_S: ['standalone', 'ingress-gateway'],
  TENANT_CALLBACKS_PER_S: ['standalone', 'callback-gateway'],
  MODEL_PRICES: ['standalone', 'thread-processor'],
  RETENTION_DAYS: ['standalone'],
  AUDIT_RETENTION_DAYS: ['standalone', 'ingress-gateway'],
  DATA_DIR_WARN_BYTES: ['standalone'],
  REQUEST_TIMEOUT_MS: everywhere,
  UNFINISHED_BODIES_MAX_BYTES: everywhere,
  UNFINISHED_REQUESTS_PER_PEER: everywhere,
  MODEL_START_TIMEOUT_MS: ['standalone', 'thread-processor'],
  MODEL_STALL_TIMEOUT_MS: ['standalone', 'thread-processor'],
  MODEL_RETRY_TOTAL_MS: ['standalone', 'thread-processor'],
  KAFKA_BROKERS: cluster,
  KAFKA_PREFIX: cluster,
  KAFKA_PARTITIONS: ['setup'],
  KAFKA_REPLICATION: ['setup'],
  KAFKA_TLS: cluster,
  KAFKA_TLS_CA_FILE: cluster,
  KAFKA_TLS_CERT_FILE: cluster,
  KAFKA_TLS_KEY_FILE: cluster,
  KAFKA_SASL: cluster,
  KAFKA_SESSION_TIMEOUT_MS: consumers,
  MONGO_URL: cluster,
  MONGO_DATABASE: cluster,
  REDIS_URL: cluster,
  REDIS_TLS_CA_FILE: services,
  REDIS_TLS_CERT_FILE: services,
  REDIS_TLS_KEY_FILE: services,
  MASTER_KEY: cluster,
  HEALTH_PORT: everywhere,
  METRICS: everywhere,
  METRICS_OLD_GENAI: everywhere,
  LOG_LEVEL: [...everywhere, 'setup'],
  EXAMPLE_TOOLS: ['standalone'],
};

/** In words; null for what is no amount. (S2) */
export function unitOf(name: SettingName): string | null {
  if (name.endsWith('_MS')) return 'milliseconds';
  if (name.endsWith('_BYTES')) return 'bytes';
  return name.endsWith('_PER_S') ? 'per second' : null;
}

export interface HonouredVariable {
  readonly name: string;
  readonly standard: string | null;
  readonly unit: string | null;
  readonly about: string;
  readonly readers: readonly SettingReader[];
}

const ofTelemetry = (name: string, about: string, standard: string | null = null, unit: string | null = null) => ({
  ...{ name, about, standard, unit },
  readers: everywhere,
});

const ofProvider = (name: string, about: string) => ({
  ...{ name, about, standard: null, unit: null },
  readers: ['standalone'] as const,
});

/** Variables of others that the code names. OpenTelemetry's SDK reads the rest of its own. */
export const honouredVariables: readonly HonouredVariable[] = [
  ofTelemetry(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'where spans and metrics go; with it, or with one of the two below, they are sent',
  ),
  ofTelemetry('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'where spans go, if not there'),
  ofTelemetry('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'where metrics go, if not there'),
  ofTelemetry('OTEL_EXPORTER_OTLP_PROTOCOL', '`http/protobuf`, `http/json` or `grpc`', 'http/protobuf'),
  ofTelemetry('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'the same for spans alone'),
  ofTelemetry('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'the same for metrics alone'),
  ofTelemetry('OTEL_TRACES_EXPORTER', '`none` sends no spans', 'otlp'),
  ofTelemetry('OTEL_METRICS_EXPORTER', '`otlp` pushes metrics also without an endpoint; `none` pushes none'),
  ofTelemetry('OTEL_METRIC_EXPORT_INTERVAL', 'how often metrics are pushed', '60000', 'milliseconds'),
  ofTelemetry('OTEL_METRIC_EXPORT_TIMEOUT', 'how long a push may take', '30000', 'milliseconds'),
  ofTelemetry('OTEL_BSP_MAX_QUEUE_SIZE', 'spans that wait for the collector; more are dropped and counted', '2048'),
  ofTelemetry('OTEL_BSP_SCHEDULE_DELAY', 'how long a span waits for others at most', '5000', 'milliseconds'),
  ofTelemetry('OTEL_BSP_EXPORT_TIMEOUT', 'how long an export may take', '30000', 'milliseconds'),
  ofTelemetry('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 'spans of one export at most', '512'),
  ofTelemetry('OTEL_SERVICE_NAME', 'default `dormouse-standalone`, and `dormouse-<service>` in a cluster; of spans'),
  ofTelemetry('OTEL_RESOURCE_ATTRIBUTES', 'sent with every span'),
  ofTelemetry('OTEL_SDK_DISABLED', '`true` sends neither spans nor metrics', 'false'),
  ofProvider('OPENAI_API_KEY', 'key of OpenAI, for agents that name no secret where no secret is named `openai`'),
  ofProvider('OPENAI_BASE_URL', 'address to use instead of OpenAI’s own'),
  ofProvider('ANTHROPIC_API_KEY', 'key of Anthropic, for agents that name no secret where none is named `anthropic`'),
  ofProvider('ANTHROPIC_BASE_URL', 'address to use instead of Anthropic’s own'),
];
