// The event loop's side of the writer thread: posts every write, and resolves it when it is on disk.
//
// The writer runs in a thread of its own, woken through shared memory. Measured on two cores, 1 KiB commits, one sync
// 0.11 ms: a lone append takes 0.15–0.2 ms, 0.03 ms more than when the event loop itself writes; 64 threads append as
// fast either way, but the event loop is free meanwhile, also when a disk takes 20 ms.
//
// Invariants:
//   G1. Operations are carried out in the order in which they were posted; `write-queue.ts` decides when that is.
//   G2. An operation's promise settles after its transaction: on disk, or rolled back.
//   G3. At most `queuedMax` operations wait; then UNAVAILABLE, and nothing was accepted.
//   G4. If the writer thread dies, the process ends.
//   G5. In a group of appends each has its own answer, an outcome or its failure; the call rejects only if all failed.
//       (thread-log L8)
import type { Append, AppendAnswer, TenantId } from '@dormouse/ports';
import type { SQLInputValue } from 'node:sqlite';
import { MessageChannel } from 'node:worker_threads';
import { createAnswerQueue } from './answer-queue.ts';
import { lineBytes } from '../checkpoint/checkpoint-line.ts';
import { createCheckpointer } from '../checkpoint/checkpointer.ts';
import { unavailable } from '../file/fault-of.ts';
import { createWriteQueue, type Urgency, type WriteQueueOptions } from './write-queue.ts';
import { startWorker } from '../file/workers.ts';
import type {
  AppendRow,
  Row,
  Statement,
  WriteAnswer,
  WriteOperation,
  WriterMessage,
  WriterReply,
  WriterSetup,
} from './write-operation.ts';
import { countersBytes, readCounters, type WriterCounters } from './writer-counters.ts';
import { createWriterSignal, signalBytes } from './writer-signal.ts';

type StatementUrgency = Exclude<Urgency, 'commit'>;

export interface GroupWriter {
  /** Resolves after `answered` was called for each append; rejects with the first failure when all failed. (G5) */
  append(
    group: readonly Append[],
    answered: (append: Append, answer: AppendAnswer) => void,
  ): Promise<readonly AppendAnswer[]>;
  /** One statement, promptly. */
  run(sql: string, ...parameters: readonly SQLInputValue[]): Promise<void>;
  /** The same; true if it has changed one row. */
  changes(sql: string, ...parameters: readonly SQLInputValue[]): Promise<boolean>;
  /** One statement, once per row of parameters; answers how many rows changed. */
  rows(urgency: StatementUrgency, sql: string, rows: readonly (readonly SQLInputValue[])[]): Promise<number>;
  /** Several statements, the others only if the first changes something; answers how many rows the first changed. */
  steps(urgency: StatementUrgency, steps: readonly Statement[]): Promise<number>;
  /** One statement with RETURNING, carried out together with one before it; answers its row or null. */
  ask(
    urgency: StatementUrgency,
    sql: string,
    parameters: readonly SQLInputValue[],
    before?: Statement | null,
  ): Promise<Row | null>;
  limitPages(pagesMax: number | null): Promise<void>;
  /**
   * Deletes a part of the logs of these threads, null for all of the tenant's; answers how many rows, 0 when none is
   * left.
   */
  eraseThreads(tenant: TenantId, threads: readonly string[] | null): Promise<number>;
  /** Empties the write-ahead log, and writes the file anew before, if asked; false when that cannot be done now. */
  scrub(rebuilds: boolean): Promise<boolean>;
  counters(): WriterCounters;
  /** Stores what is queued, then ends the thread. */
  close(): Promise<void>;
}

export interface WriterOptions extends WriteQueueOptions {
  readonly file: string;
  readonly walFramesMax: number;
  readonly pagesMax: number | null;
  readonly queuedMax: number;
}

export function startGroupWriter(options: WriterOptions): GroupWriter {
  const memory = new SharedArrayBuffer(signalBytes);
  const signal = createWriterSignal(memory);
  const counters = new SharedArrayBuffer(countersBytes);
  const line = new SharedArrayBuffer(lineBytes);
  const { port1: port, port2 } = new MessageChannel();
  const { file, walFramesMax, pagesMax } = options;
  const writer = startWorker(
    'writer',
    { file, signal: memory, counters, port: port2, line, walFramesMax, pagesMax } satisfies WriterSetup,
    [port2],
  );
  const checkpointer = createCheckpointer({ file, line });
  const answers = createAnswerQueue();
  const queue = createWriteQueue(options, (operations, waiting) => {
    answers.add(waiting);
    post(operations);
  });
  let gone: Error | null = null;

  const ended = Promise.withResolvers<void>();
  port.on('message', (message: WriterReply) => {
    if (message === 'closed') port.close();
    else if (message !== 'log-is-long') answers.settle(message);
    else if (gone === null) checkpointer.start();
  });
  writer.on('error', (error) => {
    stop(unavailable('The writer of the database has died.'));
    // A bug of Dormouse, not of the disk: after a restart of the process every answered write is there. (G4)
    throw error;
  });
  writer.on('exit', () => {
    stop(unavailable('The stores are closed.'));
    ended.resolve(checkpointer.end());
  });

  function stop(why: Error): void {
    gone ??= why;
    queue.flush();
    answers.rejectAll(why);
  }

  function post(message: WriterMessage): void {
    port.postMessage(message);
    signal.post();
  }

  /** Why `count` more operations are not accepted. (G3) */
  const refusal = (count: number): Error | null =>
    gone ??
    (answers.length + queue.length + count > options.queuedMax
      ? unavailable('Too much is waiting for the disk.')
      : null);

  /** `read` extracts the result from the answer. */
  function write<Result>(
    urgency: Urgency,
    operation: WriteOperation,
    read: (answer: WriteAnswer) => Result | undefined,
  ): Promise<Result> {
    const full = refusal(1);
    if (full) return Promise.reject(full);
    return new Promise((resolve, reject) => {
      const take = (answer: WriteAnswer): void => {
        const result = read(answer);
        if (result === undefined) reject(wrongAnswer(answer));
        else resolve(result);
      };
      queue.add(urgency, operation, { resolve: take, reject });
    });
  }

  const change = (urgency: Urgency, operation: WriteOperation): Promise<number> =>
    write(urgency, operation, (answer) => (typeof answer === 'number' ? answer : undefined));

  return {
    append: (group, answered) => {
      const full = refusal(group.length);
      if (full) return Promise.reject(full);
      if (group.length === 0) return Promise.resolve([]);
      return new Promise((resolve, reject) => {
        const answers: AppendAnswer[] = [];
        const take = (answer: WriteAnswer | Error): void => {
          if (typeof answer !== 'string' && !(answer instanceof Error)) return reject(wrongAnswer(answer));
          if (answers.push(answer) < group.length) return; // in the order of the group (G1)
          if (answers.every((each) => each instanceof Error)) return reject(answers[0]);
          for (const [place, append] of group.entries()) answered(append, answers[place] ?? 'unknown');
          resolve(answers);
        };
        const waiting = { resolve: take, reject: take };
        for (const append of group) queue.add('commit', rowOf(append), waiting);
      });
    },
    run: async (sql, ...parameters) => void (await change('prompt', { do: 'rows', sql, rows: [parameters] })),
    changes: async (sql, ...parameters) => (await change('prompt', { do: 'rows', sql, rows: [parameters] })) === 1,
    rows: (urgency, sql, rows) => (rows.length === 0 ? Promise.resolve(0) : change(urgency, { do: 'rows', sql, rows })),
    steps: (urgency, steps) => change(urgency, { do: 'steps', steps }),
    ask: (urgency, sql, parameters, before = null) =>
      write(urgency, { do: 'ask', sql, parameters, before }, (answer) =>
        typeof answer === 'object' && 'row' in answer ? answer.row : undefined,
      ),
    limitPages: async (pagesMax) => {
      await change('prompt', { do: 'limit', pagesMax });
    },
    eraseThreads: (tenant, threads) => change('prompt', { do: 'erase', tenant, threads }),
    scrub: async (rebuilds) => (await change('prompt', { do: 'scrub', rebuilds })) === 1,
    counters: () => readCounters(counters),
    close: () => {
      if (gone) return ended.promise;
      queue.flush();
      gone = unavailable('The stores are closed.');
      post('close');
      return ended.promise;
    },
  };
}

function rowOf({ commit, owes }: Append): AppendRow {
  const { tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body } = commit;
  return [owes, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body];
}

const wrongAnswer = (answer: WriteAnswer): Error =>
  new Error(`the writer answered a ${typeof answer} to something else`);
