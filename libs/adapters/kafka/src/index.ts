export type { GroupLag } from './group-lags.ts';
export type { BusIdentity } from './installation-mark.ts';
export { type KafkaBus, type KafkaOptions, openKafka } from './open-kafka.ts';
export type { TopicPlan } from './topics.ts';
export { asyncApiDocument } from './records/asyncapi.ts';
