export type { GroupLag } from './group-lags.ts';
export type { BusIdentity } from './installation-mark.ts';
export type { KafkaBus, KafkaOptions } from './open-kafka.ts';
export { openKafka } from './on-demand.ts';
export type { TopicPlan } from './topics.ts';
export { asyncApiDocument } from './records/asyncapi.ts';
