// What `--observability` adds to a cluster: a trace store before the services start, and a Prometheus after them.
//
// Invariants:
//   B1. Prometheus scrapes the five services and loads the rules of deploy/observability.
//   B2. No trace store is started where OpenTelemetry's variables in this shell say where spans go, or that there are
//       none.
//   B3. On a machine that cannot have a trace store the cluster starts without one, and the banner gives the reason.
import { join } from 'node:path';
import { type JaegerPorts, startJaeger, type TraceStore } from '../../test/services/jaeger/jaeger.ts';
import { startPrometheus } from '../../test/services/prometheus.ts';
import type { RunningService } from '../../test/services/service.ts';
import { serviceCache } from '../../test/services/service-cache.ts';

interface Place {
  /** Of the cluster; each server has a folder in it. */
  readonly directory: string;
  readonly say: (line: string) => void;
}

export interface Traces {
  /** Null where none was started here. */
  readonly store: TraceStore | null;
  /** Of the services: where their spans go. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where a turn can be seen, for people. */
  readonly lines: readonly string[];
}

const root = join(import.meta.dirname, '..', '..');
const scrapeSeconds = 5;
const spansEveryMs = '1000';
/** What `npm run observe` takes for the trace store's. */
const usualQueryPort = 7_427;

export async function startTraces({ directory, say }: Place, ports: JaegerPorts): Promise<Traces> {
  const chosen = chosenInShell(process.env); // (B2)
  if (chosen !== null) return { store: null, environment: {}, lines: [`  traces  ${chosen}`] };
  say('starting a trace store');
  const started = await startJaeger({ directory: join(directory, 'traces'), cache: serviceCache, say, ports });
  if (!started.available) {
    const reason = (started.reason.split('\n')[0] ?? '').slice(0, 200);
    return { store: null, environment: {}, lines: [`  traces  nowhere: ${reason}`, `          ${started.remedy}`] }; // (B3)
  }
  const { service: store } = started;
  return {
    store,
    environment: {
      // Of traces alone: it takes no metrics.
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${store.otlp}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_BSP_SCHEDULE_DELAY: process.env['OTEL_BSP_SCHEDULE_DELAY'] ?? spansEveryMs,
    },
    lines: [
      `  traces  ${store.url}   (the query API of Jaeger; spans come in at ${store.otlp})`,
      `          a turn: npm run observe -- trace THREAD${ports.query === usualQueryPort ? '' : ` --url ${store.url}`}`,
    ],
  };
}

function chosenInShell(env: NodeJS.ProcessEnv): string | null {
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (isOff) return 'off, as OpenTelemetry’s variables in this shell say';
  const endpoints = [env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'], env['OTEL_EXPORTER_OTLP_ENDPOINT']];
  const endpoint = endpoints.find((each) => each !== undefined && each !== '');
  return endpoint === undefined ? null : `${endpoint}   (as OpenTelemetry’s variables in this shell say)`;
}

/** @throws Error with a remedy where there is no Prometheus. (B1) */
export async function startMetrics(
  { directory, say }: Place,
  targets: Readonly<Record<string, readonly string[]>>,
  port: number,
): Promise<RunningService> {
  say('starting Prometheus');
  const started = await startPrometheus({
    directory: join(directory, 'prometheus'),
    cache: serviceCache,
    say,
    targets,
    rules: join(root, 'deploy', 'observability', 'rules', 'dormouse.yml'),
    port,
    intervalSeconds: scrapeSeconds,
  });
  if (!started.available) throw new Error(`${started.reason}\n${started.remedy}`);
  return started.service;
}
