// Several servers of Redis that fail over, for specs and runs that lose one: a master with a replica that three
// Sentinels watch, and a cluster of three masters with a replica each.
//
// Invariants:
//   S1. Each server has a port, a directory and a process of its own; one that has ended starts again on the same.
//   S2. Nothing is damaged before every replica has its master's data: a master without one cannot be replaced.
//   S3. Guarded ones speak TLS only and want a certificate, also among themselves; Sentinels have a password of their
//       own. What they announce is the address 127.0.0.1, or the name localhost.
import { Redis } from 'ioredis';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../free-ports.ts';
import { type ServerProcess, startServer } from '../server-process.ts';
import { type Guard, ServerMissing, type StartOptions } from '../service.ts';
import { redisProgram, type RedisProgram, remedy, tlsFlags } from './recipe.ts';

export interface ReplicatedRedis {
  /** As DORMOUSE_REDIS_URL. */
  readonly url: string;
  /** Kills a master, waits until its replica is promoted, and starts it again as the replica of that one. */
  loseMaster(): Promise<void>;
  /** Makes a replica the master on purpose: nothing ends. */
  promoteReplica(): Promise<void>;
  /** Forgets everything it has. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

type Options = Pick<StartOptions, 'directory' | 'cache' | 'say'>;

/** (S3) */
export interface RedisGuard extends Guard {
  /** What clients are told, and certificates are checked for. Default: the address. */
  readonly announced?: 'address' | 'name';
  /** Of the Sentinels. */
  readonly sentinelPassword?: string;
}

const settledWithinMs = 180_000;
const startWithinMs = 30_000;
const failoverMs = 6_000;
const masterName = 'dormouse';
const slots = 16_384;

/** Of a cluster: where it listens for clients, and for the other nodes. */
interface Node {
  readonly port: number;
  readonly bus: number;
}

interface Member {
  readonly port: number;
  start(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
}

interface MemberOrder {
  readonly directory: string;
  readonly port: number;
  readonly args: readonly string[];
  /** The program is a Sentinel, and this its file. */
  readonly sentinelFile?: string;
}

/** @throws ServerMissing when this machine cannot have a Redis. */
async function programHere(options: Options): Promise<RedisProgram> {
  return redisProgram(options).catch((error: unknown) => {
    throw new ServerMissing(`no Redis here: ${(error as Error).message} ${remedy}`);
  });
}

function memberOf({ command, libraries }: RedisProgram, order: MemberOrder): Member {
  const { directory, port, args, sentinelFile } = order;
  mkdirSync(directory, { recursive: true });
  let running: ServerProcess | null = null;
  return {
    port,
    start: async () => {
      running = await startServer({
        command,
        argv0: sentinelFile === undefined ? 'redis-server' : 'redis-sentinel',
        args: [...(sentinelFile === undefined ? [] : [sentinelFile]), ...args],
        output: join(directory, 'redis.out'),
        ...{ port, withinMs: startWithinMs },
        environment: libraries === null ? {} : { LD_LIBRARY_PATH: libraries },
      });
    },
    end: async (signal) => {
      await running?.stop(signal);
    },
  };
}

const serverArgs = (directory: string, port: number, { login, tls }: RedisGuard): readonly string[] => [
  ...['--bind', '127.0.0.1', '--dir', directory],
  ...(tls === undefined ? ['--port', String(port)] : ['--port', '0', '--tls-port', String(port), ...tlsFlags(tls)]),
  ...(tls === undefined ? [] : ['--tls-replication', 'yes', '--tls-cluster', 'yes']),
  ...(login === undefined ? [] : ['--requirepass', login.password, '--masterauth', login.password]),
  ...['--save', '', '--appendonly', 'no', '--protected-mode', 'no'],
  // A replica begins with a copy at once, instead of waiting for others that may want the same.
  ...['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'],
];

/** The flags of a command line as lines of a file. */
const inFile = (tls: NonNullable<RedisGuard['tls']>): readonly string[] =>
  tlsFlags(tls)
    .join(' ')
    .split(' --')
    .map((line) => line.replace(/^--/, ''));

const hostOf = ({ announced }: RedisGuard): string => (announced === 'name' ? 'localhost' : '127.0.0.1');

const schemeOf = ({ tls }: RedisGuard): string => (tls === undefined ? 'redis' : 'rediss');
const loginIn = ({ login }: RedisGuard): string =>
  login === undefined ? '' : `:${encodeURIComponent(login.password)}@`;

type Ask = <Answer>(port: number, question: (client: Redis) => Promise<Answer>) => Promise<Answer>;

/** One connection for one question, from outside of what is tested: whatever names its certificate has. */
function askWith({ tls }: RedisGuard, password: string | undefined): Ask {
  const secured =
    tls === undefined
      ? undefined
      : {
          ca: readFileSync(tls.authorityFile),
          cert: readFileSync(tls.certificate.file),
          key: readFileSync(tls.certificate.keyFile),
          checkServerIdentity: () => undefined,
        };
  return async (port, question) => {
    const client = new Redis({
      ...{ host: '127.0.0.1', port, password, tls: secured },
      ...{ retryStrategy: null, lazyConnect: true, commandTimeout: 5_000 },
    });
    client.on('error', () => {}); // the rejection has it
    try {
      await client.connect();
      return await question(client);
    } finally {
      client.disconnect();
    }
  };
}

const replicationOf = (ask: Ask, port: number): Promise<string> => ask(port, (client) => client.info('replication'));
const isInStep = async (ask: Ask, replica: number): Promise<boolean> =>
  /role:slave[^]*master_link_status:up/.test(await replicationOf(ask, replica));

/** Tries again while it is false or fails: servers that change their roles refuse questions for a moment. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  let last: unknown;
  for (const end = Date.now() + settledWithinMs; Date.now() < end; await sleep(50)) {
    try {
      if (await holds()) return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`Redis: not within ${settledWithinMs} ms: ${what}`, { cause: last });
}

/** One master, one replica, three Sentinels of which two must agree. */
export async function startSentinels(options: Options, guard: RedisGuard = {}): Promise<ReplicatedRedis> {
  const { login, tls, sentinelPassword } = guard;
  const host = hostOf(guard);
  const ask = askWith(guard, login?.password);
  const askSentinel = askWith(guard, sentinelPassword);
  const program = await programHere(options);
  const [first = 0, second = 0, ...watchers] = await freePorts(5);
  const place = (port: number): string => join(options.directory, String(port));
  const member = (port: number, more: readonly string[] = []): Member =>
    memberOf(program, {
      ...{ directory: place(port), port },
      args: [...serverArgs(place(port), port, guard), '--replica-announce-ip', host, ...more],
    });
  const servers = [member(first), member(second, ['--replicaof', host, String(first)])];
  const sentinels = watchers.map((port) => {
    mkdirSync(place(port), { recursive: true });
    const sentinelFile = join(place(port), 'sentinel.conf');
    const lines = [
      ...['bind 127.0.0.1', `dir ${place(port)}`, 'protected-mode no'],
      ...(tls === undefined ? [`port ${port}`] : ['port 0', `tls-port ${port}`, 'tls-replication yes', ...inFile(tls)]),
      ...(guard.announced === 'name' ? ['sentinel resolve-hostnames yes', 'sentinel announce-hostnames yes'] : []),
      `sentinel announce-ip ${host}`,
      ...(sentinelPassword === undefined ? [] : [`requirepass "${sentinelPassword}"`]),
      ...(sentinelPassword === undefined ? [] : [`sentinel sentinel-pass "${sentinelPassword}"`]),
      `sentinel monitor ${masterName} ${host} ${first} 2`,
      ...(login === undefined ? [] : [`sentinel auth-pass ${masterName} "${login.password}"`]),
      `sentinel down-after-milliseconds ${masterName} 1000`,
      `sentinel failover-timeout ${masterName} 5000`,
    ];
    writeFileSync(sentinelFile, `${lines.join('\n')}\n`);
    return memberOf(program, { directory: place(port), port, args: [], sentinelFile });
  });
  const stop = async (): Promise<void> => {
    await Promise.all([...sentinels, ...servers].map((each) => each.end('SIGKILL')));
  };
  const [watcher = 0] = watchers;

  async function master(): Promise<number> {
    const [, port] = (await askSentinel(watcher, (client) =>
      client.call('SENTINEL', 'get-master-addr-by-name', masterName),
    )) as readonly string[];
    return Number(port);
  }

  async function fieldOf(sentinel: number, field: string): Promise<string | undefined> {
    const fields = (await askSentinel(sentinel, (client) =>
      client.call('SENTINEL', 'master', masterName),
    )) as readonly string[];
    return fields[fields.indexOf(field) + 1];
  }

  /** (S2) */
  async function inStep(): Promise<void> {
    const at = await master();
    await until('the replica has its master’s data', () => isInStep(ask, at === first ? second : first));
    for (const sentinel of watchers)
      await until('each Sentinel knows the replica and the other Sentinels', async () => {
        const known = [await fieldOf(sentinel, 'num-slaves'), await fieldOf(sentinel, 'num-other-sentinels')];
        return known.join() === '1,2' && (await fieldOf(sentinel, 'flags')) === 'master';
      });
  }

  async function promoted(before: number): Promise<void> {
    await until('another master is announced', async () => (await master()) !== before);
    const now = await master();
    await until('it is a master', async () => (await replicationOf(ask, now)).includes('role:master'));
  }

  try {
    for (const server of servers) await server.start();
    await Promise.all(sentinels.map((sentinel) => sentinel.start()));
    await inStep();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `${schemeOf(guard)}+sentinel://${loginIn(guard)}${watchers.map((port) => `${host}:${port}`).join(',')}/${masterName}${sentinelPassword === undefined ? '' : `?sentinelPassword=${encodeURIComponent(sentinelPassword)}`}`,
    loseMaster: async () => {
      await inStep();
      const before = await master();
      const lost = servers.find(({ port }) => port === before);
      await lost?.end('SIGKILL');
      await promoted(before);
      await lost?.start();
      await inStep();
    },
    promoteReplica: async () => {
      await inStep();
      const before = await master();
      await until('a failover begins', async () => {
        await askSentinel(watcher, (client) => client.call('SENTINEL', 'failover', masterName));
        return true;
      });
      await promoted(before);
      await inStep();
    },
    empty: async () => {
      await ask(await master(), (client) => client.flushall());
    },
    stop,
  };
}

/** Three masters, each with a third of the keys and a replica. */
export async function startClusteredRedis(options: Options, guard: RedisGuard = {}): Promise<ReplicatedRedis> {
  const host = hostOf(guard);
  const ask = askWith(guard, guard.login?.password);
  const program = await programHere(options);
  const free = await freePorts(12);
  const nodes = free.slice(0, 6).map((port, nth) => ({ port, bus: free[nth + 6] ?? 0 }));
  const ports = nodes.map(({ port }) => port);
  const members = nodes.map(({ port, bus }) => {
    const directory = join(options.directory, String(port));
    const clustered = [
      ...['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-config-file', 'nodes.conf'],
      ...['--cluster-node-timeout', '1500', '--cluster-replica-validity-factor', '0'],
      ...(guard.announced === 'name' ? ['--cluster-announce-hostname', host] : []),
      ...(guard.announced === 'name' ? ['--cluster-preferred-endpoint-type', 'hostname'] : []),
    ];
    return memberOf(program, { directory, port, args: [...serverArgs(directory, port, guard), ...clustered] });
  });
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((each) => each.end('SIGKILL')));
  };

  const isWhole = async (port: number): Promise<boolean> => {
    const info = await ask(port, (client) => client.cluster('INFO'));
    return /cluster_state:ok/.test(info) && /cluster_known_nodes:6/.test(info);
  };
  const isMaster = async (port: number): Promise<boolean> => (await replicationOf(ask, port)).includes('role:master');
  const masterOf = async (replica: number): Promise<number> =>
    Number(/master_port:(\d+)/.exec(await replicationOf(ask, replica))?.[1] ?? 0);

  /** (S2) */
  async function inStep(): Promise<void> {
    for (const port of ports) {
      await until('every node says that the cluster is whole', () => isWhole(port));
      await until('every replica has its master’s data', async () => (await isMaster(port)) || isInStep(ask, port));
    }
    await until('half of them are replicas', async () => {
      const roles = await Promise.all(ports.map(isMaster));
      return roles.filter((is) => !is).length === ports.length / 2;
    });
  }

  /** A replica, and its master. */
  async function couple(): Promise<readonly [replica: number, master: number]> {
    for (const port of ports) if (!(await isMaster(port))) return [port, await masterOf(port)];
    throw new Error('no node of the cluster is a replica');
  }

  try {
    await Promise.all(members.map((each) => each.start()));
    await joined(ask, nodes, until);
    await inStep();
  } catch (error) {
    await stop();
    throw error;
  }
  const named = ports.slice(0, 3).map((port) => `${host}:${port}`);
  return {
    url: `${schemeOf(guard)}+cluster://${loginIn(guard)}${named.join(',')}`,
    loseMaster: async () => {
      await inStep();
      const [replica, master] = await couple();
      const lost = members.find(({ port }) => port === master);
      await lost?.end('SIGKILL');
      await until('its replica is promoted', () => isMaster(replica));
      await lost?.start();
      await inStep();
    },
    promoteReplica: async () => {
      await inStep();
      const [replica] = await couple();
      let askedAt = 0;
      await until('the replica is promoted', async () => {
        // A node gives one up after five seconds.
        if (Date.now() - askedAt > failoverMs) {
          askedAt = Date.now();
          await ask(replica, (client) => client.cluster('FAILOVER'));
        }
        return isMaster(replica);
      });
      await inStep();
    },
    empty: async () => {
      for (const port of ports) if (await isMaster(port)) await ask(port, (client) => client.flushall());
    },
    stop,
  };
}

/** The first half become masters with an equal share of the slots, each of the others a replica of one. */
async function joined(ask: Ask, nodes: readonly Node[], wait: typeof until): Promise<void> {
  const [first, ...others] = nodes;
  if (first === undefined) throw new RangeError('no nodes');
  const masters = nodes.slice(0, nodes.length / 2);
  for (const [place, { port }] of masters.entries()) {
    const [from = 0, to = 0] = [place, place + 1].map((nth) => Math.floor((slots * nth) / masters.length));
    await ask(port, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to - 1)));
    await ask(port, (client) => client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(place + 1)));
  }
  for (const { port, bus } of others)
    await ask(first.port, (client) => client.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus)));
  for (const [place, { port }] of nodes.slice(masters.length).entries()) {
    const id = await ask(masters[place]?.port ?? 0, (client) => client.call('CLUSTER', 'MYID'));
    await wait('the replica knows its master', async () => {
      await ask(port, (client) => client.call('CLUSTER', 'REPLICATE', String(id)));
      return true;
    });
  }
}
