// Steps 3 and 4 of a slice: the decision becomes one commit, then what it owes is handed over.
//
// Invariants:
//   A1. Nothing is paid before the commit is in the log.
//   A2. All items of a commit are released together, after its payment. (V8)
//   A3. Whatever the append answers leads to the right place: a conflict is decided again on a reloaded state, a duplicate is
//       looked up, an unknown outcome is read back by its nonce. Both indexes may be violated and only one be named.
//   A4. A commit that no store takes is nobody's fault that passes: its slice throws what is not a Fault, so that it is poison.
import type { Commit } from '@dormouse/ports';
import { sealCommit } from '../../envelope.ts';
import { Hold } from '../held-deliveries.ts';
import { pay } from '../payment.ts';
import type { KnownOutcome } from '../protocol.ts';
import { afterCommit, type ThreadState } from '../thread-state.ts';
import type { DecidedSlice } from './decide-slice.ts';
import { finish, settleDecided } from './settle.ts';
import type { LaneMemory, SliceDeps } from './slice-deps.ts';
import { type InputItem, type SliceItem, tell } from './slice-item.ts';

export async function commitSlice(
  deps: SliceDeps,
  lane: LaneMemory,
  before: ThreadState,
  slice: DecidedSlice,
  at: number,
): Promise<readonly SliceItem[]> {
  const { items } = slice;
  const commit = seal(deps, lane, before, slice, at);
  const outcome = await deps.protocol.inOrder({
    append: async () => {
      const told = await deps.groupCommit.append({ commit, owes: owesDeliveries(slice) });
      if (told === 'too_large') throw new Error(tooLarge(commit)); // (A4)
      const answer = told === 'unknown' ? await readBack(deps, lane, slice, commit) : told;
      if (answer === 'appended') publishCommit(deps, lane, afterCommit(before, slice, commit), commit, slice);
      return answer;
    },
    pay: () => payCommit(deps, lane, before, slice, commit), // (A1)
    release: () => {
      for (const item of items) finish(lane, item, commit.version);
    },
  });
  if (outcome === 'appended') return items;
  deps.cache.drop(lane.cacheKey);
  return outcome === 'duplicate' ? settleDuplicates(deps, lane, items) : deps.protocol.finishedByConflict(items); // (A3)
}

function seal(deps: SliceDeps, lane: LaneMemory, before: ThreadState, slice: DecidedSlice, at: number): Commit {
  return sealCommit({
    key: lane.key,
    version: before.thread.position,
    inputs: slice.items.map((item) => item.input.id),
    at,
    nonce: deps.entropy.nonce(),
    trace: slice.items[0]?.trace ?? null,
    prev: before.lastHash,
    events: slice.events,
    effects: slice.effects,
  });
}

/** An answer came through memory: what its commit owes is covered by the deliveries that its completion held. (V2) */
const owesDeliveries = (slice: DecidedSlice): boolean =>
  slice.effects.length > 0 && slice.items.some((item) => item.deliveries.length > 0);

/** What became of an append with an unknown outcome. (A3) */
async function readBack(deps: SliceDeps, lane: LaneMemory, slice: DecidedSlice, commit: Commit): Promise<KnownOutcome> {
  for (const item of slice.items) item.mayBeStored = true;
  const [next] = await deps.log.read(lane.key, commit.version, 1);
  const stored = next?.version === commit.version ? next : null;
  // Not there may mean not yet: should it land later, a reload meets it like anybody else's commit. (L5, V1)
  return deps.protocol.wasAppended(commit, stored) ? 'appended' : 'conflict';
}

const tooLarge = ({ inputs, body }: Commit): string =>
  `What ${inputs.join(', ')} would lead to is larger than the store takes: a commit of ${body.length} characters.`;

function publishCommit(
  deps: SliceDeps,
  lane: LaneMemory,
  state: ThreadState,
  commit: Commit,
  { items, events }: DecidedSlice,
): void {
  deps.cache.put(lane.cacheKey, deps.snapshots.consider(lane.key, state));
  for (const item of items) tell(item, commit.version);
  deps.feed.publish(lane.key, { hint: 'committed', commit, after: { events, thread: state.thread } });
  deps.projections.changed(lane.key, state.thread);
}

async function payCommit(
  deps: SliceDeps,
  lane: LaneMemory,
  before: ThreadState,
  slice: DecidedSlice,
  commit: Commit,
): Promise<void> {
  const { effects, thread, tail } = slice;
  const hold = holdAll(slice.items);
  try {
    const debts =
      effects.length === 0 ? [] : [{ version: commit.version, at: commit.at, trace: commit.trace, effects }];
    const paid = pay(deps.payment, lane, { debts, state: { thread, tail, messages: before.messages }, hold });
    if (paid !== null) await paid;
  } finally {
    hold.drop();
  }
  const { stretch } = lane;
  if (stretch?.to === commit.version) lane.stretch = { from: stretch.from, to: thread.position };
}

/** One hold over all items, which are then released together (A2); held by the caller. */
function holdAll(items: readonly InputItem[]): Hold {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return only.hold.retain();
  const all = new Hold();
  for (const item of items) all.absorb(item.hold.retain());
  return all;
}

/** Which one was it? Each is looked up: those found are paid and finished, the others are decided again. (V8) */
async function settleDuplicates(
  deps: SliceDeps,
  lane: LaneMemory,
  items: readonly InputItem[],
): Promise<readonly SliceItem[]> {
  const commits = await deps.log.findByInputs(
    lane.key,
    items.map((item) => item.input.id),
  );
  const found: InputItem[] = [];
  for (const [index, item] of items.entries()) {
    const commit = commits[index] ?? null;
    if (commit === null) continue;
    try {
      found.push(await settleDecided(deps, lane, item, commit));
    } catch (error) {
      if (found.length === 0) throw error;
      return found; // those are finished and must not be finished again; this one and the rest come again
    }
  }
  return deps.protocol.finishedByDuplicate(found, items);
}
