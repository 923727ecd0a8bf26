// The five services of a cluster and the example tools, each in a container of the image, beside real servers on
// loopback. Settings and secrets come as the chart gives them: secrets are files.
//
// Invariants:
//   F1. A container's time is from its start, as the engine noted it, to the first 200 of `/readyz`.
//   F2. Nothing is left: containers are removed before the servers that they use are stopped.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../services/free-ports.ts';
import { startOwnServers } from '../../services/own-servers.ts';
import type { RunningService } from '../../services/service.ts';

export const serviceNames = [
  'thread-processor',
  'tool-dispatcher',
  'notifier',
  'callback-gateway',
  'ingress-gateway',
] as const;
export type ServiceName = (typeof serviceNames)[number];

/** Of a container that has just become ready. */
export interface Start {
  readonly readyMs: number;
  /** Of process 1, in user and system mode. */
  readonly processorMs: number;
  readonly residentBytes: number;
}

export interface FiveServices {
  readonly url: string;
  readonly key: string;
  readonly tools: string;
  /** A file of the containers with the URL of a MongoDB that is not there. */
  readonly nowhere: string;
  readonly starts: Readonly<Record<ServiceName, Start>>;
  /** Flags of `podman run` for a service, without the image and its command. */
  flagsOf(name: string, health: number, changed?: Readonly<Record<string, string>>): readonly string[];
  stop(): Promise<void>;
}

type Podman = (...args: readonly string[]) => Promise<string>;

const readyWithinMs = 120_000;
const secretsAt = '/var/run/dormouse';
const loopback = '127.0.0.1';

/** @returns the reason, where this machine cannot have the servers. */
export async function startFiveServices(
  podman: Podman,
  image: string,
  hardened: readonly string[],
  folder: string,
): Promise<FiveServices | { readonly reason: string }> {
  const { servers, missing } = await startOwnServers(join(folder, 'servers'));
  const stopServers = async (): Promise<void> =>
    void (await Promise.all([...servers.values()].map((each) => each.stop())));
  if (missing !== null) {
    await stopServers();
    return { reason: missing };
  }
  const [api = 0, callbacks = 0, dispatcher = 0, other = 0, another = 0, tools = 0, ...healths] = await freePorts(11);
  const ports = { 'ingress-gateway': api, 'callback-gateway': callbacks, 'tool-dispatcher': dispatcher };
  const key = 'bootstrap-key-of-a-test';
  const secrets = join(folder, 'secrets-of-a-cluster');
  const urlOf = (name: 'kafka' | 'mongo' | 'redis'): string => (servers.get(name) as RunningService).url;
  mkdirSync(secrets);
  const nowhere = 'mongodb://127.0.0.1:1/nowhere';
  const files = { master: 'a1'.repeat(32), mongo: urlOf('mongo'), redis: urlOf('redis'), bootstrap: key, nowhere };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(secrets, name), text);
  const settings = {
    DORMOUSE_KAFKA_BROKERS: urlOf('kafka'),
    DORMOUSE_KAFKA_PARTITIONS: '4',
    DORMOUSE_MONGO_URL_FILE: `${secretsAt}/mongo`,
    DORMOUSE_REDIS_URL_FILE: `${secretsAt}/redis`,
    DORMOUSE_MASTER_KEY_FILE: `${secretsAt}/master`,
    DORMOUSE_CALLBACK_BASE_URL: `http://${loopback}:${callbacks}`,
    DORMOUSE_OUTBOUND_ALLOW: `http://${loopback}:${tools}`,
    DORMOUSE_LOG_LEVEL: 'info',
  };
  const flagsOf: FiveServices['flagsOf'] = (name, health, changed = {}) => [
    ...hardened,
    ...['--name', name, '--volume', `${secrets}:${secretsAt}:ro`],
    ...Object.entries({ ...settings, ...changed }).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]),
    ...['--env', `DORMOUSE_PORT=${ports[name as keyof typeof ports] ?? (name === 'notifier' ? other : another)}`],
    ...['--env', `DORMOUSE_HEALTH_PORT=${health}`],
    ...(name === 'ingress-gateway' ? ['--env', `DORMOUSE_BOOTSTRAP_KEY_FILE=${secretsAt}/bootstrap`] : []),
  ];
  const stop = async (): Promise<void> => {
    await podman('rm', '--all', '--force'); // (F2)
    await stopServers();
  };
  try {
    await podman('run', '--rm', ...flagsOf('setup', healths[0] ?? 0), image, 'setup');
    const starts: Partial<Record<ServiceName, Start>> = {};
    for (const [nth, name] of serviceNames.entries()) {
      const health = healths[nth] ?? 0;
      await podman('run', '--detach', ...flagsOf(name, health), image, name);
      starts[name] = await started(podman, name, `http://${loopback}:${health}/readyz`);
    }
    const told = ['--host', loopback, '--port', String(tools), '--data', '/data'];
    await podman('run', '--detach', ...hardened, '--name', 'example-tools', image, 'example-tools', ...told);
    const url = `http://${loopback}:${api}`;
    const all = starts as Readonly<Record<ServiceName, Start>>;
    const given = { url, key, tools: `http://${loopback}:${tools}`, nowhere: `${secretsAt}/nowhere` };
    return { ...given, starts: all, flagsOf, stop };
  } catch (failure) {
    await stop();
    throw failure;
  }
}

/** (F1) @throws Error with the container's log when it is not ready in time, or ends. */
export async function started(podman: Podman, name: string, readyz: string): Promise<Start> {
  for (const until = performance.now() + readyWithinMs; ; await sleep(10)) {
    const isReady = await fetch(readyz).then(
      ({ ok }) => ok,
      () => false,
    );
    const now = Date.now();
    const [{ State: state }] = isReady ? await inspected(podman, name) : [{ State: null }];
    if (state !== null)
      return { readyMs: now - Date.parse(state.StartedAt.replace(/(\.\d{3})\d*/, '$1')), ...usedBy(state.Pid) };
    if (performance.now() > until) throw new Error(`${name} is not ready: ${await podman('logs', name)}`);
  }
}

interface Inspected {
  readonly State: { readonly StartedAt: string; readonly Pid: number };
}

const inspected = async (podman: Podman, name: string): Promise<readonly [Inspected]> =>
  JSON.parse(await podman('inspect', '--type', 'container', name)) as readonly [Inspected];

/** From /proc, in ticks of a hundredth of a second and pages of 4 KiB. */
function usedBy(pid: number): Omit<Start, 'readyMs'> {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const [user = 0, system = 0, pages = 0] = [fields[11], fields[12], fields[21]].map(Number);
  return { processorMs: (user + system) * 10, residentBytes: pages * 4_096 };
}
