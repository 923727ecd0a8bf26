// Which tables have rows of a thread, and which removal takes them. A table with a column `thread` that is in none of
// these lists fails a spec (tenant-eraser.spec.ts), and the erasure of a tenant takes them all.

/** Derived from the log or stored beside it; found by tenant and thread in an index. */
export const copyTables: readonly string[] = [
  ...['snapshots', 'timers', 'views', 'logins', 'parked_threads', 'parked_inputs'],
];

/** Go with the log; found by tenant and thread in an index. */
export const recordTables: readonly string[] = ['callback_counts', 'held_threads'];

/** Have rows of threads too, and are treated one by one, or not at all. (thread-remover T3, T4, ports R3) */
export const otherThreadTables: readonly string[] = [
  ...['threads', 'thread_metadata', 'questions', 'ledger', 'attempts', 'blob_threads', 'thread_numbers'],
  ...['thread_usage', 'revoked_tokens', 'source_deliveries'],
];
