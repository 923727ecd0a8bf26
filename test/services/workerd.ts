// A real workerd, the runtime of Cloudflare Workers, and the bundler of its users: installed once into the cache.
//
// Invariants:
//   W1. It listens on loopback, and its Workers reach private addresses only.
//   W2. Where there is none, the reason is the answer, never a failure.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-ports.ts';
import { npmPackages } from './npm-packages.ts';
import { startServer } from './server-process.ts';

const version = '1.20261117.1';
const bundlerVersion = '0.28.2';
const startWithinMs = 30_000;

type Found =
  { readonly available: true; readonly workerd: Workerd } | { readonly available: false; readonly reason: string };

export interface Workerd {
  /** One ES module of this file and all that it imports. */
  readonly bundle: (file: string, into: string, conditions: readonly string[]) => void;
  /** Serves the module at the URL that is returned; the class `Tools` is a Durable Object, bound as `TOOLS`. */
  readonly start: (
    directory: string,
    settings: { readonly module: string; readonly compatibilityDate: string; readonly flags?: readonly string[] },
  ) => Promise<{ readonly url: string; readonly stop: () => Promise<void> }>;
}

/** (W2) */
export async function workerd(cache: string, say: (line: string) => void): Promise<Found> {
  try {
    const packages = [`workerd@${version}`, `esbuild@${bundlerVersion}`];
    const folder = await npmPackages(cache, `workerd-${version}`, packages, say);
    const modules = join(folder, 'node_modules');
    const architecture = process.arch === 'arm64' ? 'arm64' : '64';
    const program = join(modules, '@cloudflare', `workerd-${process.platform}-${architecture}`, 'bin', 'workerd');
    execFileSync(program, ['--version']); // also false where its libraries are missing
    return { available: true, workerd: { bundle: bundling(modules), start: starting(program) } };
  } catch (error) {
    return { available: false, reason: `no workerd here: ${(error as Error).message.split('\n', 1)[0]}` };
  }
}

const bundling =
  (modules: string): Workerd['bundle'] =>
  (file, into, conditions) => {
    const flags = ['--bundle', '--format=esm', '--target=es2024', '--external:node:*', '--log-level=error'];
    const all = [file, ...flags, `--conditions=${conditions.join()}`, `--outfile=${into}`];
    execFileSync(join(modules, `@esbuild/${process.platform}-${process.arch}`, 'bin', 'esbuild'), all);
  };

const starting =
  (program: string): Workerd['start'] =>
  async (directory, { module, compatibilityDate, flags = [] }) => {
    const port = await freePort();
    const config = join(directory, 'config.capnp');
    writeFileSync(
      config,
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "${module}")],
  compatibilityDate = "${compatibilityDate}",
  compatibilityFlags = [${flags.map((flag) => `"${flag}"`).join(', ')}],
  bindings = [(name = "TOOLS", durableObjectNamespace = "Tools")],
  durableObjectNamespaces = [(className = "Tools", uniqueKey = "tools")],
  durableObjectStorage = (inMemory = void),
);
`,
    );
    const output = join(directory, 'workerd.out');
    const server = await startServer({
      command: program,
      args: ['serve', config],
      output,
      port,
      withinMs: startWithinMs,
    });
    return { url: `http://127.0.0.1:${port}`, stop: () => server.stop() };
  };
