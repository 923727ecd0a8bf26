// Counts of the writer's work since opening, exact for every answered operation, in memory that both threads share.
//
// Invariant:
//   N1. Only the writer's thread writes them, before it answers: the receiver of an answer sees it counted.

const names = [
  /** Transactions that changed something and are on disk. */
  'transactions',
  /** Syncs of files that SQLite was asked for: one per transaction, and those of new WAL rounds and checkpoints. */
  'syncs',
  'checkpoints',
  /** Commits of threads that were stored. */
  'appended',
  'conflicts',
  'duplicates',
  /** Operations other than appends that were carried out. */
  'otherWrites',
  /** Transactions that were rolled back because of a failure. */
  'failures',
  /** Frames in the write-ahead log when it was last looked at. */
  'walFrames',
] as const;

type Counter = (typeof names)[number];
export type WriterCounters = Readonly<Record<Counter, number>>;

export interface CounterWriter {
  add(counter: Counter, count: number): void;
  set(counter: Counter, value: number): void;
}

export const countersBytes = names.length * Float64Array.BYTES_PER_ELEMENT;

export function createCounterWriter(memory: SharedArrayBuffer): CounterWriter {
  const values = new Float64Array(memory);
  const set = (counter: Counter, value: number): void => {
    values[names.indexOf(counter)] = value;
  };
  return { set, add: (counter, count) => set(counter, (values[names.indexOf(counter)] ?? 0) + count) };
}

export function readCounters(memory: SharedArrayBuffer): WriterCounters {
  const values = new Float64Array(memory);
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? 0])) as Record<Counter, number>;
}
