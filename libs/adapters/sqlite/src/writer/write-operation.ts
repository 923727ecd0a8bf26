// The messages between the event loop and the writer's thread. Types only: nothing here runs. The most frequent ones
// are tuples: names of members would be serialised with every commit.
import type { AppendOutcome, TenantId } from '@dormouse/ports';
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import type { SqliteFailure } from '../file/sqlite-failure.ts';

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** Stores one commit, its inputs, and its owed row. */
export type AppendRow = readonly [
  owes: boolean,
  tenant: TenantId,
  thread: string,
  version: number,
  count: number,
  inputs: readonly string[],
  at: number,
  nonce: string,
  trace: string | null,
  kid: string | null,
  prev: string,
  hash: string,
  body: string,
];

/** One statement, once per row of parameters. Answers the number of rows changed. */
export interface RowsOperation {
  readonly do: 'rows';
  readonly sql: string;
  readonly rows: readonly (readonly SQLInputValue[])[];
}

/** Several statements; when the first changes nothing, the others are skipped. Answers what the first changed. */
export interface StepsOperation {
  readonly do: 'steps';
  readonly steps: readonly Statement[];
}

/** One statement with RETURNING, after another one. Answers its row, if there is one. */
export interface AskOperation extends Statement {
  readonly do: 'ask';
  readonly before: Statement | null;
}

/** Limits the size of the database from now on; null for no limit. */
export interface LimitOperation {
  readonly do: 'limit';
  readonly pagesMax: number | null;
}

/** After its transaction: writes the file anew, if asked, and empties the write-ahead log. Answers 1 if it was done. */
export interface ScrubOperation {
  readonly do: 'scrub';
  readonly rebuilds: boolean;
}

/** Deletes logs of threads of a tenant. Answers the number of rows deleted; 0 when there is none left. */
export interface EraseOperation {
  readonly do: 'erase';
  readonly tenant: TenantId;
  /** Null for all of the tenant's. */
  readonly threads: readonly string[] | null;
}

export type WriteOperation =
  AppendRow | RowsOperation | StepsOperation | AskOperation | LimitOperation | EraseOperation | ScrubOperation;

export type Row = Readonly<Record<string, SQLOutputValue>>;

/** An append's outcome, the number of changed rows, or a query's row; else why nothing of the operation was stored. */
export type WriteAnswer = AppendOutcome | number | { readonly row: Row | null } | { readonly failure: SqliteFailure };

/** `workerData` of the writer's thread. */
export interface WriterSetup {
  readonly file: string;
  /** See `writer-signal.ts`. */
  readonly signal: SharedArrayBuffer;
  /** See `writer-counters.ts`. */
  readonly counters: SharedArrayBuffer;
  readonly port: MessagePort;
  /** See `checkpoint-line.ts`. */
  readonly line: SharedArrayBuffer;
  readonly walFramesMax: number;
  readonly pagesMax: number | null;
}

export type WriterMessage = readonly WriteOperation[] | 'close';

/** `log-is-long`: the checkpointing thread has to be started. */
export type WriterReply = readonly WriteAnswer[] | 'log-is-long' | 'closed';
