// What crosses between the event loop and the writer's thread. Types only: nothing here runs.
import type { AppendOutcome } from '@dormouse/ports';
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import type { SqliteFailure } from './sqlite-failure.ts';

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** A commit without its keys, in this order: names would be written and read once per commit, four times the cost. */
export type AppendRow = readonly [
  owes: boolean,
  tenant: string,
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

/** Stores one commit, its inputs, and its owed row. */
export interface AppendOperation {
  readonly do: 'append';
  readonly row: AppendRow;
}

/** One statement, once per row of parameters. Answers the number of rows changed. */
export interface RowsOperation {
  readonly do: 'rows';
  readonly sql: string;
  readonly rows: readonly (readonly SQLInputValue[])[];
}

/** Several statements; when the first changes nothing, the others are left out. Answers what the first changed. */
export interface StepsOperation {
  readonly do: 'steps';
  readonly steps: readonly Statement[];
}

/** One statement with RETURNING. Answers its row, if there is one. */
export interface AskOperation extends Statement {
  readonly do: 'ask';
}

/** Limits the size of the database from now on; null for no limit. */
export interface LimitOperation {
  readonly do: 'limit';
  readonly pagesMax: number | null;
}

export type WriteOperation = AppendOperation | RowsOperation | StepsOperation | AskOperation | LimitOperation;

export type Row = Readonly<Record<string, SQLOutputValue>>;

export type WriteAnswer =
  | { readonly did: 'append'; readonly outcome: AppendOutcome }
  | { readonly did: 'change'; readonly changes: number }
  | { readonly did: 'ask'; readonly row: Row | null }
  | { readonly did: 'fail'; readonly failure: SqliteFailure };

/** What the writer has done since it was opened. */
export interface WriterCounters {
  /** Transactions that changed something and are on disk. */
  readonly transactions: number;
  /** Syncs of files that SQLite was asked for: one per transaction, and those of new WAL rounds and checkpoints. */
  readonly syncs: number;
  readonly checkpoints: number;
  /** Commits of threads that were stored. */
  readonly appended: number;
  readonly conflicts: number;
  readonly duplicates: number;
  /** Operations other than appends that were carried out. */
  readonly otherWrites: number;
  /** Transactions that were rolled back because something failed. */
  readonly failures: number;
  /** Frames in the write-ahead log when it was last looked at. */
  readonly walFrames: number;
}

export interface WriterAnswers {
  readonly answers: readonly WriteAnswer[];
  readonly counters: WriterCounters;
}

/** `workerData` of the writer's thread. */
export interface WriterSetup {
  readonly file: string;
  /** One Int32: raised and notified after each message. */
  readonly signal: SharedArrayBuffer;
  readonly port: MessagePort;
  readonly walFramesMax: number;
  readonly pagesMax: number | null;
}

export type WriterMessage = { readonly operations: readonly WriteOperation[] } | { readonly close: true };
