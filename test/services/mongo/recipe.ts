// A server that speaks MongoDB's protocol, on free ports: FerretDB over PostgreSQL with the DocumentDB extension, both
// built from package registries once per machine. Needs Linux, root, Go and Debian's package tools.
//
// Invariants:
//   M1. The PostgreSQL of the cache is never written to: data and settings are in `directory`, bound into its root.
//   M2. What was acknowledged is on disk (`fsync` on) unless DORMOUSE_TEST_FSYNC=off asks for speed.
//   M3. A restart begins when the processes of before have ended. PostgreSQL's own end a moment after it was killed,
//       and hold its shared memory until then.
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtOnce } from '../built-once.ts';
import { aptInstall } from '../apt.ts';
import { buildGoProgram } from '../go-module.ts';
import { isInstalled, runCommand } from '../run-command.ts';
import { type ServerProcess, startServer } from '../server-process.ts';
import { freePorts } from '../free-ports.ts';
import { type Guard, type RunningService, type ServiceRecipe, type Started, type StartOptions } from '../service.ts';
import { startFromSource } from '../source.ts';

const ferretVersion = 'v2.7.0';
const ferretModule = 'github.com/FerretDB/FerretDB/v2';
const postgresPackage = 'postgresql-18-documentdb';
const debianSuite = 'forky';
const startWithinMs = 180_000;
const startAgainMs = 100;
const remedy =
  'Run as root on Debian with Go 1.24 or newer, or set DORMOUSE_TEST_MONGO_URL to a MongoDB that tests may use.';

export const recipe: ServiceRecipe = {
  name: 'mongo',
  variable: 'DORMOUSE_TEST_MONGO_URL',
  outputs: ['postgres.out', 'ferretdb.out'],
  start: (options) => startFromSource(recipe, options, startMongo),
};

/** A server of our own. */
export async function startMongo(options: StartOptions, guard: Guard = {}): Promise<Started> {
  try {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error('it takes root on Linux');
    const postgres = await builtOnce(options.cache, `postgres-documentdb-${debianSuite}`, options.say, (into) =>
      buildPostgres(into, options.say),
    );
    const ferret = await builtOnce(options.cache, `ferretdb-${ferretVersion}`, options.say, (into) =>
      buildFerret(into, options.say),
    );
    return { available: true, service: await startBoth(postgres, join(ferret, 'ferretdb'), options, guard) };
  } catch (error) {
    return { available: false, reason: `no MongoDB here: ${(error as Error).message}`, remedy };
  }
}

/** A Debian of its own, because the extension needs a newer C library than the host may have. */
async function buildPostgres(into: string, say: (line: string) => void): Promise<void> {
  if (!(await isInstalled('mmdebstrap'))) {
    say('mongo: installing mmdebstrap');
    await aptInstall(['mmdebstrap']);
  }
  say(`mongo: building a root directory with ${postgresPackage} (about 2 minutes)`);
  const sources = await runCommand(
    'sh',
    ['-c', 'cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null || true'],
    { withinMs: 5_000 },
  );
  const mirror = /^URIs:\s*(\S+)/m.exec(sources)?.[1] ?? /^deb\s+(?:\[.*?\]\s+)?(\S+)/m.exec(sources)?.[1];
  if (mirror === undefined) throw new Error('no Debian mirror is configured');
  const options = ['APT::Install-Recommends "false"', 'Acquire::Check-Valid-Until "false"'];
  await runCommand(
    'mmdebstrap',
    [
      '--variant=apt',
      ...options.map((option) => `--aptopt=${option}`),
      `--include=${postgresPackage}`,
      debianSuite,
      into,
      mirror,
    ],
    { withinMs: 900_000 },
  );
}

async function buildFerret(into: string, say: (line: string) => void): Promise<void> {
  say(`mongo: building FerretDB ${ferretVersion} (about 2 minutes)`);
  await buildGoProgram({
    ...{ module: ferretModule, version: ferretVersion, command: './cmd/ferretdb', into },
    // Its version is written by its release process, and it does not start without one.
    prepare: (source) => writeFileSync(join(source, 'build', 'version', 'version.txt'), `${ferretVersion}\n`),
  });
}

async function startBoth(
  root: string,
  ferret: string,
  { directory }: StartOptions,
  { login, tls }: Guard,
): Promise<RunningService> {
  const [postgresPort = 0, port = 0] = await freePorts(2);
  const data = await preparePostgres(root, directory, postgresPort);
  const startPostgres = (): Promise<ServerProcess> =>
    startServer({
      ...inRoot(root, directory, ['/usr/lib/postgresql/18/bin/postgres', '-D', data]),
      output: join(directory, 'postgres.out'),
      port: postgresPort,
      withinMs: startWithinMs,
    });
  const startFerret = (): Promise<ServerProcess> =>
    startServer({
      command: ferret,
      args: [
        `--postgresql-url=postgres://postgres@127.0.0.1:${postgresPort}/postgres`,
        ...['--debug-addr=', '--telemetry=disable', '--log-level=error', `--state-dir=${directory}`],
        ...(login === undefined ? ['--no-auth'] : []),
        ...(tls === undefined ? [`--listen-addr=127.0.0.1:${port}`] : tlsFlags(tls, port)),
      ],
      output: join(directory, 'ferretdb.out'),
      port,
      withinMs: startWithinMs,
      environment: { DO_NOT_TRACK: '1' },
    });
  const sql = (text: string): Promise<string> => {
    const psql = ['/usr/lib/postgresql/18/bin/psql', '-h', '127.0.0.1', '-p', String(postgresPort), '-U', 'postgres'];
    const { command, args } = inRoot(root, directory, [...psql, '-tAc', text]);
    return runCommand(command, args, { withinMs: 30_000 });
  };
  const ready = async (): Promise<void> => {
    for (const until = Date.now() + startWithinMs; ;) {
      try {
        await sql('CREATE EXTENSION IF NOT EXISTS documentdb CASCADE');
        if (
          login !== undefined &&
          (await sql(`SELECT 1 FROM pg_roles WHERE rolname = '${login.user}'`)).trim() === ''
        ) {
          await sql(`CREATE ROLE ${login.user} LOGIN PASSWORD '${login.password}'`);
          await sql(`GRANT documentdb_admin_role TO ${login.user}`);
        }
        return;
      } catch (error) {
        if (Date.now() > until || !/starting up|recovery|shutting down/.test(String(error))) throw error;
        await sleep(startAgainMs);
      }
    }
  };
  let postgres = await startPostgres();
  await ready();
  let server = await startFerret();
  return {
    url: `mongodb://${login === undefined ? '' : `${login.user}:${encodeURIComponent(login.password)}@`}127.0.0.1:${port}/?directConnection=true${tls === undefined ? '' : '&tls=true'}`,
    pids: () => [server.pid, postgres.pid],
    stop: async () => {
      await server.stop('SIGTERM', 5_000);
      await postgres.stop('SIGINT', 10_000);
    },
    restart: async () => {
      await Promise.all([server.stop('SIGKILL'), postgres.stop('SIGKILL')]); // (M3)
      rmSync(join(directory, 'data', 'postmaster.pid'), { force: true });
      for (const until = Date.now() + startWithinMs; ; await sleep(startAgainMs)) {
        try {
          postgres = await startPostgres();
          break;
        } catch (error) {
          if (Date.now() > until || !String(error).includes('pre-existing shared memory block')) throw error; // (M3)
        }
      }
      await ready();
      server = await startFerret();
    },
    kill: (signal) => {
      server.signal(signal);
      postgres.signal(signal);
    },
  };
}

const tlsFlags = ({ certificate, authorityFile }: NonNullable<Guard['tls']>, port: number): readonly string[] => [
  ...['--listen-addr=', `--listen-tls=127.0.0.1:${port}`, `--listen-tls-ca-file=${authorityFile}`],
  ...[`--listen-tls-cert-file=${certificate.file}`, `--listen-tls-key-file=${certificate.keyFile}`],
];

/** A command as the user postgres inside the root directory, with our directory mounted for this command alone. (M1) */
function inRoot(root: string, directory: string, command: readonly string[]) {
  const mount = 'mount --bind "$1" "$0/mnt" && shift && exec chroot --userspec=postgres:postgres "$0" "$@"';
  return { command: 'unshare', args: ['--mount', '--', 'sh', '-c', mount, root, directory, ...command] };
}

async function preparePostgres(root: string, directory: string, port: number): Promise<string> {
  mkdirSync(directory, { recursive: true });
  const outside = join(directory, 'data');
  const data = '/mnt/data';
  if (!existsSync(join(outside, 'PG_VERSION'))) {
    mkdirSync(outside, { recursive: true });
    const [, uid, gid] = /^postgres:x:(\d+):(\d+)/m.exec(readFileSync(join(root, 'etc', 'passwd'), 'utf8')) ?? [];
    chownSync(outside, Number(uid), Number(gid));
    const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    const { command, args } = inRoot(root, directory, ['/usr/lib/postgresql/18/bin/initdb', ...init]);
    await runCommand(command, args, { withinMs: 120_000 });
  }
  const settings: Readonly<Record<string, string | number>> = {
    listen_addresses: "'127.0.0.1'",
    port,
    unix_socket_directories: "''",
    max_connections: 200,
    fsync: process.env['DORMOUSE_TEST_FSYNC'] === 'off' ? 'off' : 'on', // (M2)
    shared_preload_libraries: "'pg_cron,pg_documentdb_core,pg_documentdb'",
    'cron.database_name': "'postgres'",
    dynamic_shared_memory_type: 'mmap',
    deadlock_timeout: '50ms',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(outside, 'postgresql.auto.conf'), lines.join(''));
  return data;
}
