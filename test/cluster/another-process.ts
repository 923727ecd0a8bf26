// Another process of a service of an installation, beside those that its launcher keeps running: nothing starts it
// again.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../e2e/conversation.ts';
import { freePort } from '../services/free-ports.ts';
import type { Cluster, ServerUrls } from './cluster-process.ts';

export interface AnotherProcess {
  /** Of its own door, where it has one. */
  readonly url: string;
  /** Of its operations port. */
  readonly health: number;
  /** What it has written. */
  readonly output: () => string;
  /** Resolves when it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export type ServiceWithCopies = 'ingress-gateway' | 'thread-processor' | 'tool-dispatcher';

/** Resolves when it is ready: as a member of its group, with partitions or without. */
export async function startAnother(
  service: ServiceWithCopies,
  at: Cluster,
  servers: ServerUrls,
  settings: Readonly<Record<string, string>> = {},
): Promise<AnotherProcess> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
  const [port, health] = [await freePort(), await freePort()];
  const file = join(at.directory, `another-${service}-${port}.out`);
  const descriptor = openSync(file, 'a');
  const main = fileURLToPath(new URL(`../../apps/${service}/dist/main.js`, import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: {
      ...inherited,
      DORMOUSE_KAFKA_BROKERS: servers.kafka,
      DORMOUSE_KAFKA_PREFIX: at.prefix,
      DORMOUSE_MONGO_URL: Object.assign(new URL(servers.mongo), { pathname: `/${at.database}` }).href,
      DORMOUSE_REDIS_URL: servers.redis,
      DORMOUSE_MASTER_KEY: readFileSync(join(at.directory, 'master-key'), 'utf8').trim(),
      DORMOUSE_CALLBACK_BASE_URL: `http://127.0.0.1:${Number(new URL(at.url).port) + 1}`,
      DORMOUSE_OUTBOUND_ALLOW: 'http://127.0.0.0/8',
      DORMOUSE_PORT: String(port),
      DORMOUSE_HEALTH_PORT: String(health),
      ...settings,
    },
    stdio: ['ignore', descriptor, descriptor],
  });
  closeSync(descriptor);
  const output = (): string => readFileSync(file, 'utf8');
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${service} ended with ${child.exitCode}:\n${output()}`);
    return output().includes(`ready ${service}`);
  });
  return {
    ...{ url: `http://127.0.0.1:${port}`, health, output },
    end: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}
