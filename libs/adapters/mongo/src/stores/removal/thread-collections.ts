// Which collections have documents of a thread, and which removal takes them. A collection that is in none of these
// lists fails a spec (sharding.spec.ts); the erasure of a tenant takes them all.

/** Derived from the log or stored beside it. The `_id` begins with tenant and thread. */
export const copyCollections: readonly string[] = ['snapshots', 'timers', 'views', 'sealed', 'parked', 'parked_inputs'];

/** Go with the log. The `_id` begins with tenant and thread. */
export const recordCollections: readonly string[] = ['claims', 'callback_counts', 'held_threads'];

/** Have documents of threads too, and are treated one by one, or not at all. (thread-remover, ports R3) */
export const otherThreadCollections: readonly string[] = [
  ...['threads', 'questions', 'blobs', 'idempotency', 'commits', 'family_keys'],
  ...['thread_usage', 'revokedTokens', 'source_deliveries'],
];

/** Have no document of a thread. */
export const threadlessCollections: readonly string[] = [
  ...['audit', 'deliveries', 'webhooks', 'webhook_readers', 'sources', 'schedules', 'tenant_tallies'],
  ...[
    'erasures',
    'user_credentials',
    'tenants',
    'agents',
    'paused_agents',
    'tool_servers',
    'secrets',
    'api_keys',
    'toolsets',
    'toolsets_last_good',
  ],
  ...['tool_activity', 'tool_discoveries', 'installation', 'migrations', 'sharding'],
];
