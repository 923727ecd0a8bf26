export { openSqlite, type SqliteOptions, type SqliteStores } from './open-sqlite.ts';
export type { WriterCounters } from './write-operation.ts';
