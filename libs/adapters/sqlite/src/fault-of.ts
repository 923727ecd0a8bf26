// What an error of SQLite means to whoever asked: a Fault with a code that says whose turn it is.
//
// Invariants:
//   F1. Whatever may pass by itself (disk full, input/output, locks) is UNAVAILABLE: asking again is right.
//   F2. Damage is DATABASE_CORRUPT and says what to do next.
//   F3. Anything else is a bug of ours and stays the error it was.
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
