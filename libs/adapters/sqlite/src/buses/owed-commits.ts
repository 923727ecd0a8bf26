// What commits still owe: the durable half of the local bus (V10). A row is written by the commit's own transaction and
// deleted, lazily and in batches, when nothing depends on it any more.
//
// Invariants:
//   R1. A row is deleted only below every unreleased delivery of its thread that was decided: what a delivery led to
//       (the answer of its completion has no delivery of its own) lies above it and is paid before it is released.
//   R2. While a delivery is undecided, rows above everything decided stay: one of them may be its commit.
//   R3. A row that is not deleted before a crash costs a recovery, never a debt.
import { ThreadMap } from '@dormouse/collections';
import { type ThreadKey, type TenantId } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

export interface OwedByThread {
  readonly key: ThreadKey;
  /** Version of the first commit that owes. */
  readonly from: number;
}

/** An unreleased delivery, by identity. */
export type Holder = object;

export interface OwedCommits {
  /** A commit that owes is on disk, or may be. */
  appended(key: ThreadKey, version: number): void;
  /** A delivery was given to the consumer. */
  hold(key: ThreadKey, holder: Holder): void;
  decided(key: ThreadKey, holder: Holder, version: number | null): void;
  release(key: ThreadKey, holder: Holder): void;
  /** Forgets all holders; answers the owed versions by thread. */
  takeOver(): Promise<readonly OwedByThread[]>;
  /** Resolves when every deletion so far is on disk, or has failed. (R3) */
  flush(): Promise<void>;
}

interface OwedRow {
  readonly tenant: TenantId;
  readonly thread: string;
  readonly version: number;
}

/** One thread: its rows and their holders. */
interface Owing {
  readonly key: ThreadKey;
  versions: number[];
  readonly holders: Map<Holder, 'undecided' | 'refused' | number>;
  decidedMax: number;
}

const selectOwed =
  'SELECT tenant, thread, version FROM owed JOIN thread_numbers USING (number) ORDER BY number, version';
const deleteOwed =
  'DELETE FROM owed WHERE number = (SELECT number FROM thread_numbers WHERE tenant = ? AND thread = ?) AND version = ?';

export function createOwedCommits(writer: GroupWriter, reader: Reader, flushMs: number): OwedCommits {
  const threads = new ThreadMap<Owing>();
  let paid: [string, string, number][] = [];
  let timer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> = Promise.resolve();

  function owingOf(key: ThreadKey): Owing {
    const known = threads.get(key);
    if (known) return known;
    const owing: Owing = {
      key: { tenant: key.tenant, thread: key.thread },
      versions: [],
      holders: new Map(),
      decidedMax: -1,
    };
    threads.set(owing.key, owing);
    return owing;
  }

  function deleteFree(owing: Owing): void {
    const bound = boundOf(owing);
    const free = owing.versions.filter((version) => version < bound);
    if (free.length > 0) {
      owing.versions = owing.versions.filter((version) => version >= bound);
      for (const version of free) paid.push([owing.key.tenant, owing.key.thread, version]);
      timer ??= setTimeout(() => void flush(), flushMs);
    }
    if (owing.holders.size === 0 && owing.versions.length === 0) threads.delete(owing.key);
  }

  function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    const batch = paid;
    paid = [];
    flushing = afterwards(flushing, writer.rows('lazy', deleteOwed, batch));
    return flushing;
  }

  return {
    appended: (key, version) => void owingOf(key).versions.push(version),
    hold: (key, holder) => void owingOf(key).holders.set(holder, 'undecided'),
    decided: (key, holder, version) => {
      const owing = owingOf(key);
      owing.holders.set(holder, version ?? 'refused');
      owing.decidedMax = Math.max(owing.decidedMax, version ?? -1);
    },
    release: (key, holder) => {
      const owing = owingOf(key);
      if (owing.holders.delete(holder)) deleteFree(owing);
    },
    takeOver: async () => {
      await flush();
      threads.clear();
      for (const { tenant, thread, version } of reader.all<OwedRow>(selectOwed)) {
        owingOf({ tenant, thread }).versions.push(version);
      }
      return [...threads.values()].map(({ key, versions }) => ({ key, from: Math.min(...versions) }));
    },
    flush,
  };
}

async function afterwards(earlier: Promise<void>, deletion: Promise<number>): Promise<void> {
  await Promise.allSettled([earlier, deletion]);
}

/** No delivery depends on rows below this. (R1, R2) */
function boundOf({ holders, decidedMax }: Owing): number {
  let bound = Number.POSITIVE_INFINITY;
  for (const state of holders.values()) {
    if (state === 'undecided') bound = Math.min(bound, decidedMax + 1);
    else if (state !== 'refused') bound = Math.min(bound, state);
  }
  return bound;
}
