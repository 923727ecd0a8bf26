// What commits still owe: the durable half of the local bus (V10). A row is written by the commit's own transaction and
// deleted, lazily and in batches, when every delivery that stands for the commit has been released.
//
// Invariants:
//   R1. A commit may be held by several deliveries (its inputs, a duplicate, a recovery): the last one deletes its row.
//   R2. A row that is not deleted before a crash costs a recovery, never a debt.
import type { ThreadKey } from '@dormouse/ports';
import type { Reader } from './database.ts';
import type { GroupWriter } from './group-writer.ts';

export interface OwedByThread {
  readonly key: ThreadKey;
  /** Versions of the commits that owe, ascending. */
  readonly versions: readonly number[];
}

export interface OwedCommits {
  hold(key: ThreadKey, versions: readonly number[]): void;
  letGo(key: ThreadKey, versions: readonly number[]): void;
  /** Forgets who held what; answers, and holds, what is still owed, by thread. */
  takeOver(): Promise<readonly OwedByThread[]>;
  /** Resolves when everything let go so far is deleted. */
  flush(): Promise<void>;
}

interface OwedRow {
  readonly tenant: string;
  readonly thread: string;
  readonly version: number;
}

const selectOwed =
  'SELECT tenant, thread, version FROM owed JOIN thread_numbers USING (number) ORDER BY number, version';
const deleteOwed =
  'DELETE FROM owed WHERE commit_id = (SELECT id FROM commits WHERE number = ' +
  '(SELECT number FROM thread_numbers WHERE tenant = ? AND thread = ?) AND version = ?)';

export function createOwedCommits(writer: GroupWriter, reader: Reader, flushMs: number): OwedCommits {
  const held = new Map<string, number>();
  let paid: [string, string, number][] = [];
  let timer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> = Promise.resolve();

  const nameOf = (key: ThreadKey, version: number): string => `${key.tenant} ${key.thread} ${version}`;

  function letGo(key: ThreadKey, version: number): void {
    const name = nameOf(key, version);
    const left = (held.get(name) ?? 1) - 1;
    if (left > 0) return void held.set(name, left);
    held.delete(name);
    paid.push([key.tenant, key.thread, version]);
    timer ??= setTimeout(() => void flush(), flushMs);
  }

  function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    const batch = paid;
    paid = [];
    // A deletion that fails costs a recovery at the next start. (R2)
    const deleted = writer.rows('lazy', deleteOwed, batch).then(
      () => undefined,
      () => undefined,
    );
    flushing = Promise.all([flushing, deleted]).then(() => undefined);
    return flushing;
  }

  return {
    hold: (key, versions) => {
      for (const version of versions) held.set(nameOf(key, version), (held.get(nameOf(key, version)) ?? 0) + 1);
    },
    letGo: (key, versions) => {
      for (const version of versions) letGo(key, version);
    },
    takeOver: async () => {
      await flush();
      held.clear();
      const threads = byThread(reader.all<OwedRow>(selectOwed));
      for (const { key, versions } of threads) for (const version of versions) held.set(nameOf(key, version), 1);
      return threads;
    },
    flush,
  };
}

function byThread(rows: readonly OwedRow[]): readonly OwedByThread[] {
  const threads: { key: ThreadKey; versions: number[] }[] = [];
  for (const { tenant, thread, version } of rows) {
    const last = threads.at(-1);
    if (last?.key.tenant === tenant && last.key.thread === thread) last.versions.push(version);
    else threads.push({ key: { tenant, thread }, versions: [version] });
  }
  return threads;
}
