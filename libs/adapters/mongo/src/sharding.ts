// Which collections a sharded MongoDB spreads over its servers and by which key, and the commands for it.
//
// Invariants:
//   P1. Every collection is in the table. (sharding.spec.ts)
//   P2. Every unique index of a sharded collection begins with its shard key, or is that of `_id` and `_id` determines
//       the key: MongoDB refuses the first otherwise, and checks the second on each of its servers alone.
//   P3. A collection is sharded by `_id` where its upserts find their document by `_id`: MongoDB wants the shard key in
//       the filter of an upsert.
//   P4. The commands change no document, and may be repeated: those that were carried out before change nothing, or say
//       so.

/** How MongoDB spreads a collection; null for one that stays on the primary server of the database. */
export type ShardKey = Readonly<Record<string, 1 | 'hashed'>> | null;

interface Spread {
  readonly key: ShardKey;
  readonly why: string;
  /** An index of the schema that begins with the key and that no array is in: MongoDB needs no other. */
  readonly supportedBy?: string;
}

const byId: ShardKey = { _id: 'hashed' };
const stays = (why: string): Spread => ({ key: null, why });

export const spreads: Readonly<Record<string, Spread>> = {
  commits: { key: { shard: 1 }, why: 'the log; each value is one indivisible range, moved as a whole' },
  timers: { key: { partition: 1 }, why: 'a processor asks for those of its partitions', supportedBy: 'by_due' },
  threads: { key: { tenant: 1 }, why: 'external ids are unique in a tenant, lists are of one', supportedBy: 'newest' },
  audit: { key: { tenant: 1, seq: 1 }, why: 'rows are read in order, of one tenant', supportedBy: 'in_order' },
  thread_usage: { key: byId, why: 'written by id; sums ask all servers' },
  snapshots: { key: byId, why: 'read and written by id' },
  blobs: { key: byId, why: 'read and written by id' },
  claims: { key: byId, why: 'read and written by id' },
  idempotency: { key: byId, why: 'read and written by id' },
  views: { key: byId, why: 'written by id; the list of a thread asks all servers' },
  sealed: { key: byId, why: 'written by id; the list of a thread asks all servers' },
  questions: { key: byId, why: 'written by id; the inbox asks all servers' },
  callback_counts: { key: byId, why: 'written by id; lineage asks all servers' },
  deliveries: { key: byId, why: 'written by id; the list of an endpoint asks all servers' },
  webhooks: stays('small'),
  webhook_readers: stays('a document for each tenant with webhooks'),
  source_deliveries: { key: byId, why: 'read and written by id' },
  sources: stays('small'),
  schedules: stays('small'),
  tenant_tallies: { key: byId, why: 'written by id; sums ask all servers' },
  user_credentials: { key: byId, why: 'read and written by id; the list of a user asks all servers' },
  erasures: stays('few documents'),
  family_keys: { key: byId, why: 'read and written by id' },
  tenants: stays('few documents'),
  held_threads: stays('documents of what is suspended or paused only'),
  paused_agents: stays('small'),
  parked: stays('few documents'),
  parked_inputs: stays('few documents'),
  agents: stays('small'),
  tool_servers: stays('small'),
  secrets: stays('small'),
  api_keys: stays('small'),
  toolsets: stays('small'),
  toolsets_last_good: stays('small'),
  tool_activity: stays('small: buckets expire'),
  tool_discoveries: stays('small'),
  revokedTokens: stays('small: documents expire'),
  installation: stays('one document'),
  migrations: stays('a document for each migration'),
  sharding: stays('one document'),
};

/** One statement for mongosh, in a session with a mongos. */
export interface ShardingStatement {
  /** Null for what concerns all. */
  readonly collection: string | null;
  readonly run: string;
  readonly why: string;
}

/** Ranges above this size are moved by no balancer, MiB; the most that MongoDB takes. */
const rangeMibMax = 1_024;

export function shardingStatements(database: string, shards: number): readonly ShardingStatement[] {
  const inDatabase = JSON.stringify(database);
  return [
    ...[
      statement(null, `db = db.getSiblingDB(${inDatabase})`, 'the database of this installation'),
      statement(null, `sh.enableSharding(${inDatabase})`, 'does nothing where it was done before'),
      statement(null, serverNames, 'the names of the MongoDB shards'),
    ],
    ...Object.entries(spreads).flatMap(([collection, spread]) => sharding(database, collection, spread)),
    ...moves(database, 'commits', 'shard', shards),
  ];
}

const serverNames = 'servers = db.adminCommand({ listShards: 1 }).shards.map(({ _id }) => _id).sort()';

const statement = (collection: string | null, run: string, why: string): ShardingStatement => ({
  ...{ collection, run, why },
});

function sharding(
  database: string,
  collection: string,
  { key, why, supportedBy }: Spread,
): readonly ShardingStatement[] {
  if (key === null) return [];
  const of = JSON.stringify(`${database}.${collection}`);
  const by = JSON.stringify(key);
  const index = `db.getCollection(${JSON.stringify(collection)}).createIndex(${by})`;
  return [
    ...(supportedBy === undefined ? [statement(collection, index, 'no other index supports the shard key')] : []),
    statement(collection, `sh.shardCollection(${of}, ${by})`, why),
  ];
}

/** One range for each value of the field, dealt out to the servers in turn. */
function moves(database: string, collection: string, field: string, values: number): readonly ShardingStatement[] {
  const of = JSON.stringify(`${database}.${collection}`);
  const at = (value: number): string => `{ ${field}: ${value} }`;
  const range = (value: number): string => {
    const min = value === 0 ? `{ ${field}: MinKey() }` : at(value);
    const max = value === values - 1 ? `{ ${field}: MaxKey() }` : at(value + 1);
    return `min: ${min}, max: ${max}`;
  };
  const all = Array.from({ length: values }, (_, value) => value);
  return [
    statement(
      collection,
      `db.adminCommand({ configureCollectionBalancing: ${of}, chunkSize: ${rangeMibMax} })`,
      `a range may have ${rangeMibMax} MiB before the balancer leaves it where it is`,
    ),
    ...all
      .slice(1)
      .map((value) =>
        statement(
          collection,
          `try { sh.splitAt(${of}, ${at(value)}) } catch (error) { print(error.message) }`,
          `a range of its own for ${value}; MongoDB refuses to split where it was split before`,
        ),
      ),
    ...all.map((value) =>
      statement(
        collection,
        `db.adminCommand({ moveRange: ${of}, toShard: servers[${value} % servers.length], ${range(value)}, forceJumbo: true })`,
        'writes to the collection wait while a large range moves',
      ),
    ),
  ];
}
