// A real Prometheus and its promtool: from PATH, or Debian's package unpacked into the cache without being installed.
//
// Invariants:
//   M1. What it scrapes is written into its directory, one job per service, and it listens on loopback.
//   M2. Where there is none, the reason and a remedy are the answer, never a failure.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aptUnpack } from './apt.ts';
import { builtOnce } from './built-once.ts';
import { freePorts } from './free-ports.ts';
import { isInstalled } from './run-command.ts';
import { startServer } from './server-process.ts';
import type { RunningService, Started } from './service.ts';

interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
  /** The folder of its page, where it is not in the place that the program knows. */
  readonly page: string | null;
}

type Found =
  | { readonly available: true; readonly programs: PrometheusPrograms }
  | { readonly available: false; readonly reason: string; readonly remedy: string };

interface PrometheusOptions {
  readonly directory: string;
  readonly cache: string;
  readonly say: (line: string) => void;
  /** `host:port` of each `/metrics`, by job. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
  readonly rules: string;
  readonly port?: number;
  readonly intervalSeconds: number;
}

/** Scripts and fonts of its page, which Debian has apart. */
const packagesOfPage = [
  ...['libjs-bootstrap4', 'libjs-eonasdan-bootstrap-datetimepicker', 'libjs-jquery', 'libjs-jquery-hotkeys'],
  ...['libjs-moment', 'libjs-moment-timezone', 'libjs-mustache', 'libjs-popper.js', 'libjs-rickshaw', 'libjs-d3'],
  ...['node-moment', 'node-popper2', 'node-jquery', 'fonts-glyphicons-halflings'],
];
const remedy = 'Install Prometheus (apt-get install prometheus).';

/** (M2) */
export async function prometheusPrograms(cache: string, say: (line: string) => void): Promise<Found> {
  try {
    if ((await isInstalled('prometheus')) && (await isInstalled('promtool')))
      return { available: true, programs: { prometheus: 'prometheus', promtool: 'promtool', page: null } };
    if (!(await isInstalled('dpkg-deb'))) throw new Error('it is not on PATH, and this is not Debian');
    const folder = await builtOnce(cache, 'prometheus-debian-with-page', say, async (into) => {
      say('prometheus: downloading Debian’s packages');
      await aptUnpack(['prometheus', ...packagesOfPage], into);
    });
    const program = (name: string): string => join(folder, 'usr', 'bin', name);
    const page = `${join(folder, 'usr', 'share', 'prometheus', 'web')}/`;
    return { available: true, programs: { prometheus: program('prometheus'), promtool: program('promtool'), page } };
  } catch (error) {
    return { available: false, reason: `no Prometheus here: ${(error as Error).message}`, remedy };
  }
}

export async function startPrometheus(options: PrometheusOptions): Promise<Started> {
  const found = await prometheusPrograms(options.cache, options.say);
  return found.available ? { available: true, service: await started(found.programs, options) } : found;
}

async function started(
  { prometheus: command, page }: PrometheusPrograms,
  options: PrometheusOptions,
): Promise<RunningService> {
  const { directory } = options;
  mkdirSync(directory, { recursive: true });
  const config = join(directory, 'prometheus.yml');
  writeFileSync(config, configuration(options));
  const port = options.port ?? (await freePorts(1))[0] ?? 0;
  const start = () =>
    startServer({
      command,
      args: [
        ...[`--config.file=${config}`, `--storage.tsdb.path=${join(directory, 'data')}`],
        ...[`--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'],
        ...(page === null ? [] : [`--web.local-assets=${page}`]),
      ],
      output: join(directory, 'prometheus.out'),
      port,
      withinMs: 30_000,
    });
  let server = await start();
  return {
    url: `http://127.0.0.1:${port}`,
    pids: () => [server.pid],
    stop: () => server.stop(),
    restart: async () => {
      server = await start();
    },
    kill: (signal) => server.signal(signal),
  };
}

/** JSON is YAML. (M1) */
function configuration({ targets, rules, intervalSeconds }: PrometheusOptions): string {
  const every = `${intervalSeconds}s`;
  const jobs = Object.entries(targets).map(([job, addresses]) => ({
    job_name: job,
    static_configs: [{ targets: addresses }],
  }));
  const globals = { scrape_interval: every, scrape_timeout: every, evaluation_interval: every };
  return JSON.stringify({ global: globals, rule_files: [rules], scrape_configs: jobs }, null, 2);
}
