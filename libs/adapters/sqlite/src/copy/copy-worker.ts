// The thread that checks a copied database, page by page.
//
// Runs from source too, where packages of this repository cannot be imported: only `node:` and files beside this one.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { failureOf } from '../file/sqlite-failure.ts';

export interface CopyVerdict {
  /** Null when every page is in order. */
  readonly problem: string | null;
}

parentPort?.postMessage({ problem: problemOf((workerData as { readonly file: string }).file) } satisfies CopyVerdict);

function problemOf(file: string): string | null {
  try {
    const database = new DatabaseSync(file);
    try {
      const said = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
      return said === 'ok' ? null : String(said);
    } finally {
      database.close(); // the last connection: it leaves no file beside the copy
    }
  } catch (error) {
    return failureOf(error).message;
  }
}
