// What an erasure is about: the threads below its roots, those that were forked from them, and payloads that are stored
// for all threads of a tenant.
import type { Stores, ThreadFilter, ThreadRow, TenantId } from '@dormouse/ports';
import { everyItem } from '../every-item.ts';
import { namedBlobs } from '../ingress-gateway/transfer/named-blobs.ts';
import { beginningOf } from '../ingress-gateway/read/thread-beginning.ts';
import { openCommit } from '../log/envelope.ts';
import { isUserName, type UserNames } from './user-name.ts';

export interface ErasureTargets {
  /** Threads of the user that are below no other thread. */
  rootsOfUser(tenant: TenantId, userId: string): Promise<readonly string[]>;
  /** Rows of these threads and of all below them. */
  below(tenant: TenantId, roots: readonly string[]): Promise<readonly ThreadRow[]>;
  /** Rows of threads that begin with the history of one of these, directly or by another fork. */
  forksOf(tenant: TenantId, rows: readonly ThreadRow[]): Promise<readonly ThreadRow[]>;
  /**
   * Removes what rows of forks have taken from the rows of these threads: first words, the title, and metadata that are
   * the same in both.
   */
  removeInheritedLabels(tenant: TenantId, rows: readonly ThreadRow[]): Promise<void>;
  /**
   * Removes what these threads name of the payloads that belong to no family: of earlier releases, and of imports.
   * One that another thread names stays.
   */
  removeSharedBlobs(tenant: TenantId, rows: readonly ThreadRow[]): Promise<void>;
}

interface TargetPorts extends Pick<Stores, 'directory' | 'log' | 'tenantLog' | 'blobs' | 'restingThreads'> {
  readonly userNames: UserNames;
}

const rowsAtOnce = 200;
const commitsAtOnce = 200;

export function createErasureTargets(ports: TargetPorts): ErasureTargets {
  const { directory, log, tenantLog, blobs, restingThreads, userNames } = ports;

  const rowsOf = (tenant: TenantId, filter: ThreadFilter): AsyncGenerator<ThreadRow> =>
    everyItem(rowsAtOnce, (page) => directory.list(tenant, filter, page));

  /** A name that a restore has brought back finds its user by trying all. */
  const rowsOfUser = (tenant: TenantId, user: string): AsyncGenerator<ThreadRow> =>
    isUserName(user) ? rowsOfNamed(tenant, user) : rowsOf(tenant, { userId: user });

  async function* rowsOfNamed(tenant: TenantId, name: string): AsyncGenerator<ThreadRow> {
    for await (const row of rowsOf(tenant, {}))
      if (row.userId !== null && userNames.of(tenant, row.userId).includes(name)) yield row;
  }

  /** Payloads that these threads name and that belong to no family. */
  async function sharedPayloads(tenant: TenantId, rows: readonly ThreadRow[]): Promise<ReadonlySet<string>> {
    const named = new Set<string>();
    for (const { thread } of rows)
      for (const commit of await log.read({ tenant, thread }, 0))
        for (const sha256 of namedBlobs(openCommit(commit).events)) named.add(sha256);
    const shared = new Set<string>();
    for (const sha256 of named) if ((await blobs.get(tenant, sha256)) !== null) shared.add(sha256);
    return shared;
  }

  /** Those of them that commits of other threads name. */
  async function namedElsewhere(tenant: TenantId, sha256s: ReadonlySet<string>, own: ReadonlySet<string>) {
    const named = new Set<string>();
    for (let place: string | null = null; ;) {
      const page: Awaited<ReturnType<typeof tenantLog.after>> = await tenantLog.after(tenant, place, commitsAtOnce);
      const last = page.at(-1);
      if (last === undefined) return named;
      for (const { commit } of page)
        if (!own.has(commit.thread))
          for (const sha256 of namedBlobs(openCommit(commit).events)) if (sha256s.has(sha256)) named.add(sha256);
      place = last.place;
    }
  }

  /** Rows of earlier releases say only then what their threads were forked from. (resting-threads Q2) */
  async function placeAll(tenant: TenantId): Promise<void> {
    for (;;) {
      const unplaced = await restingThreads.unplaced(tenant, rowsAtOnce);
      let isPlaced = false;
      for (const thread of unplaced) {
        const [first] = await log.read({ tenant, thread }, 0, 1);
        if (first === undefined) continue; // it opens just now, and says so in its row
        await restingThreads.place(tenant, thread, beginningOf(first).forkedFrom?.threadId ?? null);
        isPlaced = true;
      }
      if (!isPlaced) return;
    }
  }

  async function forksOf(tenant: TenantId, rows: readonly ThreadRow[]): Promise<readonly ThreadRow[]> {
    await placeAll(tenant);
    const own = new Set(rows.map(({ thread }) => thread));
    const forks = new Set<string>();
    for (let of: readonly string[] = [...own]; of.length > 0;) {
      const found = await restingThreads.forksOf(tenant, of);
      of = found.filter((thread) => !own.has(thread) && !forks.has(thread));
      for (const thread of of) forks.add(thread);
    }
    const found = await Promise.all([...forks].map((thread) => directory.get({ tenant, thread })));
    return found.filter((row) => row !== null);
  }

  return {
    forksOf,
    async removeInheritedLabels(tenant, rows) {
      const erased = new Set(rows.flatMap(({ metadata }) => Object.entries(metadata).map(nameOfLabel)));
      for (const fork of await forksOf(tenant, rows)) {
        const own = Object.entries(fork.metadata).filter((label) => !erased.has(nameOfLabel(label)));
        await directory.patch(fork, { title: null, firstWords: null, metadata: Object.fromEntries(own) });
      }
    },
    async rootsOfUser(tenant, user) {
      const rows: ThreadRow[] = [];
      for await (const row of rowsOfUser(tenant, user)) rows.push(row);
      return rows.filter(({ parent }) => parent === null).map(({ thread }) => thread);
    },
    async below(tenant, roots) {
      const found = new Map<string, ThreadRow>();
      for (const thread of roots) {
        const row = await directory.get({ tenant, thread });
        if (row !== null) found.set(thread, row);
      }
      for (const { thread } of found.values())
        // grows while it is walked
        for await (const child of rowsOf(tenant, { parent: thread })) found.set(child.thread, child);
      return [...found.values()];
    },
    async removeSharedBlobs(tenant, rows) {
      const shared = await sharedPayloads(tenant, rows);
      if (shared.size === 0) return;
      const kept = await namedElsewhere(tenant, shared, new Set(rows.map(({ thread }) => thread)));
      for (const sha256 of shared) if (!kept.has(sha256)) await blobs.remove(tenant, sha256);
    },
  };
}

const nameOfLabel = ([name, value]: readonly [string, string]): string => JSON.stringify([name, value]);
