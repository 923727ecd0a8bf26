// The Kafka adapter passes the contracts of both buses on a real broker; a prefix of its own for every opening.
import { type KafkaBus, openKafka } from '@dormouse/adapter-kafka';
import { createManualClock, createMemoryWorld } from '@dormouse/adapter-memory';
import type { Logger, ThreadLog } from '@dormouse/ports';
import { type InputBusUnderTest, inputBusContract, workBusContract } from '@dormouse/ports/contracts';
import { randomBytes } from 'node:crypto';
import { withServices } from '../services/needed-services.ts';

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** In memory, of any number of processes. */
const freshLog = (): ThreadLog =>
  createMemoryWorld({ clock: createManualClock(), topology: 'durable' }).ports('log').log;

withServices(['kafka'], ({ kafka }) => {
  const freshPrefix = (): string => `test-${randomBytes(6).toString('hex')}.`;
  const open = (prefix: string): Promise<KafkaBus> =>
    openKafka({
      brokers: kafka.split(','),
      prefix,
      clientId: 'test',
      logger: silent,
      makeTopics: { partitions: 4, replication: 1, retentionMs: 14 * 86_400_000 },
    });

  async function openInputs(prefix: string, log: ThreadLog): Promise<InputBusUnderTest> {
    const bus = await open(prefix);
    return {
      inputs: bus.inputs,
      log,
      close: () => bus.close(),
      reopen: async () => {
        await bus.close();
        return openInputs(prefix, log);
      },
    };
  }

  inputBusContract('kafka', () => openInputs(freshPrefix(), freshLog()));
  workBusContract('kafka', async () => {
    const bus = await open(freshPrefix());
    return { work: bus.work, close: () => bus.close() };
  });
});
