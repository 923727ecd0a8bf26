// Which partition a thread belongs to: Kafka's own way to spread keys, so that any other tool of Kafka agrees.
import type { ThreadKey } from '@dormouse/ports';
import { Partitioners } from 'kafkajs';

export const recordKeyOf = ({ tenant, thread }: ThreadKey): string => `${tenant}:${thread}`;

/** Murmur2 of the record's key, modulo the number of partitions. */
export function createPartitioner(count: number): (key: ThreadKey) => number {
  const choose = Partitioners.DefaultPartitioner();
  const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
    ...{ partitionId, leader: 0, partitionErrorCode: 0, replicas: [], isr: [] },
  }));
  return (key) => choose({ topic: '', partitionMetadata, message: { key: recordKeyOf(key), value: null } });
}
