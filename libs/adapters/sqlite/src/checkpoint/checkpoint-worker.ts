// The thread that checkpoints the write-ahead log into the database file while the writer goes on. It is started when a
// log has grown too long for the first time, and sleeps until a checkpoint is requested. Frames that a transaction
// stores during a checkpoint are left for the writer.
//
// Runs from source too, where packages of this repository cannot be imported: only `node:` and files beside this one.
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { type CheckpointSetup, createCheckpointLine } from './checkpoint-line.ts';
import { failureOf, troubleOf } from '../file/sqlite-failure.ts';
import { busyMsMax } from '../writer/transaction.ts';

const setup = workerData as CheckpointSetup;
const line = createCheckpointLine(setup.line);
const database = new DatabaseSync(setup.file, { timeout: busyMsMax });
database.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0'); // syncs the log first, then the file
const noop = database.prepare('PRAGMA wal_checkpoint(NOOP)');
const passive = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
line.ready();
while (line.next()) line.answer(carryOver());
database.close();

/** `failed` when the disk is full, or another connection checkpoints: the log keeps everything until a retry. */
function carryOver(): 'carried' | 'failed' {
  try {
    const before = noop.get()?.['checkpointed'];
    const after = passive.get();
    return after?.['busy'] === 0 && Number(after['checkpointed']) > Number(before) ? 'carried' : 'failed';
  } catch (error) {
    if (troubleOf(failureOf(error)) === 'own') throw error;
    return 'failed';
  }
}
