// A poison input, put into the topic by hand as only a bug of ours would write it.
import { Kafka, logLevel } from 'kafkajs';

/** As a later release might write it, and undecidable in any. */
export const poison = { kind: 'FromTheFuture', id: 'c:poison' };

/** Resolves when the broker has it. */
export async function injectPoison(brokers: string, prefix: string, thread: string): Promise<void> {
  const producer = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  const value = JSON.stringify({ tenant: 'local', thread, input: poison });
  await producer.send({ topic: `${prefix}inputs`, messages: [{ key: `local:${thread}`, value }] });
  await producer.disconnect();
}
