// How long the store takes by itself for what an acknowledgement waits for, beside the load: in a cluster a record that
// every replica has (acks=all), standalone a page that is appended and synced in the data directory.
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface StoreProbe {
  /** Milliseconds of each write since then. */
  since(performanceNow: number): readonly number[];
  close(): Promise<void>;
}

const everyMs = 100;
const valueBytes = 500;
const pageBytes = 4_096;

interface Writer {
  write(): Promise<void>;
  close(): Promise<void>;
}

export async function probeStore(
  where: { readonly kafka: string } | { readonly directory: string },
): Promise<StoreProbe> {
  const writer = 'kafka' in where ? await recordWriter(where.kafka) : await pageWriter(where.directory);
  const times: { readonly at: number; readonly tookMs: number }[] = [];
  const closing = new AbortController();
  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const at = performance.now();
      await writer.write();
      times.push({ at, tookMs: performance.now() - at });
      await sleep(everyMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }
  const running = run();
  running.catch(() => {}); // reported by `close`
  return {
    since: (from) => times.filter(({ at }) => at >= from).map(({ tookMs }) => tookMs),
    close: async () => {
      closing.abort();
      try {
        await running;
      } finally {
        await writer.close();
      }
    },
  };
}

async function recordWriter(brokers: string): Promise<Writer> {
  const topic = `load-probe-${randomBytes(4).toString('hex')}`;
  const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
  await admin.disconnect();
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  return {
    write: async () => {
      await producer.send({ topic, acks: -1, messages: [{ key: 'k', value: 'v'.repeat(valueBytes) }] });
    },
    close: () => producer.disconnect(),
  };
}

async function pageWriter(directory: string): Promise<Writer> {
  const file = await open(join(directory, 'store-probe'), 'a');
  const page = Buffer.alloc(pageBytes, 1);
  return {
    write: async () => {
      await file.write(page);
      await file.datasync();
    },
    close: () => file.close(),
  };
}
