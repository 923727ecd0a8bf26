// The event loop's end of the one writer: whoever writes comes through here, and gets an answer when it is on disk.
//
// The writer lives in a thread of its own, woken through shared memory. Measured on two cores, 1 KiB commits, one sync
// 0.11 ms: a lone append takes 0.15–0.2 ms (0.03 less on the event loop itself); 64 threads append as fast either way,
// but the event loop is free meanwhile, also when a disk takes 20 ms.
//
// Invariants:
//   G1. Prompt operations leave with the present turn of the event loop; lazy ones before the next prompt ones, or alone
//       `lazyFlushMs` after the first of them. Everything is carried out in the order in which it left.
//   G2. An operation's promise settles after its transaction: on disk, or rolled back.
//   G3. At most `queuedMax` operations wait; then UNAVAILABLE, and nothing was accepted.
//   G4. A writer that dies takes the process with it.
import type { Append, AppendOutcome } from '@dormouse/ports';
import type { SQLInputValue } from 'node:sqlite';
import { MessageChannel, Worker } from 'node:worker_threads';
import { faultOf, unavailable } from './fault-of.ts';
import type {
  AppendRow,
  Row,
  Statement,
  WriteAnswer,
  WriteOperation,
  WriterAnswers,
  WriterCounters,
  WriterMessage,
  WriterSetup,
} from './write-operation.ts';

/** Prompt: somebody waits for it. Lazy: it may ride with whatever comes next. */
export type Urgency = 'prompt' | 'lazy';

export interface GroupWriter {
  append(append: Append): Promise<AppendOutcome>;
  /** One statement, once per row of parameters; answers how many rows changed. */
  rows(urgency: Urgency, sql: string, rows: readonly (readonly SQLInputValue[])[]): Promise<number>;
  /** Several statements, the others only if the first changes something; answers how many rows the first changed. */
  steps(urgency: Urgency, steps: readonly Statement[]): Promise<number>;
  /** One statement with RETURNING; its row or null. */
  ask(urgency: Urgency, sql: string, parameters: readonly SQLInputValue[]): Promise<Row | null>;
  limitPages(pagesMax: number | null): Promise<void>;
  counters(): WriterCounters;
  /** Stores what is queued, then ends the thread. */
  close(): Promise<void>;
}

export interface WriterOptions {
  readonly file: string;
  readonly walFramesMax: number;
  readonly pagesMax: number | null;
  readonly queuedMax: number;
  readonly lazyFlushMs: number;
}

interface Waiting {
  readonly resolve: (answer: WriteAnswer) => void;
  readonly reject: (error: Error) => void;
}

const noCounters: WriterCounters = {
  transactions: 0,
  syncs: 0,
  checkpoints: 0,
  appended: 0,
  conflicts: 0,
  duplicates: 0,
  otherWrites: 0,
  failures: 0,
  walFrames: 0,
};

export function startGroupWriter(options: WriterOptions): GroupWriter {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const { port1: port, port2 } = new MessageChannel();
  const worker = startWorker({
    file: options.file,
    signal: signal.buffer,
    port: port2,
    walFramesMax: options.walFramesMax,
    pagesMax: options.pagesMax,
  });
  let prompt: WriteOperation[] = [];
  let lazy: WriteOperation[] = [];
  let promptWaiting: Waiting[] = [];
  let lazyWaiting: Waiting[] = [];
  /** In the order in which their operations left. */
  const waiting: Waiting[] = [];
  let answered = 0;
  let lazyTimer: NodeJS.Timeout | null = null;
  let leaving = false;
  let counters = noCounters;
  let gone: Error | null = null;

  const ended = Promise.withResolvers<void>();
  port.on('message', (message: WriterAnswers | 'closed') => {
    if (message === 'closed') return port.close();
    counters = message.counters;
    for (const answer of message.answers) settle(answer);
    forgetAnswered();
  });
  worker.on('error', (error) => {
    stop(unavailable('The writer of the database has died.'));
    // A bug of ours, not trouble with the disk: whoever starts the process again finds everything that was answered. (G4)
    throw error;
  });
  worker.on('exit', () => {
    stop(unavailable('The stores are closed.'));
    ended.resolve();
  });

  function settle(answer: WriteAnswer): void {
    const next = waiting[answered];
    answered += 1;
    if (answer.did === 'fail') next?.reject(faultOf(answer.failure));
    else next?.resolve(answer);
  }

  function forgetAnswered(): void {
    if (answered < waiting.length && answered < 1_024) return;
    waiting.splice(0, answered);
    answered = 0;
  }

  function stop(why: Error): void {
    gone ??= why;
    for (const left of [...waiting.splice(answered), ...lazyWaiting.splice(0), ...promptWaiting.splice(0)])
      left.reject(why);
    waiting.length = answered = 0;
  }

  function write(urgency: Urgency, operation: WriteOperation): Promise<WriteAnswer> {
    if (gone) return Promise.reject(gone);
    if (waiting.length - answered + lazy.length + prompt.length >= options.queuedMax) {
      return Promise.reject(unavailable('Too much is waiting for the disk.'));
    }
    return new Promise((resolve, reject) => {
      (urgency === 'prompt' ? prompt : lazy).push(operation);
      (urgency === 'prompt' ? promptWaiting : lazyWaiting).push({ resolve, reject });
      if (urgency === 'prompt') leaveSoon();
      else lazyTimer ??= setTimeout(leave, options.lazyFlushMs);
    });
  }

  function leaveSoon(): void {
    if (leaving) return;
    leaving = true;
    queueMicrotask(leave);
  }

  /** (G1) */
  function leave(): void {
    leaving = false;
    if (lazyTimer) clearTimeout(lazyTimer);
    lazyTimer = null;
    if (lazy.length + prompt.length === 0) return;
    waiting.push(...lazyWaiting, ...promptWaiting);
    post({ operations: [...lazy, ...prompt] });
    [lazy, prompt, lazyWaiting, promptWaiting] = [[], [], [], []];
  }

  function post(message: WriterMessage): void {
    port.postMessage(message);
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  }

  async function change(urgency: Urgency, operation: WriteOperation): Promise<number> {
    const answer = await write(urgency, operation);
    return answer.did === 'change' ? answer.changes : wrongAnswer(answer);
  }

  return {
    append: async (append) => {
      const answer = await write('prompt', { do: 'append', row: rowOf(append) });
      return answer.did === 'append' ? answer.outcome : wrongAnswer(answer);
    },
    rows: (urgency, sql, rows) => (rows.length === 0 ? Promise.resolve(0) : change(urgency, { do: 'rows', sql, rows })),
    steps: (urgency, steps) => change(urgency, { do: 'steps', steps }),
    ask: async (urgency, sql, parameters) => {
      const answer = await write(urgency, { do: 'ask', sql, parameters });
      return answer.did === 'ask' ? answer.row : wrongAnswer(answer);
    },
    limitPages: async (pagesMax) => {
      await change('prompt', { do: 'limit', pagesMax });
    },
    counters: () => counters,
    close: () => {
      if (gone) return ended.promise;
      leave();
      gone = unavailable('The stores are closed.');
      post({ close: true });
      return ended.promise;
    },
  };
}

function rowOf({ commit, owes }: Append): AppendRow {
  const { tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body } = commit;
  return [owes, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body];
}

function startWorker(setup: WriterSetup): Worker {
  // Beside this file, compiled or not.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./writer-thread.${extension}`, import.meta.url), {
    workerData: setup,
    transferList: [setup.port],
    name: 'dormouse-writer',
  });
}

function wrongAnswer(answer: WriteAnswer): never {
  throw new Error(`the writer answered ${answer.did} to something else`);
}
