// Another thread-processor of an installation, beside the one that its launcher keeps running: nothing starts it again.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../e2e/conversation.ts';
import { freePort } from '../services/free-ports.ts';
import type { Cluster, ServerUrls } from './cluster-process.ts';

export interface SecondProcessor {
  /** Of its operations port. */
  readonly health: number;
  /** Resolves when it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

const main = fileURLToPath(new URL('../../apps/thread-processor/dist/main.js', import.meta.url));

/** Resolves when it is ready: as a member of the group, with partitions or without. */
export async function startSecondProcessor(
  at: Cluster,
  servers: ServerUrls,
  settings: Readonly<Record<string, string>>,
): Promise<SecondProcessor> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
  const health = await freePort();
  const file = join(at.directory, 'second-processor.out');
  const output = openSync(file, 'a');
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
      DORMOUSE_HEALTH_PORT: String(health),
      ...settings,
    },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await eventually(async () => readFileSync(file, 'utf8').includes('ready thread-processor'));
  return {
    health,
    end: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}
