// Only a process that opens a bus loads the client.
import type { KafkaBus, KafkaOptions } from './open-kafka.ts';

/** @throws Fault UNAVAILABLE, TOPICS_UNFIT. */
export const openKafka = async (options: KafkaOptions): Promise<KafkaBus> =>
  (await import('./open-kafka.ts')).openKafka(options);
