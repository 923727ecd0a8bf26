// The status of a thread before and after a commit: followed from commit to commit, read from snapshot and log where it
// was not followed.
//
// Invariants:
//   S1. The status before a commit is that of the state at exactly its version, whatever the thread has become since.
//   S2. A bounded number of threads is followed. A thread that was forgotten costs a reading, never a wrong status.
import { createBoundedMap } from '@dormouse/collections';
import type { Commit, Stores } from '@dormouse/ports';
import { evolve, type RecordedEvent, statusOf, type Thread } from '@dormouse/thread';
import { openCommit } from '../log/envelope.ts';
import { readSnapshot } from '../log/thread-reader.ts';
import type { Statuses } from './told-events.ts';

export interface ThreadStatuses {
  /** @throws Fault */
  around(commit: Commit, events: readonly RecordedEvent[]): Promise<Statuses>;
}

const followedMax = 2_000;
const commitsAtOnce = 200;

export function createThreadStatuses({ log, snapshots }: Pick<Stores, 'log' | 'snapshots'>): ThreadStatuses {
  const followed = createBoundedMap<Thread>(followedMax); // (S2)

  async function stateAt({ tenant, thread, version }: Commit, known: Thread | undefined): Promise<Thread> {
    const key = { tenant, thread };
    const isUsable = known !== undefined && known.position <= version;
    let state = isUsable ? known : (await readSnapshot(snapshots, key, version)).thread;
    while (state.position < version) {
      const limit = Math.min(commitsAtOnce, version - state.position); // a commit has an event or more
      const commits = await log.read(key, state.position, limit);
      if (commits.length === 0) return state; // the log of an erased tenant
      for (const commit of commits)
        if (commit.version < version) state = folded(state, commit, openCommit(commit).events);
    }
    return state;
  }

  return {
    around: async (commit, events) => {
      const name = `${commit.tenant} ${commit.thread}`;
      const before = await stateAt(commit, followed.get(name)); // (S1)
      const after = followed.set(name, folded(before, commit, events));
      return { before: statusOf(before), after: statusOf(after) };
    },
  };
}

function folded(state: Thread, { at }: Commit, events: readonly RecordedEvent[]): Thread {
  let thread = state;
  for (const event of events) thread = evolve(thread, event, at);
  return thread;
}
