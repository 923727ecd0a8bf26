/**
 * Owns: a table of rows in memory, found by a key and by indexes, and the journal that undoes changes of all tables.
 *
 * 1. A transaction that throws leaves every table of the journal as it was.
 * 2. A row is replaced, never changed: what was read stays as it was.
 */
export interface Journal {
  /** How to undo a change that was made; outside of a transaction it is dropped. */
  readonly record: (undo: () => void) => void;
  /** All or nothing; in another transaction it is a part of that one. (1) */
  readonly transaction: <Value>(work: () => Value) => Value;
}

export function createJournal(): Journal {
  let steps: (() => void)[] | null = null;
  return {
    record: (undo) => void steps?.push(undo),
    transaction(work) {
      if (steps !== null) return work();
      const begun: (() => void)[] = [];
      steps = begun;
      try {
        return work();
      } catch (error) {
        for (const undo of begun.toReversed()) undo();
        throw error;
      } finally {
        steps = null;
      }
    },
  };
}

export interface MemoryTable<Row, Index extends string> {
  readonly get: (key: string) => Row | undefined;
  /** Adds the row, or replaces that of its key. */
  readonly put: (row: Row) => void;
  /** False when there is one of its key. */
  readonly add: (row: Row) => boolean;
  /** Replaces the row, if there is one, by the same with these changes. */
  readonly change: (key: string, changes: Partial<Row>) => void;
  /** False when there was none. */
  readonly delete: (key: string) => boolean;
  readonly all: () => readonly Row[];
  /** The rows that an index has under this value, in the order in which they were added. */
  readonly by: (index: Index, value: string) => readonly Row[];
  readonly count: () => number;
}

/** An index gives the value under which it has a row; null keeps the row out. */
export function createMemoryTable<Row, Index extends string = never>(
  journal: Journal,
  keyOf: (row: Row) => string,
  indexes: Readonly<Record<Index, (row: Row) => string | null>>,
): MemoryTable<Row, Index> {
  const rows = new Map<string, Row>();
  const views = Object.entries<(row: Row) => string | null>(indexes).map(([name, valueOf]) => ({
    name,
    valueOf,
    keys: new Map<string, Set<string>>(),
  }));

  function write(key: string, row: Row | undefined): void {
    const before = rows.get(key);
    if (row === undefined) rows.delete(key);
    else rows.set(key, row);
    for (const { valueOf, keys } of views) {
      const [old, now] = [before, row].map((each) => (each === undefined ? null : valueOf(each)));
      if (old === now) continue;
      if (typeof old === 'string') {
        keys.get(old)?.delete(key);
        if (keys.get(old)?.size === 0) keys.delete(old);
      }
      if (typeof now === 'string') keys.set(now, (keys.get(now) ?? new Set()).add(key));
    }
  }

  function replace(key: string, row: Row | undefined): void {
    const before = rows.get(key);
    write(key, row);
    journal.record(() => write(key, before)); // (1)
  }

  return {
    get: (key) => rows.get(key),
    put: (row) => replace(keyOf(row), row),
    add(row) {
      if (rows.has(keyOf(row))) return false;
      replace(keyOf(row), row);
      return true;
    },
    change(key, changes) {
      const row = rows.get(key);
      if (row !== undefined) replace(key, { ...row, ...changes });
    },
    delete(key) {
      if (!rows.has(key)) return false;
      replace(key, undefined);
      return true;
    },
    all: () => [...rows.values()],
    by(index, value) {
      const keys = views.find(({ name }) => name === index)?.keys.get(value) ?? [];
      return [...keys].flatMap((key) => rows.get(key) ?? []);
    },
    count: () => rows.size,
  };
}
