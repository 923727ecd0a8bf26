export { inspectRedis, openRedis } from './on-demand.ts';
export type { RedisHints, RedisOptions } from './open-redis.ts';
export { redisUrlProblem } from './redis-address.ts';
