// Steps 3 and 4 of a slice: the decision becomes a commit, then what it owes is handed over.
//
// Invariants:
//   A1. Nothing is paid before the commit is in the log.
//   A2. All items of a commit are released together, after its payment. (V8)
//   A3. Every outcome of the append is handled: a conflict is decided again on a reloaded state, a duplicate is looked
//       up, an unknown outcome is read back by its nonce, and so is an append that throws. (thread-log L5, L8) A store
//       that finds both a conflict and a duplicate may name only one of them: the next decision meets the other.
//   A4. `too_large` is permanent: the slice throws what is not a Fault, so that the lane parks its thread and does not
//       retry.
//   A5. The transcript in memory takes the messages of a commit once the commit is in the log.
import type { AppendOutcome, Commit, Span } from '@dormouse/ports';
import type { Thread } from '@dormouse/thread';
import { sealCommit } from '../../log/envelope.ts';
import { Hold } from '../pay/held-deliveries.ts';
import { afterCommit, type Debt, type ThreadState } from '../state/thread-state.ts';
import type { DecidedSlice } from './decide-slice.ts';
import { finish, settleDecided } from './settle.ts';
import type { LaneMemory, SliceDeps } from './slice-deps.ts';
import { type InputItem, type SliceItem, answerDeliveries } from './slice-item.ts';

type KnownOutcome = Exclude<AppendOutcome, 'unknown' | 'too_large'>;

/** A decision as it will be stored, and the thread after it. */
interface SealedSlice {
  readonly slice: DecidedSlice;
  readonly commit: Commit;
  /** The thread that was decided on. */
  readonly before: Thread;
  readonly after: ThreadState;
  readonly debts: readonly Debt[];
  readonly spans: readonly Span[];
}

/**
 * Answers the finished items; the others are decided again. @throws Error, not a Fault, if the commit is too large.
 * (A4)
 */
export async function commitSlice(
  deps: SliceDeps,
  lane: LaneMemory,
  before: ThreadState,
  slice: DecidedSlice,
  at: number,
): Promise<readonly SliceItem[]> {
  const sealed = seal(deps, lane, before, slice, at);
  const outcome = await append(deps, lane, sealed);
  if (outcome !== 'appended') return await decideAgain(deps, lane, slice.items, outcome);
  publish(deps, lane, sealed);
  await paySlice(deps, lane, sealed); // (A1)
  for (const item of slice.items) finish(lane, item, sealed.commit.version); // (A2)
  return slice.items;
}

function seal(deps: SliceDeps, lane: LaneMemory, before: ThreadState, slice: DecidedSlice, at: number): SealedSlice {
  const { key } = lane;
  const { items, events, effects, thread } = slice;
  const { position: version } = before.thread;
  const trace = deps.tracing.causeOf(before.trace, before.thread, items, at);
  const commit = sealCommit({
    key,
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
  const decided = { key, commit, inputs: items, events, effects, before: before.thread, after: thread };
  const { state, spans } = deps.tracing.fold(before.trace, decided);
  return { slice, commit, before: before.thread, after: afterCommit(before, slice, commit, state), debts, spans };
}

/**
 * Whether the commit of a delivered input leaves an effect to pay. The answer of a completion has no deliveries: those
 * that its run holds cover what its commit owes. (V2)
 */
const owesDeliveries = ({ protocol }: SliceDeps, { effects, items, thread }: DecidedSlice): boolean =>
  items.some((item) => item.deliveries.length > 0) && effects.some((effect) => protocol.isOwed(thread, effect));

/** The outcome of the append. After an unknown outcome or an exception the commit is read back. (A3) */
async function append(deps: SliceDeps, lane: LaneMemory, sealed: SealedSlice): Promise<KnownOutcome> {
  const { slice, commit } = sealed;
  let outcome: AppendOutcome;
  try {
    outcome = await deps.groupCommit.append({ commit, owes: owesDeliveries(deps, slice) });
  } catch (failure) {
    return await foundAfter(deps, lane, sealed, failure);
  }
  if (outcome === 'too_large') throw new Error(tooLarge(commit)); // (A4)
  return outcome === 'unknown' ? await readBack(deps, lane, sealed) : outcome;
}

/** (A3) */
async function decideAgain(
  deps: SliceDeps,
  lane: LaneMemory,
  items: readonly InputItem[],
  outcome: Exclude<KnownOutcome, 'appended'>,
): Promise<readonly SliceItem[]> {
  deps.cache.drop(lane.cacheKey);
  if (outcome === 'duplicate') return await settleDuplicates(deps, lane, items);
  deps.logger.info('commit_conflict', { ...lane.key, inputs: idsOf(items) });
  return [];
}

/** Reads back an append with an unknown outcome. (A3) */
async function readBack(deps: SliceDeps, lane: LaneMemory, sealed: SealedSlice): Promise<KnownOutcome> {
  markUncertain(sealed);
  // An absent commit is decided again, as after a conflict. It may still be stored later: the next reload then pays it
  // as a foreign commit. (thread-log L5, V1)
  return (await isStored(deps, lane, sealed)) ? 'appended' : 'conflict';
}

/**
 * Reads back an append that threw. @throws the failure when the commit is not there, or cannot be read. One that is not
 * there will not be stored later either: a store that is not sure answers `unknown`. (A3, thread-log L8)
 */
async function foundAfter(
  deps: SliceDeps,
  lane: LaneMemory,
  sealed: SealedSlice,
  failure: unknown,
): Promise<'appended'> {
  const found = await isStored(deps, lane, sealed).catch(() => 'unreadable' as const);
  if (found === 'unreadable') markUncertain(sealed);
  if (found !== true) throw failure;
  return 'appended';
}

async function isStored(deps: SliceDeps, lane: LaneMemory, { commit }: SealedSlice): Promise<boolean> {
  const [next] = await deps.log.read(lane.key, commit.version, 1);
  const stands = deps.protocol.wasAppended(commit, next?.version === commit.version ? next : null);
  deps.logger.info('commit_read_back', { ...lane.key, version: commit.version, stands });
  return stands;
}

function markUncertain({ slice }: SealedSlice): void {
  for (const item of slice.items) item.mayBeStored = true;
}

const tooLarge = ({ inputs, body }: Commit): string =>
  `What ${inputs.join(', ')} would lead to is larger than the store takes: a commit of ${body.length} characters.`;

function publish(deps: SliceDeps, lane: LaneMemory, { slice, commit, before, after, spans }: SealedSlice): void {
  const { events, thread, messages } = slice;
  after.messages.append(messages); // (A5)
  deps.cache.put(lane.cacheKey, deps.snapshots.consider(lane.key, after));
  for (const item of slice.items) answerDeliveries(item, commit.version);
  deps.feed.publish(lane.key, { hint: 'committed', commit, after: { before, events, thread } });
  deps.projections.changed(lane.key, thread);
  const counted = { events, characters: commit.body.length, before, after: thread, prices: deps.prices };
  deps.limits.committed(lane.key.tenant, counted);
  deps.tracing.record(spans, thread);
}

async function paySlice(deps: SliceDeps, lane: LaneMemory, sealed: SealedSlice): Promise<void> {
  const hold = holdAll(sealed.slice.items);
  try {
    await deps.protocol.pay(deps.payment, lane, { debts: sealed.debts, state: sealed.after, hold });
  } finally {
    hold.drop();
  }
  extendStretch(lane, sealed);
}

function extendStretch(lane: LaneMemory, { commit, after }: SealedSlice): void {
  const { stretch } = lane;
  if (stretch?.to === commit.version) lane.stretch = { from: stretch.from, to: after.thread.position };
}

/** One hold that absorbs the holds of all items, so that they are released together. (A2) The caller drops it. */
function holdAll(items: readonly InputItem[]): Hold {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return only.hold.retain();
  const all = new Hold();
  for (const item of items) all.absorb(item.hold.retain());
  return all;
}

/** The store does not say which input is the duplicate: looks up each, pays those found, leaves the others. (V8) */
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
      return found; // these items are finished; this one and the rest are retried
    }
  }
  deps.logger.info('commit_duplicate', { ...lane.key, inputs: idsOf(found) });
  return found;
}

const idsOf = (items: readonly InputItem[]): string => items.map(({ input }) => input.id).join(' ');
