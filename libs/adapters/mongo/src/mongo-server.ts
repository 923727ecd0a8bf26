// The connection: how the server is reached, what its errors mean, and how often it was called.
//
// Invariants:
//   C1. Every write waits for a majority and its journal; every read asks the primary. The driver retries nothing:
//       after an unknown outcome the caller decides, which knows what was written.
//   C2. Every failure of a server or a network is UNAVAILABLE; a failed read is never "nothing there". (thread-log L6)
//   C3. Only the code of an error is used, never its text: two compatible servers have different texts.
//   C4. The URL, which may contain a password, is never repeated.
//   C5. What Mongoose refuses before it sends anything (a field that no schema declares) is our own mistake: it stays
//       what it is, and is not UNAVAILABLE, which callers repeat.
import { certificateProblem, Fault, type Metrics, networkErrorCode, noMetrics } from '@dormouse/ports';
import mongoose, { type Connection, type Model, type QueryFilter, type UpdateQuery } from 'mongoose';
import { checkShapes } from './document-shape.ts';
import './driver-internals.ts';

/** Round trips since opening, by purpose. */
export interface MongoCounters {
  readonly reads: number;
  readonly writes: number;
  /** Writes of groups of commits, and the commits stored by them. */
  readonly groups: number;
  readonly commits: number;
  readonly unknownOutcomes: number;
}

export interface MongoServer {
  /** Its models check what they read (`document-shape.ts`). */
  readonly connection: Connection;
  /** One query. @throws Fault UNAVAILABLE (C2), DATABASE_CORRUPT. */
  read<Answer>(ask: () => PromiseLike<Answer>): Promise<Answer>;
  /** One change. Errors about the data (a duplicate key) stay what they are. */
  write<Answer>(change: () => PromiseLike<Answer>): Promise<Answer>;
  /** Times the insert of a group of commits, whose errors say more than those of other changes. */
  timedAppend<Answer>(insert: () => PromiseLike<Answer>): Promise<Answer>;
  counted: { -readonly [name in keyof MongoCounters]: number };
  /** @throws Fault UNAVAILABLE when the server does not answer. */
  ping(): Promise<void>;
  /** The time of the server, milliseconds since the epoch. @throws Fault UNAVAILABLE. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly url: string;
  /** Default: the one in the URL, else `dormouse`. */
  readonly database?: string | undefined;
  readonly selectionTimeoutMs?: number | undefined;
  readonly connectionsMax?: number | undefined;
  /** Default: none. */
  readonly metrics?: Metrics | undefined;
}

const duplicateKey = 11_000;
/** FerretDB's answer when PostgreSQL found two writers waiting for each other; neither write was stored. */
const deadlock = 16_908_292;
const authenticationFailed = 18;
const unauthorized = 13;
const tlsSettings = {
  authority: 'tlsCAFile=… of its query',
  certificate: 'tlsCertificateKeyFile=… of its query',
};
const sizeCodes: ReadonlySet<unknown> = new Set([10_334, 16]);
/** Without a database in the URL the driver would use `test`. */
const namesDatabase = /^[a-z+]+:\/\/[^/]+\/[^?]/;
const defaultDatabase = 'dormouse';
const deadlockTriesMax = 20;
const retryAfterMs = 1_000;

export async function connectServer(options: ServerOptions): Promise<MongoServer> {
  const inUrl = namesDatabase.test(options.url) ? undefined : defaultDatabase;
  const connection = mongoose.createConnection(options.url, {
    dbName: options.database ?? inUrl,
    bufferCommands: false,
    retryWrites: false,
    retryReads: false,
    writeConcern: { w: 'majority', journal: true },
    readPreference: 'primary',
    serverSelectionTimeoutMS: options.selectionTimeoutMs ?? 4_000,
    maxPoolSize: options.connectionsMax ?? 32,
    autoIndex: false,
    autoCreate: false,
  });
  connection.plugin(checkShapes);
  try {
    await connection.asPromise();
  } catch (error) {
    await connection.destroy();
    throw faultOf(error);
  }
  const { metrics = noMetrics } = options;
  const times = {
    reads: metrics.histogram('dormouse_store_duration_seconds', 'mongo', 'read'),
    writes: metrics.histogram('dormouse_store_duration_seconds', 'mongo', 'write'),
    appends: metrics.histogram('dormouse_store_duration_seconds', 'mongo', 'append'),
  };
  const counted = { reads: 0, writes: 0, groups: 0, commits: 0, unknownOutcomes: 0 };

  /** A trip that fails is timed, too: an outage is the longest of them. */
  async function timed<Answer>(work: () => PromiseLike<Answer>, kind: keyof typeof times): Promise<Answer> {
    const from = performance.now();
    try {
      return await work();
    } finally {
      times[kind].record((performance.now() - from) / 1_000);
    }
  }

  async function trip<Answer>(work: () => PromiseLike<Answer>, kind: 'reads' | 'writes'): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      counted[kind] += 1;
      try {
        return await timed(work, kind);
      } catch (error) {
        if (codeOf(error) === deadlock && tries < deadlockTriesMax) continue;
        throw isDuplicate(error) || error instanceof mongoose.Error ? error : faultOf(error); // (C5)
      }
    }
  }

  return {
    connection,
    read: (ask) => trip(ask, 'reads'),
    write: (change) => trip(change, 'writes'),
    timedAppend: (insert) => timed(insert, 'appends'),
    counted,
    ping: async () => void (await trip(() => connection.db!.command({ ping: 1 }), 'reads')),
    now: async () => {
      const { localTime } = await trip(() => connection.db!.command({ hello: 1 }), 'reads');
      return new Date(localTime as Date).getTime();
    },
    close: () => connection.close(),
  };
}

/** For writes of several documents; without the second, Mongoose would leave out in silence what the schema refuses. */
export const unordered = { ordered: false, throwOnValidationError: true } as const;

/** False when another document has its `_id`, or its key in a unique index. */
export async function inserted<Document>(
  server: MongoServer,
  model: Model<Document>,
  document: Document,
): Promise<boolean> {
  try {
    await server.write(() => model.insertOne(document as object));
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** False when no document matches. */
export const updated = async <Document>(
  server: MongoServer,
  model: Model<Document>,
  filter: QueryFilter<Document>,
  update: UpdateQuery<Document>,
): Promise<boolean> => (await server.write(() => model.updateOne(filter, update))).matchedCount === 1;

/** False when no document matches. */
export const removed = async <Document>(
  server: MongoServer,
  model: Model<Document>,
  filter: QueryFilter<Document>,
): Promise<boolean> => (await server.write(() => model.deleteOne(filter))).deletedCount === 1;

/** An upsert, which is repeated as a plain change when another writer has inserted the document meanwhile. */
export async function upserted<Answer>(
  server: MongoServer,
  change: (options: { readonly upsert: boolean }) => PromiseLike<Answer>,
): Promise<Answer> {
  try {
    return await server.write(() => change({ upsert: true }));
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return await server.write(() => change({ upsert: false }));
  }
}

export const isDuplicate = (error: unknown): boolean => codeOf(error) === duplicateKey;

/** The error of a write of several documents when some of them failed. */
export interface BulkError {
  readonly writeErrors?: WriteError | readonly WriteError[];
  readonly result?: { getWriteConcernError?(): unknown };
}

export interface WriteError {
  /** Place in the group. */
  readonly index: number;
  readonly code?: number;
}

/** The failures of single documents; null for any other error, after which nothing is known of any document. */
export function singleFailures(error: unknown): readonly WriteError[] | null {
  const { writeErrors = [], result } = error as BulkError;
  const list = [writeErrors].flat();
  return list.length === 0 || result?.getWriteConcernError?.() !== undefined ? null : list;
}

/** Places of a group that were not inserted because the documents exist; null when anything else failed, too. */
export function duplicatePlaces(error: unknown): ReadonlySet<number> | null {
  const failures = singleFailures(error);
  return failures?.every(isDuplicate) === true ? new Set(failures.map(({ index }) => index)) : null;
}

export const isDeadlock = (error: unknown): boolean => codeOf(error) === deadlock;

/** A document above the server's limit: MongoDB's code, and that of servers with a lower limit. */
export const isSizeRefusal = (error: unknown): boolean => sizeCodes.has(codeOf(error));

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}

/** True when no server was reached, so that nothing can have been stored. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof Error && ['MongoServerSelectionError', 'MongoNotConnectedError'].includes(error.name);
}

export function faultOf(error: unknown): Error {
  if (error instanceof Fault) return error;
  const certificate = certificateProblem(error, tlsSettings) ?? certificateProblem(reasonOf(error), tlsSettings);
  if (certificate !== null) return unavailable(`The database (DORMOUSE_MONGO_URL): ${certificate}`, error);
  const unreachable = networkErrorCode(error) ?? networkErrorCode(reasonOf(error));
  if (unreachable !== null) return unavailable(`No database answers at DORMOUSE_MONGO_URL (${unreachable}).`, error);
  const { name, code } = error as { readonly name?: string; readonly code?: string | number };
  if (selectionFailed.has(name ?? ''))
    return unavailable(
      'No database answers at DORMOUSE_MONGO_URL in time: it has no primary, or what is sent to it is dropped, as a firewall or a NetworkPolicy does.',
      error,
    );
  if (code === authenticationFailed)
    return unavailable('The database refuses our credentials: see DORMOUSE_MONGO_URL.', error);
  if (code === unauthorized)
    return unavailable(
      'The database does not let us do our work: see the roles of the user in DORMOUSE_MONGO_URL.',
      error,
    );
  const what = code === undefined ? String(name) : `${String(name)}, code ${code}`;
  return unavailable(`The database does not answer as it should (${what}): see its log and DORMOUSE_MONGO_URL.`, error);
}

/** Of the driver and of Mongoose, without a reason from the network. */
const selectionFailed = new Set(['MongoServerSelectionError', 'MongooseServerSelectionError']);

const unavailable = (words: string, cause: unknown): Fault => new Fault('UNAVAILABLE', words, { retryAfterMs, cause });

/** Why no server could be chosen: the error of the first of them. */
function reasonOf(error: unknown): unknown {
  const { reason } = error as {
    readonly reason?: { readonly servers?: ReadonlyMap<string, { readonly error?: unknown }> };
  };
  return [...(reason?.servers?.values() ?? [])].find((server) => server.error !== null)?.error;
}
