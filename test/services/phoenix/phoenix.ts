// A real Phoenix (`arize-phoenix` of Python's package index), which draws spans of the GenAI conventions as agent runs:
// installed once per machine into an environment of its own.
//
// Invariants:
//   H1. It listens on loopback, keeps its database in its directory, and sends nothing elsewhere.
//   H2. Where there is none, the reason and a remedy are the answer, never a failure.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { builtOnce } from '../built-once.ts';
import { freePorts } from '../free-ports.ts';
import { isInstalled, runCommand } from '../run-command.ts';
import { startServer } from '../server-process.ts';
import type { Started } from '../service.ts';

const version = '20.26.1';
const remedy = 'Install Python 3.10 or newer with venv and pip, and access to a package index.';
const startWithinMs = 180_000;
/** Minutes on an idle machine. */
const installWithinMs = 3_600_000;

interface PhoenixOptions {
  readonly directory: string;
  readonly cache: string;
  readonly say: (line: string) => void;
}

/** Its `url` takes OTLP over HTTP at `/v1/traces`, has the API below `/v1`, and the page at `/`. (H2) */
export async function startPhoenix(options: PhoenixOptions): Promise<Started> {
  const { directory, cache, say } = options;
  try {
    const folder = await builtOnce(cache, `phoenix-${version}`, say, (into) => install(into, say));
    mkdirSync(directory, { recursive: true });
    const [port = 0, grpcPort = 0] = await freePorts(2);
    const start = () =>
      startServer({
        // Not its own script, which names the folder that it was installed in.
        command: join(folder, 'bin', 'python'),
        args: ['-m', 'phoenix.server.main', 'serve'],
        output: join(directory, 'phoenix.out'),
        port,
        withinMs: startWithinMs,
        environment: {
          PHOENIX_HOST: '127.0.0.1',
          PHOENIX_PORT: String(port),
          PHOENIX_GRPC_PORT: String(grpcPort),
          PHOENIX_WORKING_DIR: directory,
          PHOENIX_TELEMETRY_ENABLED: 'false',
          PHOENIX_ALLOW_EXTERNAL_RESOURCES: 'false',
        },
      });
    let server = await start();
    return {
      available: true,
      service: {
        url: `http://127.0.0.1:${port}`,
        pids: () => [server.pid],
        stop: () => server.stop(),
        restart: async () => {
          server = await start();
        },
        kill: (signal) => server.signal(signal),
      },
    };
  } catch (error) {
    return { available: false, reason: `no Phoenix here: ${(error as Error).message}`, remedy };
  }
}

async function install(into: string, say: (line: string) => void): Promise<void> {
  if (!(await isInstalled('python3'))) throw new Error('Python is not installed');
  say(`phoenix: installing Phoenix ${version} (about 2 minutes, 900 MB)`);
  await runCommand('python3', ['-m', 'venv', into], { withinMs: 120_000 });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `arize-phoenix==${version}`];
  await runCommand(join(into, 'bin', 'python'), pip, { withinMs: installWithinMs });
}
