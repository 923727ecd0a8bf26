// Whether a thread exists: needed by every request, answered from memory for threads that were seen lately. Only this
// positive fact is remembered.
//
// Invariants:
//   W1. A thread whose row still carries its opening is opened before anything else is sent to it: after a 201 posting
//       works at once, also when the process died between the row and the opening.
//   W2. A thread has one key for as long as it is remembered: the name in a request is a piece of its path, and on the
//       way of a message a dozen maps would each compare it letter by letter.
//   W3. A child can be read as soon as a commit that is shown names it: its row is written here where the processor,
//       which owes it to that commit, has not come to it yet. What was imported owes nothing, and names threads of
//       elsewhere.
//   W4. A closed thread that is being removed is not found. What was seen is remembered for `threadRememberedMs`: from
//       then on no process takes anything for a thread that leaves. (retention-visit V3)
import { ThreadMap } from '@dormouse/collections';
import { type Clock, type Commit, type InputBus, type ThreadDirectory, type ThreadKey } from '@dormouse/ports';
import { childRow } from '../../log/child-row.ts';
import { openCommit } from '../../log/envelope.ts';
import { isGone } from '../../retention/gone-thread.ts';
import { answered, type Answered, notFound } from '../refusal.ts';

const rememberedMax = 100_000;
export const threadRememberedMs = 30_000;
/** As `JSON.stringify` writes it; inside a string its quotes would be escaped. */
const spawning = '"do":"SpawnChild"';

export interface ThreadLookup {
  /** Its key (W2), or 404: for another tenant's thread as for an unknown one: the answer does not tell which. */
  find(key: ThreadKey): Promise<Answered<ThreadKey>>;
  /** The key that `find` has answered with; what was given where nothing is known. (W2) */
  keyOf(key: ThreadKey): ThreadKey;
  /** For a thread that was just opened. */
  remember(key: ThreadKey): void;
  /** Before a commit is shown: the threads that it spawned are found from now on. (W3) */
  announce(commit: Commit): Promise<void>;
}

interface Seen {
  readonly key: ThreadKey;
  /** Milliseconds since the epoch. (W4) */
  readonly until: number;
}

export function createThreadLookup(deps: {
  readonly directory: ThreadDirectory;
  readonly bus: InputBus;
  readonly clock: Pick<Clock, 'now'>;
}): ThreadLookup {
  const known = new ThreadMap<Seen>();
  function remember(given: ThreadKey, from = deps.clock.now()): ThreadKey {
    const key = known.get(given)?.key ?? given; // (W2)
    if (known.size >= rememberedMax) known.clear();
    known.set(key, { key, until: from + threadRememberedMs });
    return key;
  }
  /** Undefined where it must be looked up. (W4) */
  function fresh(key: ThreadKey): ThreadKey | undefined {
    const seen = known.get(key);
    const now = deps.clock.now();
    return seen !== undefined && seen.until > now && seen.until <= now + threadRememberedMs ? seen.key : undefined;
  }
  async function lookUp(key: ThreadKey): Promise<Answered<ThreadKey>> {
    const from = deps.clock.now();
    const row = await deps.directory.get(key);
    if (row === null || isGone(row)) {
      known.delete(key);
      return notFound('thread');
    }
    if (row.opening !== null) await deps.bus.publish(key, row.opening); // (W1) twice is once: it has one input id
    return answered(remember({ tenant: key.tenant, thread: row.thread }, from));
  }
  async function announceChildren(commit: Commit): Promise<void> {
    const { tenant, thread, at } = commit;
    for (const effect of openCommit(commit).effects) {
      if (effect.do !== 'SpawnChild') continue;
      const key = { tenant, thread: effect.childId };
      if (known.get(key) !== undefined || (await deps.directory.get(key)) !== null) continue;
      await deps.directory.insert(childRow({ key: { tenant, thread }, at }, effect)); // opened by processor or sweeper
    }
  }
  return {
    remember: (key) => void remember(key),
    announce: async (commit) => {
      if (commit.body.includes(spawning)) await announceChildren(commit);
    },
    keyOf: (key) => known.get(key)?.key ?? key,
    find: async (key) => {
      const seen = fresh(key);
      return seen === undefined ? lookUp(key) : answered(seen);
    },
  };
}
