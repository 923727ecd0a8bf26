// What `npm run bench:bytes` writes to bench/results/bytes.json.

type ByName = Readonly<Record<string, number>>;

export interface StoredBytes {
  /** UTC. */
  readonly at: string;
  readonly turns: number;
  readonly sleepers: number;
  /** By topic; one copy. */
  readonly kafkaBytesPerTurn: ByName;
  readonly kafkaBytesPerSleeper: ByName;
  /** By collection, without indexes; one copy. */
  readonly mongoBytesPerTurn: ByName;
  readonly mongoDocumentsPerTurn: ByName;
  readonly mongoBytesPerSleeper: ByName;
  readonly mongoDocumentsPerSleeper: ByName;
  readonly indexKeysPerCommit: number;
  /** Until it expires, after a day. */
  readonly redisBytesPerTurn: number;
  readonly redisBytesPerOpenCall: number;
  readonly redisKeysPerOpenCall: number;
  /** Of all five services, one process each, under load. */
  readonly connections: Readonly<Record<'kafka' | 'mongo' | 'redis', number>>;
  /** With indexes. */
  readonly sqlite: { readonly bytesPerTurn: number; readonly bytesPerSleeper: number };
}
