// The thread that writes. It sleeps until the event loop posts, takes all posted operations, stores them in one
// transaction, answers, and looks again: what arrives while the disk is busy goes into the next group.
//
// Runs from source too, where packages of this repository cannot be imported: it imports `node:`, and files of this
// adapter that do the same.
//
// Invariants:
//   W1. Order of arrival is order of execution.
//   W2. This thread checkpoints between transactions only: the frames that the checkpoint thread left, or the whole log
//       if that thread falls behind. So the log stays bounded. (write-ahead-log H1, H2) SQLite's own checkpoints, which
//       run inside a COMMIT, are off.
import { DatabaseSync } from 'node:sqlite';
import { receiveMessageOnPort, workerData } from 'node:worker_threads';
import { isAppend } from './carry-out.ts';
import { createCommitAppender } from './append-commit.ts';
import { createCheckpointLine } from '../checkpoint/checkpoint-line.ts';
import { failureOf, troubleOf } from '../file/sqlite-failure.ts';
import { busyMsMax, createTransactions } from './transaction.ts';
import { createWriteAheadLog } from '../checkpoint/write-ahead-log.ts';
import { createCounterWriter } from './writer-counters.ts';
import { createWriterSignal } from './writer-signal.ts';
import type {
  ScrubOperation,
  WriteAnswer,
  WriteOperation,
  WriterMessage,
  WriterReply,
  WriterSetup,
} from './write-operation.ts';

const operationsPerTransactionMax = 2_048;
const idleBeforeCheckpointMs = 250;
/** Small on purpose: SQLite searches all of it after many transactions. ADR 18 */
const writerCacheKib = 4_096;

const setup = workerData as WriterSetup;
const { port } = setup;
const signal = createWriterSignal(setup.signal);
const database = new DatabaseSync(setup.file, { timeout: busyMsMax });
database.exec(
  `PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -${writerCacheKib}; PRAGMA journal_size_limit = 67108864`,
);
database.exec('PRAGMA secure_delete = ON'); // what is deleted or replaced is overwritten in its page
database.exec('PRAGMA temp_store = MEMORY'); // a temporary directory that is full or read-only must not stop commits. ADR 18
if (setup.pagesMax !== null) database.exec(`PRAGMA max_page_count = ${setup.pagesMax}`);
const appender = createCommitAppender(database);
const transactions = createTransactions(database, appender);
const counters = createCounterWriter(setup.counters);
const wal = createWriteAheadLog(database, counters, {
  framesMax: setup.walFramesMax,
  checkpointer: createCheckpointLine(setup.line),
  startCheckpointer: () => reply('log-is-long'),
  waitMsMax: busyMsMax,
});
serve();

function serve(): void {
  for (;;) {
    const seen = signal.posts();
    const { operations, isEnd } = takeAll();
    for (let from = 0; from < operations.length; from += operationsPerTransactionMax) {
      answer(operations.slice(from, from + operationsPerTransactionMax));
    }
    if (operations.length > 0) tolerating(() => wal.tend());
    if (isEnd) return finish();
    if (operations.length === 0) wait(seen);
  }
}

/** Sleeps until a post after `seen`. */
function wait(seen: number): void {
  if (signal.sleep(seen, wal.isClean() ? undefined : idleBeforeCheckpointMs) === 'timed-out')
    tolerating(() => wal.checkpoint('PASSIVE'));
}

function takeAll(): { readonly operations: readonly WriteOperation[]; readonly isEnd: boolean } {
  const operations: WriteOperation[] = [];
  for (let got = receiveMessageOnPort(port); got; got = receiveMessageOnPort(port)) {
    const message = got.message as WriterMessage;
    if (message === 'close') return { operations, isEnd: true };
    operations.push(...message);
  }
  return { operations, isEnd: false };
}

function answer(group: readonly WriteOperation[]): void {
  const { answers, stored } = transactions.run(group);
  for (const each of answers) count(each);
  if (!stored) counters.add('failures', 1);
  else if (answers.some(isChange)) {
    counters.add('transactions', 1);
    wal.wrote(group.length);
  }
  reply(group.some(isScrub) && stored ? answersOfScrub(group, answers) : answers);
}

function isScrub(operation: WriteOperation): operation is ScrubOperation {
  return !isAppend(operation) && operation.do === 'scrub';
}

function answersOfScrub(group: readonly WriteOperation[], answers: readonly WriteAnswer[]): readonly WriteAnswer[] {
  let isEmpty = false;
  tolerating(() => {
    if (group.some((operation) => isScrub(operation) && operation.rebuilds)) database.exec('VACUUM');
    isEmpty = wal.checkpoint('TRUNCATE');
  });
  return answers.map((answer, place) => {
    const operation = group[place];
    return operation !== undefined && isScrub(operation) ? Number(isEmpty) : answer;
  });
}

function isChange(answer: WriteAnswer): boolean {
  if (typeof answer === 'object') return 'row' in answer && answer.row !== null;
  return typeof answer === 'number' ? answer > 0 : answer === 'appended';
}

function count(answer: WriteAnswer): void {
  if (typeof answer === 'number' || (typeof answer === 'object' && 'row' in answer)) counters.add('otherWrites', 1);
  else if (answer === 'appended') counters.add('appended', 1);
  else if (answer === 'conflict') counters.add('conflicts', 1);
  else if (answer === 'duplicate') counters.add('duplicates', 1);
}

function reply(message: WriterReply): void {
  port.postMessage(message);
}

/**
 * A checkpoint or a rebuild that fails (the disk is full) is tried again later. The log holds everything until then,
 * and a scrub answers that it is not empty.
 */
function tolerating(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (troubleOf(failureOf(error)) === 'own') throw error;
  }
}

function finish(): void {
  tolerating(() => wal.checkpoint('TRUNCATE'));
  database.close();
  reply('closed');
  port.close();
}
