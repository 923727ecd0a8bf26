// The Kafka adapter with few places for work; see `lowered-limits.ts`.
import { type KafkaBus, type KafkaOptions, openKafka as open } from '@dormouse/adapter-kafka';
import { callPlaces } from './places.ts';

export * from '@dormouse/adapter-kafka';

export const openKafka = (options: KafkaOptions): Promise<KafkaBus> => {
  options.logger.info('limits_lowered', { callPlaces });
  return open({ ...options, workInFlightMax: callPlaces });
};
