// A real Redis on a free port: from PATH, or Debian's package unpacked into the cache without being installed.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { aptUnpack } from '../apt.ts';
import { builtOnce } from '../built-once.ts';
import { isInstalled } from '../run-command.ts';
import { type ServerProcess, startServer } from '../server-process.ts';
import { freePorts } from '../free-ports.ts';
import { type Guard, type RunningService, type ServiceRecipe, type Started, type StartOptions } from '../service.ts';
import { startFromSource } from '../source.ts';

export const remedy = 'Install Redis 7 or newer (apt-get install redis-server), or set DORMOUSE_TEST_REDIS_URL.';

export const recipe: ServiceRecipe = {
  name: 'redis',
  variable: 'DORMOUSE_TEST_REDIS_URL',
  outputs: ['redis.out'],
  start: (options) => startFromSource(recipe, options, startRedis),
};

/** A Redis of our own; its only user is `default`. */
export async function startRedis(options: StartOptions, guard: Guard = {}): Promise<Started> {
  try {
    return { available: true, service: await startServerOf(await redisProgram(options), options, guard) };
  } catch (error) {
    return { available: false, reason: `no Redis here: ${(error as Error).message}`, remedy };
  }
}

export interface RedisProgram {
  readonly command: string;
  readonly libraries: string | null;
}

export async function redisProgram({ cache, say }: Pick<StartOptions, 'cache' | 'say'>): Promise<RedisProgram> {
  if (await isInstalled('redis-server')) return { command: 'redis-server', libraries: null };
  if (!(await isInstalled('dpkg-deb'))) throw new Error('redis-server is not on PATH, and this is not Debian');
  const folder = await builtOnce(cache, 'redis-debian', say, async (into) => {
    say('redis: downloading Debian’s package');
    await aptUnpack(['redis-tools', 'libjemalloc2', 'liblua5.1-0', 'lua-bitop', 'lua-cjson', 'liblzf1'], into);
  });
  // One program under several names, which selects its role by name; the package of the server only holds links.
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  return {
    command: join(folder, 'usr', 'bin', 'redis-check-rdb'),
    libraries: join(folder, 'usr', 'lib', `${architecture}-linux-gnu`),
  };
}

async function startServerOf(
  { command, libraries }: RedisProgram,
  { directory }: StartOptions,
  { login, tls }: Guard,
): Promise<RunningService> {
  mkdirSync(directory, { recursive: true });
  const [port = 0] = await freePorts(1);
  const start = (): Promise<ServerProcess> =>
    startServer({
      command,
      argv0: 'redis-server',
      args: [
        ...['--bind', '127.0.0.1', '--dir', directory],
        ...['--save', '', '--appendonly', 'no', '--protected-mode', 'no'],
        ...(tls === undefined
          ? ['--port', String(port)]
          : ['--port', '0', '--tls-port', String(port), ...tlsFlags(tls)]),
        ...(login === undefined ? [] : ['--requirepass', login.password]),
      ],
      output: join(directory, 'redis.out'),
      port,
      withinMs: 10_000,
      environment: libraries === null ? {} : { LD_LIBRARY_PATH: libraries },
    });
  let server = await start();
  return {
    url: `${tls === undefined ? 'redis' : 'rediss'}://${login === undefined ? '' : `:${encodeURIComponent(login.password)}@`}127.0.0.1:${port}`,
    pids: () => [server.pid],
    stop: () => server.stop(),
    restart: async () => {
      await server.stop('SIGKILL'); // after `kill` it may listen for a moment
      server = await start();
    },
    kill: (signal) => server.signal(signal),
  };
}

export const tlsFlags = ({ certificate, authorityFile }: NonNullable<Guard['tls']>): readonly string[] => [
  ...['--tls-cert-file', certificate.file, '--tls-key-file', certificate.keyFile],
  ...['--tls-ca-cert-file', authorityFile, '--tls-auth-clients', 'yes'],
];
