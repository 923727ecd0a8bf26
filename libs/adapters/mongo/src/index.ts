export type { Installation, InstallationBus, InstallationRecord } from './stores/installation.ts';
export type { MongoOptions, MongoStores } from './open-mongo.ts';
export { openMongo } from './on-demand.ts';
export type { MongoCounters } from './mongo-server.ts';
export { type ShardingStatement, shardingStatements } from './sharding.ts';
export { mongoUrlProblem } from './url-problem.ts';
