export { openRedis, type RedisHints, type RedisOptions } from './open-redis.ts';
