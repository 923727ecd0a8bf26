// Errors of SQLite as plain values, so that they can cross threads, and the kind of each one.

/** An error of SQLite by its number, or any other error. */
export interface SqliteFailure {
  readonly message: string;
  /** SQLite's extended result code, or null when the error is not SQLite's. */
  readonly errcode: number | null;
}

/** `passing` may go away by itself; `own` is the fault of the statement itself. */
export type Trouble = 'damage' | 'full' | 'busy' | 'not_writable' | 'passing' | 'own';

const troubles: ReadonlyMap<number, Trouble> = new Map([
  [5, 'busy'], // SQLITE_BUSY
  [6, 'busy'], // SQLITE_LOCKED
  [7, 'passing'], // SQLITE_NOMEM
  [8, 'not_writable'], // SQLITE_READONLY
  [9, 'passing'], // SQLITE_INTERRUPT
  [10, 'passing'], // SQLITE_IOERR
  [11, 'damage'], // SQLITE_CORRUPT
  [13, 'full'], // SQLITE_FULL
  [14, 'not_writable'], // SQLITE_CANTOPEN
  [26, 'damage'], // SQLITE_NOTADB
]);

export function troubleOf(failure: SqliteFailure): Trouble {
  if (failure.errcode === null) return 'own';
  return troubles.get(failure.errcode & 0xff) ?? 'own';
}

export function failureOf(error: unknown): SqliteFailure {
  if (!(error instanceof Error)) return { message: String(error), errcode: null };
  const errcode = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;
  return { message: error.message, errcode };
}
