// Which partition of the bus a thread belongs to: Kafka's own hash of keys, so that every other Kafka tool agrees. The
// shards of the log are chosen by the same function.
import { murmur2 } from '@dormouse/collections';
import type { ThreadKey } from '../log/thread-key.ts';

/** The key of a record, and what is hashed. */
export const recordKeyOf = ({ tenant, thread }: ThreadKey): string => `${tenant}:${thread}`;

/** The hash of the record's key, modulo the number of partitions. */
export function createPartitioner(count: number): (key: ThreadKey) => number {
  return (key) => murmur2(recordKeyOf(key)) % count;
}
