export { inspectRedis } from './inspect-redis.ts';
export { openRedis, type RedisHints, type RedisOptions } from './open-redis.ts';
export { redisUrlProblem } from './redis-address.ts';
