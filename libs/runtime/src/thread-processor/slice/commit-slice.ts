// Steps 3 and 4 of a slice: the decision becomes a commit, then what it owes is handed over. Where the completion that it asks
// for is answered at once, the answer is decided too, and its commit goes to the store in the same write. ADR 25
//
// Invariants:
//   A1. Nothing is paid before the commit is in the log; what two commits owe is judged by the state after the last that is.
//   A2. All items of a commit are released together, after its payment. (V8)
//   A3. Whatever the append answers leads to the right place: a conflict is decided again on a reloaded state, a duplicate is
//       looked up, an unknown outcome is read back by its nonce, and so is an append that throws. (L5, L8) Both indexes may be
//       violated and only one be named.
//   A4. A commit that no store takes is nobody's fault that passes: its slice throws what is not a Fault, so that it is poison.
//   A5. The commit of an answer is worth nothing by itself: should it not stand, its completion is asked for as an effect, and
//       the lane reads the thread again.
import { type Append, type AppendOutcome, type Commit, type Delta, inStep } from '@dormouse/ports';
import { sealCommit } from '../../envelope.ts';
import type { AnswerAtOnce } from '../completion/answer-at-once.ts';
import { Hold } from '../held-deliveries.ts';
import { momentOf } from '../minted-ids.ts';
import { announce, owedCompletion, pay } from '../payment.ts';
import type { KnownOutcome } from '../protocol.ts';
import { afterCommit, type Debt, type ThreadState } from '../thread-state.ts';
import { type DecidedSlice, decideSlice } from './decide-slice.ts';
import { finish, settleDecided } from './settle.ts';
import type { LaneMemory, SliceDeps } from './slice-deps.ts';
import { type InputItem, itemAtHand, type SliceItem, tell } from './slice-item.ts';

/** A decision as it will be stored, and the thread as it is then. */
interface SealedSlice {
  readonly slice: DecidedSlice;
  readonly commit: Commit;
  readonly append: Append;
  readonly after: ThreadState;
  readonly debts: readonly Debt[];
  /** What people who watch are shown before it: of an answer that nobody streamed. */
  readonly deltas: readonly Delta[];
}

export async function commitSlice(
  deps: SliceDeps,
  lane: LaneMemory,
  before: ThreadState,
  slice: DecidedSlice,
  at: number,
): Promise<readonly SliceItem[]> {
  const { items } = slice;
  const first = seal(deps, lane, before, slice, at, null);
  await inStep;
  const answer = await sealAnswer(deps, lane, first, at);
  const sealed = answer === null ? [first] : [first, answer];
  let standing: readonly SealedSlice[] = [];
  const outcome = await deps.protocol.inOrder({
    append: async () => {
      const appended = deps.groupCommit.append(sealed.map(({ append }) => append));
      // When what leaves with this turn of the loop has left.
      process.nextTick(() => announce(deps.payment, lane.key, debtsOf(sealed)));
      const [told = 'unknown', ...others] = await appended.catch((failure: unknown) =>
        foundAfter(deps, lane, first, failure),
      );
      if (told === 'too_large') throw new Error(tooLarge(first.commit)); // (A4)
      const known = told === 'unknown' ? await readBack(deps, lane, first) : told;
      if (known !== 'appended') return known;
      const behind = answer !== null && others[0] === 'unknown' ? [await readBehind(deps, lane, answer)] : others;
      standing = sealed.slice(0, deps.protocol.standing([known, ...behind]));
      await inStep;
      publish(deps, lane, standing);
      return known;
    },
    pay: () => paySealed(deps, lane, standing.length > 0 ? standing : sealed, items), // (A1)
    release: () => {
      for (const item of items) finish(lane, item, first.commit.version);
    },
  });
  if (standing.length < sealed.length) deps.cache.drop(lane.cacheKey); // its window holds what may not be in the log (A5)
  if (outcome === 'appended') return items;
  return outcome === 'duplicate' ? settleDuplicates(deps, lane, items) : deps.protocol.finishedByConflict(items); // (A3)
}

function seal(
  deps: SliceDeps,
  lane: LaneMemory,
  before: ThreadState,
  slice: DecidedSlice,
  at: number,
  /** Of what it answers, stored right before it. */
  answering: AnswerAtOnce | null,
): SealedSlice {
  const { items, events, effects } = slice;
  const trace = items[0]?.trace ?? null;
  const version = before.thread.position;
  const commit = sealCommit({
    key: lane.key,
    version,
    inputs: items.map((item) => item.input.id),
    at,
    nonce: deps.entropy.nonce(),
    trace,
    prev: before.lastHash,
    events,
    effects,
  });
  const debts = effects.length === 0 ? [] : [{ version, at, trace, effects }];
  const append = { commit, owes: owesDeliveries(slice), follows: answering !== null };
  return { slice, commit, append, after: afterCommit(before, slice, commit), debts, deltas: answering?.deltas ?? [] };
}

/** The commit of the answer, when the completion that `first` asks for is answered at once and its answer can be decided. */
async function sealAnswer(
  deps: SliceDeps,
  lane: LaneMemory,
  first: SealedSlice,
  at: number,
): Promise<SealedSlice | null> {
  const order = lane.isClosing ? null : owedCompletion(deps.protocol, { debts: first.debts, state: first.after });
  const ask = order === null ? null : deps.askAtOnce(order);
  if (ask === null) return null;
  deps.groupCommit.expect(first.append); // it is on its way while its answer is worked out
  const told = ask();
  if (told === null) return null;
  await inStep;
  const item = itemAtHand(told.result, first.commit.trace);
  const slice = decideAnswer(deps, lane, first.after, item, at);
  if (slice === null) return null;
  await inStep;
  return seal(deps, lane, first.after, slice, at, told);
}

/** Null for one that is refused or cannot be decided: it will be met again, alone. */
function decideAnswer(
  deps: SliceDeps,
  lane: LaneMemory,
  state: ThreadState,
  item: InputItem,
  at: number,
): DecidedSlice | null {
  try {
    const slice = decideSlice(
      deps.protocol,
      state,
      [item],
      momentOf(deps.idKey, lane.key, at, null),
      deps.commitBytesMax,
    );
    return slice.outcome === 'commit' ? slice : null;
  } catch {
    return null;
  }
}

/** An answer came through memory: what its commit owes is covered by the deliveries that its completion held, or by those of the
 * commit that it was worked out with. (V2) */
const owesDeliveries = (slice: DecidedSlice): boolean =>
  slice.effects.length > 0 && slice.items.some((item) => item.deliveries.length > 0);

/** What became of an append with an unknown outcome. (A3) */
async function readBack(deps: SliceDeps, lane: LaneMemory, sealed: SealedSlice): Promise<KnownOutcome> {
  markUncertain(sealed);
  // Not there may mean not yet: should it land later, a reload meets it like anybody else's commit. (L5, V1)
  return (await isStored(deps, lane, sealed)) ? 'appended' : 'conflict';
}

/** What became of the answer, behind one that stands: what cannot be read now stays unknown, and is asked for. (A3, A5) */
const readBehind = (deps: SliceDeps, lane: LaneMemory, answer: SealedSlice): Promise<AppendOutcome> =>
  readBack(deps, lane, answer).catch(() => 'unknown');

/** What became of an append that threw. @throws the failure when it is not there, or nobody knows. (A3) */
async function foundAfter(
  deps: SliceDeps,
  lane: LaneMemory,
  first: SealedSlice,
  failure: unknown,
): Promise<readonly AppendOutcome[]> {
  const stands = await isStored(deps, lane, first).catch(() => null);
  if (stands === null) markUncertain(first);
  if (stands !== true) throw failure;
  return ['appended', 'unknown'];
}

async function isStored(deps: SliceDeps, lane: LaneMemory, { commit }: SealedSlice): Promise<boolean> {
  const [next] = await deps.log.read(lane.key, commit.version, 1);
  return deps.protocol.wasAppended(commit, next?.version === commit.version ? next : null);
}

function markUncertain({ slice }: SealedSlice): void {
  for (const item of slice.items) item.mayBeStored = true;
}

const tooLarge = ({ inputs, body }: Commit): string =>
  `What ${inputs.join(', ')} would lead to is larger than the store takes: a commit of ${body.length} characters.`;

function publish(deps: SliceDeps, lane: LaneMemory, standing: readonly SealedSlice[]): void {
  const last = standing.at(-1);
  if (last === undefined) return;
  deps.cache.put(lane.cacheKey, deps.snapshots.consider(lane.key, last.after));
  for (const { slice, commit, deltas } of standing) {
    for (const item of slice.items) tell(item, commit.version);
    for (const delta of deltas) deps.feed.publish(lane.key, { hint: 'delta', delta });
    deps.feed.publish(lane.key, { hint: 'committed', commit, after: { events: slice.events, thread: slice.thread } });
  }
  deps.projections.changed(lane.key, last.slice.thread);
}

async function paySealed(
  deps: SliceDeps,
  lane: LaneMemory,
  sealed: readonly SealedSlice[],
  items: readonly InputItem[],
): Promise<void> {
  const [first] = sealed;
  const last = sealed.at(-1);
  if (first === undefined || last === undefined) return;
  const hold = holdAll(items);
  try {
    const paid = pay(deps.payment, lane, { debts: debtsOf(sealed), state: last.after, hold });
    if (paid !== null) await paid;
  } finally {
    hold.drop();
  }
  const { stretch } = lane;
  if (stretch?.to === first.commit.version) lane.stretch = { from: stretch.from, to: last.after.thread.position };
}

const debtsOf = (sealed: readonly SealedSlice[]): readonly Debt[] => sealed.flatMap(({ debts }) => debts);

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
