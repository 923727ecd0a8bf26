// Which partition a thread belongs to: Kafka's own hash of keys, so that every other Kafka tool agrees.
import type { ThreadKey } from '@dormouse/ports';

export const recordKeyOf = ({ tenant, thread }: ThreadKey): string => `${tenant}:${thread}`;

/** Murmur2 of the record's key, modulo the number of partitions. */
export function createPartitioner(count: number): (key: ThreadKey) => number {
  return (key) => (murmur2(Buffer.from(recordKeyOf(key))) & 0x7fff_ffff) % count;
}

const seed = 0x9747_b28c;
const multiplier = 0x5bd1_e995;

/** As Kafka's clients compute it, 32 bits, signed. (kafkajs uses BigInt: 30 µs per turn in the thread-processor.) */
function murmur2(bytes: Buffer): number {
  const whole = bytes.length & ~3;
  let hash = seed ^ bytes.length;
  for (let at = 0; at < whole; at += 4) {
    const word = Math.imul(bytes.readInt32LE(at), multiplier);
    hash = Math.imul(hash, multiplier) ^ Math.imul(word ^ (word >>> 24), multiplier);
  }
  if (whole < bytes.length) hash = Math.imul(hash ^ bytes.readUIntLE(whole, bytes.length - whole), multiplier);
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
}
