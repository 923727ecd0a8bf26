// Translates an error of SQLite into an error for the caller: a Fault whose code says what can be done.
//
// Invariants:
//   F1. A failure that may pass by itself (disk full, input/output, locks) is UNAVAILABLE: a retry is right.
//   F2. Damage is DATABASE_CORRUPT, with the next step for the operator.
//   F3. Any other error is a bug of Dormouse and stays unchanged.
import { Fault } from '@dormouse/ports';
import { unreachable } from '@dormouse/thread';
import { type SqliteFailure, troubleOf } from './sqlite-failure.ts';

const retryAfterMs = 1_000;

/** The error to throw for a failed operation. */
export function faultOf(failure: SqliteFailure): Error {
  const trouble = troubleOf(failure);
  switch (trouble) {
    case 'damage':
      return corrupt(`SQLite says: ${failure.message}`);
    case 'full':
      return unavailable('The disk of the data directory is full: free some space, then try again.');
    case 'busy':
    case 'not_writable':
    case 'passing':
      return unavailable(`The database cannot be used now: ${failure.message}.`);
    case 'own':
      return new Error(
        failure.errcode === null ? failure.message : `SQLite error ${failure.errcode}: ${failure.message}`,
      );
    default:
      return unreachable(trouble);
  }
}

export const unavailable = (detail: string): Fault => new Fault('UNAVAILABLE', detail, { retryAfterMs });

export const corrupt = (why: string): Fault =>
  new Fault(
    'DATABASE_CORRUPT',
    `dormouse.db is damaged. ${why}. Stop every process, copy the data directory aside, then restore a backup ` +
      'or salvage what is readable with: sqlite3 dormouse.db .recover',
  );
