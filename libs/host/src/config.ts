// Every setting: one schema, all problems reported at once, `--help` generated from it. The only file that reads the
// environment.
//
// Invariants:
//   C1. A flag of the same name in kebab-case wins over its variable: `--port` over `DORMOUSE_PORT`.
//   C2. A variable that begins with DORMOUSE_ and is not a setting is a problem: a misspelt one is never ignored.
//   C3. No value is repeated in a message; some are secrets.
//   C4. A setting that is a secret may be given as a file instead. (secret-files.ts)
import { parseOutboundAllow, vaultKeyPattern } from '@dormouse/adapter-http';
import type { HostedSettings, ProviderEnvironment } from '@dormouse/adapter-model';
import { mongoUrlProblem } from '@dormouse/adapter-mongo';
import { redisUrlProblem } from '@dormouse/adapter-redis';
import type { MetricsPush, OtlpProtocol } from '@dormouse/adapter-telemetry';
import { parseModelPrices, threadTokenPrefix } from '@dormouse/runtime';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseAllowedOrigins } from './http/door/allowed-origins.ts';
import { masterKeysProblem, readMasterKeys } from './platform/key-ring.ts';
import { secretFileSettings, secretSettings, type SecretsRead, withSecretFiles } from './secret-files.ts';
import { authoritiesFile, certificateFile, privateKeyFile, type TlsFiles, tlsFilesProblems } from './tls-files.ts';

const number = (form: RegExp, message: string) => z.string().regex(form, message).transform(Number);

const numberOr = (standard: number, given: z.ZodType<number, string>) =>
  z.string().default(String(standard)).pipe(given);

const wholeNumber = number(/^\d{1,6}$/, 'must be a whole number').optional();

const milliseconds = (standard: number) =>
  numberOr(standard, number(/^\d{1,12}$/, 'must be a whole number of milliseconds'));

const port = number(/^\d{1,5}$/, 'must be a port').pipe(z.int().max(65_535));

const isHttp = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

const url = z
  .string()
  .refine(isHttp, 'must be an absolute http or https URL')
  .transform((text) => text.replace(/\/+$/, ''))
  .optional();

const days = number(/^[1-9]\d{0,4}$/, 'must be a whole number of days above 0')
  .pipe(z.int().max(36_500, 'must be at most 36500'))
  .optional();

const countAboveZero = number(/^[1-9]\d{0,4}$/, 'must be a whole number above 0');

const flag = (standard: boolean) =>
  z
    .enum(['true', 'false'])
    .default(standard ? 'true' : 'false')
    .transform((text) => text === 'true');

const judged = (problemOf: (text: string) => string | null, text: z.ZodString = z.string()) =>
  text
    .superRefine((given, context) => {
      const problem = problemOf(given);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .optional();

const address = (form: RegExp, message: string, problemOf: (text: string) => string | null = () => null) =>
  judged(problemOf, z.string().regex(form, { message, abort: true }));

const key = z.string().min(8, 'must have at least 8 characters').optional();

/** Kept as it is written: tokens name it to the last character. */
const issuer = judged((text) =>
  isHttp(text) && !/[?#@]/.test(text) ? null : 'must be an absolute http or https URL without query',
);

/** Keys in the clear come from there: off this machine they are encrypted. */
function vaultUrlProblem(text: string): string | null {
  if (!isHttp(text) || /[?#@]/.test(text)) return 'must be an absolute https URL without user and query';
  if (text.endsWith('/')) return 'must not end with a slash';
  return isPlainElsewhere(new URL(text)) ? 'must be https: on another machine' : null;
}

const list = (problemsOf: (text: string) => readonly string[]) =>
  z
    .string()
    .default('')
    .superRefine((text, context) => {
      for (const message of problemsOf(text)) context.addIssue({ code: 'custom', message });
    });

const claim = (standard: string) => z.string().min(1).default(standard);

const settingsSchema = z.object({
  PORT: numberOr(7420, port).describe('port of the client API and, standalone, of callbacks; 0 for any free one'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./.dormouse')
    .describe('data directory; the development key is the file `key` in it (flag: --data)'),
  BOOTSTRAP_KEY: key.describe('an API key with every scope, made at start, for containers'),
  PLATFORM_KEY: key.describe('the key that manages tenants, and nothing else; unset: none are managed'),
  PUBLIC_URL: url.describe('address that clients use; its host is accepted in Host and Origin'),
  ALLOWED_ORIGINS: list((text) => parseAllowedOrigins(text).problems).describe(
    'pages of other origins that may use the API: comma-separated, https://app.example.com or https://*.example.com',
  ),
  OIDC_ISSUER: issuer.describe(
    'an identity provider whose access tokens are good here, as its discovery document and its tokens name it; unset: none are',
  ),
  OIDC_AUDIENCE: z.string().min(1).optional().describe('the `aud` of tokens that are meant for this API'),
  OIDC_TENANT_CLAIM: claim('tenant').describe('claim that has the id of the tenant'),
  OIDC_USER_CLAIM: claim('sub').describe('claim that has the id of the end user'),
  OIDC_SCOPES_CLAIM: claim('scope').describe(
    'claim that has the scopes, as a text with spaces or a list; names that are no scopes grant nothing',
  ),
  CALLBACK_BASE_URL: url.describe(
    'address that tool servers use; keep it stable, callback URLs live long. Default: PUBLIC_URL, else where it listens',
  ),
  PLAIN_HTTP_CALLBACKS: flag(false).describe(
    'callback URLs may be plain http: on hosts other than this one, because the network is private',
  ),
  OUTBOUND_ALLOW: list((text) => parseOutboundAllow(text).problems).describe(
    'private or plain-http destinations: comma-separated [http://](host-suffix | CIDR)[:port]; standalone adds loopback',
  ),
  TOOL_ACK_TIMEOUT_MS: milliseconds(10_000).describe('how long a tool server may take to acknowledge a call'),
  TOOL_RETRY_TOTAL_MS: milliseconds(600_000).describe('how long a call is tried again'),
  TOOL_RETRY_FIRST_MS: milliseconds(1_000).describe('delay before the first retry; it doubles'),
  UNKNOWN_OUTCOME_GRACE_MS: milliseconds(30_000).describe('how long a result may still win over "outcome unknown"'),
  OAUTH_DEADLINE_MS: milliseconds(86_400_000).describe('how long a call may wait for a login'),
  CHOICE_DEADLINE_MS: milliseconds(3_600_000).describe('how long a tool’s question may wait for its answer'),
  TRACE_TURN_MAX_MS: milliseconds(3_600_000).describe(
    'how long what follows in a turn goes on in the trace of its request',
  ),
  TRACE_CONTENT: flag(false).describe('whether spans have what users, models and tools said'),
  TENANT_REQUESTS_PER_S: wholeNumber.describe(
    'requests of one tenant per second, twice that at once; 0 for no limit (default: 1000 in a cluster, else 0)',
  ),
  TENANT_CALLBACKS_PER_S: wholeNumber.describe('the same for callbacks, which are then answered 503'),
  MODEL_PRICES: judged((text) =>
    parseModelPrices(text) === null ? 'must be MODEL=INPUT:OUTPUT, separated by commas' : null,
  ).describe(
    'what a million tokens of a model cost, in millionths of a unit of money: `MODEL=INPUT:OUTPUT`, separated by commas; for the quota `cost_micros_per_day_max`',
  ),
  RETENTION_DAYS: days.describe(
    'standalone: days that a thread at rest is kept, with its family, where its tenant has no `retention_days` (default: for ever)',
  ),
  AUDIT_RETENTION_DAYS: days.describe('days that rows of the audit are kept (default: for ever)'),
  DATA_DIR_WARN_BYTES: number(/^[1-9]\d{0,14}$/, 'must be a whole number of bytes above 0')
    .optional()
    .describe(
      'standalone: above this many bytes in use the data directory is reported, in the log, in /metrics and by `dormouse doctor` (default: never)',
    ),
  REQUEST_TIMEOUT_MS: milliseconds(60_000).describe(
    'how long head and body of a request may take to come; answers and streams may take longer',
  ),
  UNFINISHED_BODIES_MAX_BYTES: numberOr(
    67_108_864,
    number(/^[1-9]\d{0,11}$/, 'must be a whole number of bytes above 0'),
  ).describe('room of bodies that are not whole yet; the one that has been coming longest gives way with 503'),
  UNFINISHED_REQUESTS_PER_PEER: wholeNumber.describe(
    'requests of one address that may be unfinished for more than a second; 0 for no limit (default: 256; 0 where the address that clients use is https:, because a proxy stands there)',
  ),
  MODEL_START_TIMEOUT_MS: milliseconds(60_000).describe('how long a model may take to begin its answer'),
  MODEL_STALL_TIMEOUT_MS: milliseconds(120_000).describe('how long a model may be silent inside its answer'),
  MODEL_RETRY_TOTAL_MS: milliseconds(600_000).describe('how long a failing model is asked again'),
  KAFKA_BROKERS: address(
    /^\s*[^\s,:/]+:\d{1,5}\s*(,\s*[^\s,:/]+:\d{1,5}\s*)*$/,
    'must be host:port, or several after commas',
  ).describe('cluster: comma-separated host:port; with MONGO_URL and REDIS_URL it chooses the cluster'),
  KAFKA_PREFIX: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be letters, digits, dots, dashes or underscores')
    .default('rap.')
    .describe('cluster: prefix of topics and groups; one installation, one prefix'),
  KAFKA_PARTITIONS: numberOr(12, countAboveZero).describe('cluster: partitions of the topics, chosen once by `setup`'),
  KAFKA_REPLICATION: countAboveZero // a default inside `optional` would count
    .optional()
    .describe('cluster: copies of the topics, for `setup` (default: one per broker, 3 at most)'),
  KAFKA_TLS: flag(false).describe('cluster: TLS to the brokers'),
  KAFKA_TLS_CA_FILE: authoritiesFile.describe(
    'cluster: certificates of the authorities that sign the brokers’, if not public ones',
  ),
  KAFKA_TLS_CERT_FILE: certificateFile.describe('cluster: our certificate, where brokers want one'),
  KAFKA_TLS_KEY_FILE: privateKeyFile.describe('cluster: the private key of that certificate'),
  KAFKA_SASL: z
    .string()
    .regex(/^(plain|scram-sha-256|scram-sha-512):[^:]+:.+$/, 'must be plain|scram-sha-256|scram-sha-512:user:password')
    .optional()
    .describe('cluster: mechanism:user:password'),
  KAFKA_SESSION_TIMEOUT_MS: milliseconds(8_000).describe(
    'cluster: after this long a silent process loses its partitions',
  ),
  MONGO_URL: address(
    /^mongodb(\+srv)?:\/\/[^/]/,
    'must be a mongodb:// or mongodb+srv:// URL',
    mongoUrlProblem,
  ).describe('cluster: MongoDB; the path names the database, the query has the rest (tls, tlsCAFile, …)'),
  MONGO_DATABASE: z
    .string()
    .regex(/^[\w-]{1,63}$/, 'must be letters, digits, dashes or underscores, at most 63')
    .optional()
    .describe('cluster: the database, whatever the path of MONGO_URL names (default: that, else dormouse)'),
  REDIS_URL: judged(redisUrlProblem).describe(
    'cluster: Redis, which may be away at any time: redis://host:6379, redis+sentinel://host:26379,host/MASTER or redis+cluster://host,host; rediss… for TLS',
  ),
  REDIS_TLS_CA_FILE: authoritiesFile.describe(
    'cluster: certificates of the authorities that sign Redis’, if not public ones',
  ),
  REDIS_TLS_CERT_FILE: certificateFile.describe('cluster: our certificate, where Redis wants one'),
  REDIS_TLS_KEY_FILE: privateKeyFile.describe('cluster: the private key of that certificate'),
  MASTER_KEY: judged(masterKeysProblem).describe(
    'cluster: the same in every process, kept for ever; make one with: openssl rand -hex 32, or have one wrapped by Vault (vault:v1:…). While it is rotated several, with commas between them, each but the oldest with the time from which it is used: KEY@2026-01-31T12:00:00Z',
  ),
  MASTER_KEY_HELD_MS: milliseconds(86_400_000).describe(
    'how long a process uses master keys since a key management has last unwrapped them; then it ends',
  ),
  VAULT_URL: judged(vaultUrlProblem).describe(
    'Vault or OpenBao, whose transit engine unwraps master keys: https://vault.example.com:8200',
  ),
  VAULT_KEY: z
    .string()
    .regex(vaultKeyPattern, 'must be MOUNT/NAME')
    .default('transit/dormouse')
    .describe('the key there that wraps them, as MOUNT/NAME'),
  VAULT_TOKEN_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'a file with the token for it, read anew for each request; its policy allows encrypt and decrypt with that key',
    ),
  VAULT_CA_FILE: authoritiesFile.describe('certificates of the authorities that sign Vault’s, if not public ones'),
  HEALTH_PORT: port
    .optional()
    .describe(
      'operations port: /metrics, /healthz and /readyz of this process (default: 7429 in a cluster; standalone none: they are on the API port, /metrics with a key of scope tenant:admin)',
    ),
  METRICS: flag(true).describe('measure, and export metrics'),
  METRICS_OLD_GENAI: flag(true).describe(
    'export tokens also as gen_ai.client.token.usage, the name of older conventions',
  ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('warn')
    .describe('how much is logged, as JSON lines on stderr'),
  EXAMPLE_TOOLS: flag(true).describe('standalone: start the example tool server (flag: --no-example-tools)'),
});

export type Config = Readonly<z.output<typeof settingsSchema>>;

/** The settings of one process of a cluster. */
export interface ClusterConfig extends Config {
  readonly KAFKA_BROKERS: string;
  readonly MONGO_URL: string;
  readonly REDIS_URL: string;
  readonly MASTER_KEY: string;
}

/** Where HEALTH_PORT is not set. */
export const clusterHealthPort = 7_429;

const clusterSettings = ['KAFKA_BROKERS', 'MONGO_URL', 'REDIS_URL', 'MASTER_KEY'] as const;

/** All four select the cluster, none of them standalone. */
export function isCluster(config: Config): config is ClusterConfig {
  return clusterSettings.every((name) => config[name] !== undefined);
}

function topologyProblems(config: Config): readonly string[] {
  const missing = clusterSettings.filter((name) => config[name] === undefined);
  if (missing.length === 0 || missing.length === clusterSettings.length) return [];
  return missing.map((name) => `${prefix}${name}: the cluster needs it too; standalone needs none of them`);
}

/** A cluster has a platform key: each tenant has days of its own. */
const standaloneProblems = (config: Config): readonly string[] =>
  isCluster(config) && config.RETENTION_DAYS !== undefined
    ? [
        `${prefix}RETENTION_DAYS: is for one process; in a cluster set the tenant's: dormouse tenants set ID --retention-days N`,
      ]
    : [];

function issuerProblems({ OIDC_ISSUER: named, OIDC_AUDIENCE: audience }: Config): readonly string[] {
  if (named !== undefined && audience === undefined)
    return [
      `${prefix}OIDC_AUDIENCE: is needed with ${prefix}OIDC_ISSUER: tokens for other programs must not be good here`,
    ];
  if (named === undefined && audience !== undefined)
    return [`${prefix}OIDC_ISSUER: is needed with ${prefix}OIDC_AUDIENCE`];
  return [];
}

function keyProblems(config: Config): readonly string[] {
  const { VAULT_URL: url, VAULT_TOKEN_FILE: tokenFile, VAULT_CA_FILE: authorities, MASTER_KEY: keys = '' } = config;
  const read = readMasterKeys(keys);
  if (url !== undefined && tokenFile === undefined)
    return [`${prefix}VAULT_TOKEN_FILE: is needed with ${prefix}VAULT_URL`];
  if (url !== undefined) return [];
  const alone = (name: string): string => `${name}: is of no use without ${prefix}VAULT_URL`;
  return [
    ...(tokenFile === undefined ? [] : [alone(`${prefix}VAULT_TOKEN_FILE`)]),
    ...(authorities === undefined ? [] : [alone(`${prefix}VAULT_CA_FILE`)]),
    ...(typeof read !== 'string' && read.some(({ isWrapped }) => isWrapped)
      ? [`${prefix}MASTER_KEY: has a wrapped key, which needs ${prefix}VAULT_URL and ${prefix}VAULT_TOKEN_FILE`]
      : []),
  ];
}

/** A key that is read as another credential opens nothing. (caller K2, K8) */
function clientKeyProblems({ PLATFORM_KEY: platform, BOOTSTRAP_KEY: bootstrap }: Config): readonly string[] {
  const given = Object.entries({ PLATFORM_KEY: platform, BOOTSTRAP_KEY: bootstrap });
  const asToken = given.filter(([, value]) => value?.startsWith(threadTokenPrefix) === true);
  const isSame = platform !== undefined && platform === bootstrap;
  return [
    ...asToken.map(
      ([name]) => `${prefix}${name}: must not begin with ${threadTokenPrefix}: it would be read as a token`,
    ),
    ...(isSame ? [`${prefix}PLATFORM_KEY: must be another key than ${prefix}BOOTSTRAP_KEY`] : []),
  ];
}

/** Files that must be set together, for servers whose URL cannot name them. */
export function tlsFilesOf(config: Config, server: 'KAFKA' | 'REDIS'): TlsFiles {
  return {
    authorities: config[`${server}_TLS_CA_FILE`],
    certificate: config[`${server}_TLS_CERT_FILE`],
    key: config[`${server}_TLS_KEY_FILE`],
  };
}

function tlsProblems(config: Config): readonly string[] {
  const isRedisOn = config.REDIS_URL?.startsWith('rediss') === true;
  return [
    ...tlsFilesProblems(`${prefix}KAFKA_TLS`, tlsFilesOf(config, 'KAFKA'), config.KAFKA_TLS, `${prefix}KAFKA_TLS=true`),
    ...tlsFilesProblems(`${prefix}REDIS_TLS`, tlsFilesOf(config, 'REDIS'), isRedisOn, `${prefix}REDIS_URL=rediss://…`),
  ];
}

/** R41: callback URLs carry tokens: off this machine they are encrypted, unless a setting calls the network private. */
function callbackProblems(config: Config): readonly string[] {
  const name = config.CALLBACK_BASE_URL === undefined ? 'PUBLIC_URL' : 'CALLBACK_BASE_URL';
  const address = config[name];
  if (address === undefined || config.PLAIN_HTTP_CALLBACKS || !isPlainElsewhere(new URL(address))) return [];
  return [
    `${prefix}${name}: callbacks would travel unencrypted; use https:, or set ${prefix}PLAIN_HTTP_CALLBACKS=true on a private network`,
  ];
}

const isPlainElsewhere = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\]|.*\.localhost)$/.test(hostname);

export type ConfigReading =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] }
  | { readonly ok: 'help'; readonly text: string };

const prefix = 'DORMOUSE_';
const settingNames = Object.keys(settingsSchema.shape) as SettingName[];

/** Flags that are not the name of a setting. */
const flagAliases: Readonly<Record<string, string>> = { data: 'DATA_DIR' };
/** Those of the schema, and the files of secrets. (C4) */
const givenNames = [...settingNames, ...secretFileSettings];
const flagNames = [...Object.keys(flagAliases), ...givenNames.map((name) => name.toLowerCase().replaceAll('_', '-'))];

/** What is wrong with settings that are each right. */
const combinedProblems = [
  ...[topologyProblems, standaloneProblems, callbackProblems, tlsProblems],
  ...[issuerProblems, keyProblems, clientKeyProblems],
];

/** The settings from the command line and the environment, or every problem found in them. */
export function readConfig(
  args: readonly string[] = process.argv.slice(2),
  environment: NodeJS.ProcessEnv = process.env,
): ConfigReading {
  if (args.includes('--help') || args.includes('-h')) return { ok: 'help', text: helpText() };
  const flags = readFlags(args);
  const own = withSecretFiles(flags.values, flagOf); // (C4)
  const around = withoutOverruled(fromEnvironment(environment), own);
  const inherited = withSecretFiles(around, (name) => prefix + name);
  const parsed = settingsSchema.safeParse({ ...inherited.values, ...own.values }); // (C1)
  const problems = [...flags.problems, ...own.problems, ...inherited.problems, ...unknownVariables(environment)];
  if (parsed.success) problems.push(...combinedProblems.flatMap((problemsOf) => problemsOf(parsed.data)));
  else
    problems.push(
      ...parsed.error.issues.map((issue) => `${nameOf(String(issue.path[0] ?? ''), own, inherited)}: ${issue.message}`),
    );
  return parsed.success && problems.length === 0 ? { ok: true, config: parsed.data } : { ok: false, problems };
}

/** A secret of the command line wins over its variable, whichever of the two names a file. (C1) */
function withoutOverruled(around: Readonly<Record<string, string>>, own: SecretsRead): Record<string, string> {
  const isOverruled = (name: string): boolean => name in own.values || name in own.fileOf;
  const overruled = secretSettings.filter(isOverruled).flatMap((name) => [name, `${name}_FILE`]);
  return Object.fromEntries(Object.entries(around).filter(([name]) => !overruled.includes(name)));
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const entries = givenNames.map((name) => [name, environment[prefix + name]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is readonly [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}

const otlpProtocols: readonly OtlpProtocol[] = ['http/protobuf', 'http/json', 'grpc'];

/**
 * Whether and how metrics are pushed, by OpenTelemetry's own variables: with an endpoint, or when an exporter is named.
 * The exporter reads the endpoint and everything else itself.
 */
export function metricsPushOf(environment: NodeJS.ProcessEnv = process.env): MetricsPush | null {
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const endpoint = read('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT') ?? read('OTEL_EXPORTER_OTLP_ENDPOINT');
  const wanted = read('OTEL_METRICS_EXPORTER') ?? (endpoint === undefined ? 'none' : 'otlp');
  const exporters = wanted.split(',').map((each) => each.trim());
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || !exporters.includes('otlp')) return null;
  const named = read('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL') ?? read('OTEL_EXPORTER_OTLP_PROTOCOL');
  return {
    protocol: otlpProtocols.find((protocol) => protocol === named) ?? 'http/protobuf',
    everyMs: Number(read('OTEL_METRIC_EXPORT_INTERVAL')) || 60_000,
    timeoutMs: Number(read('OTEL_METRIC_EXPORT_TIMEOUT')) || 30_000,
  };
}

/** Variables of the CLI and of tests that share the prefix. */
const foreignVariables = new Set(['DORMOUSE_URL', 'DORMOUSE_KEY', 'DORMOUSE_PROFILE']);

function unknownVariables(environment: NodeJS.ProcessEnv): readonly string[] {
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith(prefix) && !givenNames.includes(name.slice(prefix.length)),
  );
  return unknown
    .filter((name) => !foreignVariables.has(name) && !name.startsWith('DORMOUSE_TEST_'))
    .map((name) => `${name}: there is no such setting`); // (C2)
}

function readFlags(args: readonly string[]): { readonly values: Record<string, string>; readonly problems: string[] } {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  const options = Object.fromEntries(flagNames.map((name) => [name, { type: 'string' } as const]));
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    const flag = token.kind === 'option' ? token.rawName : token.kind === 'positional' ? token.value : '--';
    const setting = token.kind === 'option' ? settingOf(token.rawName) : null;
    if (flag === '--no-example-tools') values['EXAMPLE_TOOLS'] = 'false';
    else if (setting === null) problems.push(`${flag}: there is no such flag; see --help`);
    else if (token.kind !== 'option' || token.value === undefined) problems.push(`${flag}: needs a value`);
    else values[setting] = token.value;
  }
  return { values, problems };
}

function settingOf(flag: string): string | null {
  const bare = flag.slice(2);
  return flagNames.includes(bare) ? (flagAliases[bare] ?? bare.replaceAll('-', '_').toUpperCase()) : null;
}

/** The name as the user wrote it: a flag when it was given as one, that of its file when it was read from one. */
function nameOf(name: string, flags: SecretsRead, variables: SecretsRead): string {
  if (name in flags.values) return flagOf(flags.fileOf[name] ?? name);
  return prefix + (variables.fileOf[name] ?? name);
}

const flagOf = (name: string): string => `--${name.toLowerCase().replaceAll('_', '-')}`;

/** How the description of a setting begins that one process alone does not use. */
const ofCluster = 'cluster: ';

export type SettingName = keyof typeof settingsSchema.shape;

export interface DescribedSetting {
  readonly name: SettingName;
  readonly variable: string;
  readonly flag: string;
  /** Null where nothing is set by default, or an empty text. */
  readonly standard: string | null;
  readonly about: string;
  /** One process alone does not use it. */
  readonly isOfCluster: boolean;
}

/** Every setting, in the order of the schema. */
export function describedSettings(): readonly DescribedSetting[] {
  return settingNames.map((name) => {
    const schema = settingsSchema.shape[name];
    const standard = schema.safeParse(undefined);
    const hasStandard = standard.success && standard.data !== undefined && standard.data !== '';
    const about = schema.meta()?.description ?? '';
    const isOfCluster = about.startsWith(ofCluster);
    return {
      ...{ name, isOfCluster, variable: prefix + name, flag: flagOf(name) },
      standard: hasStandard ? String(standard.data) : null,
      about: isOfCluster ? about.slice(ofCluster.length) : about,
    };
  });
}

function helpText(): string {
  const textOf = ({ variable, flag, standard, about }: DescribedSetting): string =>
    `  ${variable}, ${flag}${standard === null ? '' : ` [${standard}]`}\n      ${about}`;
  const textsOf = (isOfCluster: boolean): string =>
    describedSettings()
      .filter((setting) => setting.isOfCluster === isOfCluster)
      .map(textOf)
      .join('\n');
  return `Settings: an environment variable, or a flag, which wins.

${textsOf(false)}

Of a cluster only (one service per process; see README.md):

${textsOf(true)}

A secret may be in a file that DORMOUSE_<NAME>_FILE names, such as DORMOUSE_MASTER_KEY_FILE:
  ${secretSettings.join(', ')}.

Standard variables are read too: OTEL_…; in one process OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL.
`;
}

/** Variables that are not Dormouse's: OpenTelemetry's SDK documents and reads its own. */
export const standardVariables = (): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_')));

const providerVariables = (provider: string): HostedSettings => {
  const read = (name: string): string | null => process.env[`${provider}_${name}`]?.trim() || null;
  return { key: read('API_KEY'), baseUrl: read('BASE_URL') };
};

/** Keys and addresses of hosted models, by the variables that their providers document. Standalone only. */
export const providerEnvironment = (): ProviderEnvironment => ({
  openai: providerVariables('OPENAI'),
  anthropic: providerVariables('ANTHROPIC'),
});
