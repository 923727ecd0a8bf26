export type { PinnedDatabase } from './copy/pinned-database.ts';
export { openSqlite, type SqliteOptions, type SqliteStores } from './open-sqlite.ts';
export type { WriterCounters } from './writer/writer-counters.ts';
