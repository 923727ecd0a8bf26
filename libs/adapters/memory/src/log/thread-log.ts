// The thread log in memory: a list of commits per thread, two unique keys, and the rows that are still owed.
//
// Invariants:
//   M1. Version and inputs are checked and the commit stored in one step (thread-log L1, L2). When both are violated
//       the answer alternates, because a real server names only one of them.
//   M2. Every commit of a group passes the gate separately, those of one thread in order (thread-log L4). A failure
//       whose outcome is not known is `unknown`; when certainly nothing of the whole group was stored, `append` throws.
//       (thread-log L8)
import { Fault, type Append, type AppendOutcome, type Commit, type ThreadKey, type ThreadLog } from '@dormouse/ports';
import type { Passage } from '../gate.ts';

interface StoredThread {
  readonly key: ThreadKey;
  readonly commits: Commit[];
  readonly byInput: Map<string, Commit>;
}

/** The durable part. */
export interface LogStore {
  readonly threads: Map<string, StoredThread>;
  /** Versions of commits that may still owe effects, per thread; only a standalone world clears them. (V10) */
  readonly owed: Map<string, { readonly key: ThreadKey; readonly versions: Set<number> }>;
  /** Of all threads, as they came. */
  readonly arrived: Commit[];
  append(append: Append): AppendOutcome;
  commits(key: ThreadKey): readonly Commit[];
  byInput(key: ThreadKey, input: string): Commit | null;
  /** Called with every commit when it is stored. */
  onAppended: (commit: Commit) => void;
}

export const nameOf = (key: ThreadKey): string => `${key.tenant}:${key.thread}`;

const endOf = (commit: Commit): number => commit.version + commit.count;

export function createLogStore(): LogStore {
  let bothViolated = 0;
  const store: LogStore = {
    threads: new Map(),
    owed: new Map(),
    arrived: [],
    append: ({ commit, owes }) => {
      const thread = threadOf(store, commit);
      const head = thread.commits.at(-1);
      const taken = commit.version !== (head === undefined ? 0 : endOf(head));
      const known = commit.inputs.some((input) => thread.byInput.has(input));
      if (taken && known) return (bothViolated += 1) % 2 === 0 ? 'conflict' : 'duplicate';
      if (taken) return 'conflict';
      if (known) return 'duplicate';
      const stored = Object.freeze({ ...commit, inputs: Object.freeze([...commit.inputs]) });
      thread.commits.push(stored);
      store.arrived.push(stored);
      for (const input of stored.inputs) thread.byInput.set(input, stored);
      if (owes) owedOf(store, commit).versions.add(commit.version);
      store.onAppended(stored);
      return 'appended';
    },
    commits: (key) => store.threads.get(nameOf(key))?.commits ?? [],
    byInput: (key, input) => store.threads.get(nameOf(key))?.byInput.get(input) ?? null,
    onAppended: () => {},
  };
  return store;
}

function threadOf(store: LogStore, { tenant, thread }: ThreadKey): StoredThread {
  const name = nameOf({ tenant, thread });
  let found = store.threads.get(name);
  if (found === undefined) {
    found = { key: { tenant, thread }, commits: [], byInput: new Map() };
    store.threads.set(name, found);
  }
  return found;
}

function owedOf(
  store: LogStore,
  { tenant, thread }: ThreadKey,
): { readonly key: ThreadKey; readonly versions: Set<number> } {
  const name = nameOf({ tenant, thread });
  let found = store.owed.get(name);
  if (found === undefined) {
    found = { key: { tenant, thread }, versions: new Set() };
    store.owed.set(name, found);
  }
  return found;
}

export function createThreadLog(store: LogStore, passage: Passage): ThreadLog {
  return {
    append: (group) => appendGroup(store, passage, group),
    read: (key, from, limit) =>
      passage.read('log.read', nameOf(key), () => {
        const found = since(store.commits(key), from);
        return limit === undefined ? found : found.slice(0, limit);
      }),
    at: (key, position) =>
      passage.read(
        'log.at',
        nameOf(key),
        () => store.commits(key).find((commit) => commit.version < position && position <= endOf(commit)) ?? null,
      ),
    findByInputs: (key, inputs) =>
      passage.read('log.find', nameOf(key), () => inputs.map((input) => store.byInput(key, input))),
    head: (key) => passage.read('log.head', nameOf(key), () => store.commits(key).at(-1) ?? null),
  };
}

/** Commits with `version >= from`; most readers want the last few. */
function since(commits: readonly Commit[], from: number): readonly Commit[] {
  let start = commits.length;
  while (start > 0 && (commits[start - 1]?.version ?? 0) >= from) start -= 1;
  return commits.slice(start);
}

async function appendGroup(
  store: LogStore,
  passage: Passage,
  group: readonly Append[],
): Promise<readonly AppendOutcome[]> {
  const before = new Map<string, Promise<unknown>>();
  const appends = group.map((append) => {
    const name = nameOf(append.commit);
    const earlier = before.get(name);
    const mine = (async () => {
      await earlier;
      return passage.write('log.append', `${name}:${append.commit.version}`, () => store.append(append));
    })();
    before.set(
      name,
      mine.catch(() => undefined),
    );
    return mine;
  });
  const settled = await Promise.allSettled(appends);
  const failures = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  if (failures.length > 0 && failures.length === settled.length && failures.every(isSurelyNothing)) throw failures[0];
  return settled.map((one) => (one.status === 'fulfilled' ? one.value : 'unknown'));
}

/** A gate says `UNAVAILABLE` when the operation was surely not applied, any other code when it may have been. (M2) */
const isSurelyNothing = (failure: unknown): boolean => failure instanceof Fault && failure.code === 'UNAVAILABLE';
