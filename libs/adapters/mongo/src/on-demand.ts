// The driver is a fifth of what a process loads at its start: only one that opens a database loads it.
import type { MongoOptions, MongoStores } from './open-mongo.ts';

/** @throws Fault UNAVAILABLE, INDEX_MISSING. */
export const openMongo = async (options: MongoOptions): Promise<MongoStores> =>
  (await import('./open-mongo.ts')).openMongo(options);
