// Steps 3 and 4 of a slice: the decision becomes a commit, then what it owes is handed over. Where the completion that it asks
// for is answered at once, the answer is the last input of the same commit. ADR 25
//
// Invariants:
//   A1. Nothing is paid before the commit is in the log.
//   A2. All items of a commit are released together, after its payment. (V8)
//   A3. Whatever the append answers leads to the right place: a conflict is decided again on a reloaded state, a duplicate is
//       looked up, an unknown outcome is read back by its nonce, and so is an append that throws. (L5, L8) Both indexes may be
//       violated and only one be named.
//   A4. A commit that no store takes is nobody's fault that passes: its slice throws what is not a Fault, so that it is poison.
//   A5. What an answer at once would make too many inputs for a commit, or too large, goes without it, and asks for it as an effect.
import { type AppendOutcome, type Commit, inStep } from '@dormouse/ports';
import { unreachable } from '@dormouse/thread';
import { sealCommit } from '../../envelope.ts';
import { Hold } from '../held-deliveries.ts';
import { momentOf } from '../minted-ids.ts';
import { announce, owedCompletion, pay } from '../payment.ts';
import type { KnownOutcome } from '../protocol.ts';
import { afterCommit, type Debt, type ThreadState } from '../thread-state.ts';
import { continueSlice, type ContinuedSlice, type DecidedSlice, type SlicedDecision } from './decide-slice.ts';
import { finish, settleDecided } from './settle.ts';
import type { LaneMemory, SliceDeps } from './slice-deps.ts';
import { type InputItem, itemAtHand, type SliceItem, tell } from './slice-item.ts';

/** A decision as it will be stored, and the thread as it is then. */
interface SealedSlice {
  readonly slice: SlicedDecision;
  readonly commit: Commit;
  readonly after: ThreadState;
  readonly debts: readonly Debt[];
}

export async function commitSlice(
  deps: SliceDeps,
  lane: LaneMemory,
  before: ThreadState,
  asking: DecidedSlice,
  at: number,
): Promise<readonly SliceItem[]> {
  const { items } = asking;
  await inStep;
  before.messages.append(asking.messages);
  const answer = answerAtOnce(deps, lane, before, asking, at);
  if (answer !== null) await inStep;
  const answered = answer && continueSlice(deps.protocol, asking, answer, momentOf(deps.idKey, lane.key, at, null));
  await inStep;
  const sealed = sealAnswered(deps, lane, before, answered, at) ?? seal(deps, lane, before, asking, at);
  for (const step of deps.protocol.sliceSteps) {
    switch (step) {
      case 'append': {
        let told: AppendOutcome;
        try {
          told = await append(deps, lane, sealed);
        } catch (failure) {
          told = await foundAfter(deps, lane, sealed, failure);
        }
        if (told === 'too_large') throw new Error(tooLarge(sealed.commit)); // (A4)
        const known = told === 'unknown' ? await readBack(deps, lane, sealed) : told;
        if (known !== 'appended') return await decideAgain(deps, lane, items, known);
        await inStep;
        publish(deps, lane, sealed);
        break;
      }
      case 'pay': {
        const hold = holdAll(items);
        try {
          const paid = pay(deps.payment, lane, { debts: sealed.debts, state: sealed.after, hold }); // (A1)
          if (paid !== null) await paid;
        } finally {
          hold.drop();
        }
        stretchOver(lane, sealed);
        break;
      }
      case 'release':
        for (const item of items) finish(lane, item, sealed.commit.version);
        break;
      default:
        unreachable(step);
    }
  }
  return items;
}

/** Null when the slice asks for no completion, or for one that has to be asked as an effect. */
function answerAtOnce(
  deps: SliceDeps,
  lane: LaneMemory,
  before: ThreadState,
  asking: DecidedSlice,
  at: number,
): InputItem | null {
  const { thread, tail, items } = asking;
  if (lane.isClosing || items.length >= deps.inputsPerSliceMax) return null; // (A5)
  const debts = debtsOf(before, asking, at);
  const order = owedCompletion(deps.protocol, { debts, state: { thread, tail, messages: before.messages } });
  const result = order && deps.askAtOnce(order);
  return result && itemAtHand(result, items[0]?.trace ?? null);
}

/** Null without an answer, or when the commit would be too large with it. (A5) */
function sealAnswered(
  deps: SliceDeps,
  lane: LaneMemory,
  before: ThreadState,
  answered: ContinuedSlice | null,
  at: number,
): SealedSlice | null {
  if (answered === null) return null;
  const sealed = seal(deps, lane, before, answered.slice, at);
  if (sealed.commit.body.length > deps.commitBytesMax) return null;
  before.messages.append(answered.messages);
  return sealed;
}

function seal(deps: SliceDeps, lane: LaneMemory, before: ThreadState, slice: SlicedDecision, at: number): SealedSlice {
  const { items, events, effects } = slice;
  const commit = sealCommit({
    key: lane.key,
    version: before.thread.position,
    inputs: items.map((item) => item.input.id),
    at,
    nonce: deps.entropy.nonce(),
    trace: items[0]?.trace ?? null,
    prev: before.lastHash,
    events,
    effects,
  });
  return { slice, commit, after: afterCommit(before, slice, commit), debts: debtsOf(before, slice, at) };
}

function debtsOf(before: ThreadState, { items, effects }: SlicedDecision, at: number): readonly Debt[] {
  if (effects.length === 0) return [];
  return [{ version: before.thread.position, at, trace: items[0]?.trace ?? null, effects }];
}

/**
 * Whether its deliveries have to wait for a payment. What the commit itself has settled is never owed again; an answer came
 * through memory, and what its commit owes is covered by the deliveries that its completion held. (V2)
 */
const owesDeliveries = ({ protocol }: SliceDeps, { effects, items, thread }: SlicedDecision): boolean =>
  items.some((item) => item.deliveries.length > 0) && effects.some((effect) => protocol.isOwed(thread, effect));

function append(deps: SliceDeps, lane: LaneMemory, { slice, commit, debts }: SealedSlice): Promise<AppendOutcome> {
  const appended = deps.groupCommit.append({ commit, owes: owesDeliveries(deps, slice) });
  // When what leaves with this turn of the loop has left.
  if (debts.length > 0) process.nextTick(() => announce(deps.payment, lane.key, debts));
  return appended;
}

/** The cached window holds what is not in the log. (A3) */
function decideAgain(
  deps: SliceDeps,
  lane: LaneMemory,
  items: readonly InputItem[],
  outcome: Exclude<KnownOutcome, 'appended'>,
): Promise<readonly SliceItem[]> {
  deps.cache.drop(lane.cacheKey);
  if (outcome === 'duplicate') return settleDuplicates(deps, lane, items);
  return Promise.resolve(deps.protocol.finishedByConflict(items));
}

/** What became of an append with an unknown outcome. (A3) */
async function readBack(deps: SliceDeps, lane: LaneMemory, sealed: SealedSlice): Promise<KnownOutcome> {
  markUncertain(sealed);
  // Not there may mean not yet: should it land later, a reload meets it like anybody else's commit. (L5, V1)
  return (await isStored(deps, lane, sealed)) ? 'appended' : 'conflict';
}

/** What became of an append that threw. @throws the failure when it is not there, or nobody knows. (A3) */
async function foundAfter(
  deps: SliceDeps,
  lane: LaneMemory,
  sealed: SealedSlice,
  failure: unknown,
): Promise<'appended'> {
  const stands = await isStored(deps, lane, sealed).catch(() => null);
  if (stands === null) markUncertain(sealed);
  if (stands !== true) throw failure;
  return 'appended';
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

function publish(deps: SliceDeps, lane: LaneMemory, { slice, commit, after }: SealedSlice): void {
  const { events, thread } = slice;
  deps.cache.put(lane.cacheKey, deps.snapshots.consider(lane.key, after));
  for (const item of slice.items) tell(item, commit.version);
  deps.feed.publish(lane.key, { hint: 'committed', commit, after: { events, thread } });
  deps.projections.changed(lane.key, thread);
}

/** This lane has paid the commit itself. */
function stretchOver(lane: LaneMemory, { commit, after }: SealedSlice): void {
  const { stretch } = lane;
  if (stretch?.to === commit.version) lane.stretch = { from: stretch.from, to: after.thread.position };
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
