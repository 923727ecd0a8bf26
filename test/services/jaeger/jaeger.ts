// A real Jaeger, built from its Go module once per machine: spans come in over OTLP, its query API reads them back.
//
// Invariants:
//   J1. It listens on loopback; its traces are in its directory, and a second start finds them again.
//   J2. It makes no spans of its own.
//   J3. Where there is none, the reason and a remedy are the answer, never a failure.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtOnce } from '../built-once.ts';
import { freePorts } from '../free-ports.ts';
import { buildGoProgram } from '../go-module.ts';
import { startServer } from '../server-process.ts';
import type { RunningService } from '../service.ts';

const version = 'v1.76.0';
const module = 'github.com/jaegertracing/jaeger';
const remedy = 'Install Go 1.24 or newer, with access to Go modules; or send spans to a trace store of yours.';
const startWithinMs = 60_000;

type Missing = { readonly available: false; readonly reason: string; readonly remedy: string };

/** Its `url` is that of the query API. */
export interface TraceStore extends RunningService {
  /** The endpoint of OTLP over HTTP, without a path. */
  readonly otlp: string;
}

export interface JaegerPorts {
  readonly query: number;
  readonly otlp: number;
  /** The query API over gRPC, which cannot be switched off. */
  readonly grpc: number;
}

interface JaegerOptions {
  readonly directory: string;
  readonly cache: string;
  readonly say: (line: string) => void;
  readonly ports?: JaegerPorts;
}

/** The path of its program, built now if it is not there. (J3) */
export async function jaegerProgram(
  cache: string,
  say: (line: string) => void,
): Promise<{ readonly available: true; readonly program: string } | Missing> {
  try {
    const folder = await builtOnce(cache, `jaeger-${version}`, say, async (into) => {
      say(`jaeger: building Jaeger ${version} (about 4 minutes)`);
      await buildGoProgram({ module, version, command: './cmd/jaeger', into });
    });
    return { available: true, program: join(folder, 'jaeger') };
  } catch (error) {
    return { available: false, reason: `no Jaeger here: ${(error as Error).message}`, remedy };
  }
}

export async function startJaeger(
  options: JaegerOptions,
): Promise<{ readonly available: true; readonly service: TraceStore } | Missing> {
  const found = await jaegerProgram(options.cache, options.say);
  return found.available ? { available: true, service: await started(found.program, options) } : found;
}

async function started(command: string, { directory, ports }: JaegerOptions): Promise<TraceStore> {
  mkdirSync(directory, { recursive: true });
  const [query = 0, otlp = 0, grpc = 0] =
    ports === undefined ? await freePorts(3) : [ports.query, ports.otlp, ports.grpc];
  const config = join(directory, 'jaeger.yml');
  writeFileSync(config, configuration(directory, { query, otlp, grpc }));
  const start = () =>
    startServer({
      command,
      args: ['--config', `file:${config}`],
      output: join(directory, 'jaeger.out'),
      port: query,
      withinMs: startWithinMs,
      environment: { OTEL_TRACES_SAMPLER: 'always_off' }, // (J2)
    });
  let server = await start();
  return {
    url: `http://127.0.0.1:${query}`,
    otlp: `http://127.0.0.1:${otlp}`,
    pids: () => [server.pid],
    stop: () => server.stop(),
    restart: async () => {
      server = await start();
    },
    kill: (signal) => server.signal(signal),
  };
}

/** JSON is YAML. (J1) */
function configuration(directory: string, { query, otlp, grpc }: JaegerPorts): string {
  const at = (port: number): object => ({ endpoint: `127.0.0.1:${port}` });
  const storage = { traces: 'files' };
  const files = { directories: { keys: join(directory, 'keys'), values: join(directory, 'values') }, ephemeral: false };
  return JSON.stringify(
    {
      service: {
        extensions: ['jaeger_storage', 'jaeger_query'],
        pipelines: { traces: { receivers: ['otlp'], processors: ['batch'], exporters: ['jaeger_storage_exporter'] } },
        telemetry: { logs: { level: 'warn' }, metrics: { level: 'none' } },
      },
      extensions: {
        jaeger_query: { storage, http: at(query), grpc: at(grpc) },
        jaeger_storage: { backends: { files: { badger: files } } },
      },
      receivers: { otlp: { protocols: { http: at(otlp) } } },
      processors: { batch: { timeout: '200ms' } },
      exporters: { jaeger_storage_exporter: { trace_storage: 'files' } },
    },
    null,
    2,
  );
}
