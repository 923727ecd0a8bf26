// The four steps of one slice of one thread: state, decide, append, pay.
//
// Invariants:
//   F1. A crash anywhere is harmless: before the append nothing happened; after it the commit owes what it says, and
//       the next process that gets its input or its recovery pays it.
//   F2. A warm slice reads nothing and writes one commit. What it has to know of its tenant's quotas is read once in a
//       while for all of its threads.
//   F3. Commits above the lane's stretch come from another process: they are paid before anything is decided. (V1)
//   F4. A refusal without a commit is final only when the log agrees, which is asked again after every reload. (V4)
import { unreachable } from '@dormouse/thread';
import { Hold } from '../pay/held-deliveries.ts';
import { momentOf } from '../rules/minted-ids.ts';
import type { Debt, ReadThread, ThreadState } from '../state/thread-state.ts';
import { decideSlice, type RefusedInput } from './decide-slice.ts';
import { showView } from './show-view.ts';
import { finish, repay, settleDecided, settleRead, versionsOf } from './settle.ts';
import type { LaneMemory, SliceDeps, Stretch } from './slice-deps.ts';
import { type InputItem, type RecoveryItem, type SliceItem, answerDeliveries } from './slice-item.ts';

/**
 * Runs one slice over the first of these items. Answers the finished ones; the caller passes the others again.
 * @throws what the decision of the first item throws: before it returns when the lane is warm, else by its promise
 */
export function runSlice(
  deps: SliceDeps,
  lane: LaneMemory,
  items: readonly SliceItem[],
): Promise<readonly SliceItem[]> {
  // What `learning` begins to read here is awaited in `runCold`.
  const state = items[0]?.what === 'input' && learning(deps, lane, items) === null ? cachedState(deps, lane) : null;
  return state === null ? runCold(deps, lane, items) : decideAndCommit(deps, lane, state, items); // (F2)
}

async function runCold(deps: SliceDeps, lane: LaneMemory, items: readonly SliceItem[]): Promise<readonly SliceItem[]> {
  const [head] = items;
  if (head === undefined) return [];
  if (head.what === 'recovery') return [await recover(deps, lane, head)];
  const [{ state, first }] = await Promise.all([currentState(deps, lane), learning(deps, lane, items)]);
  if (first !== null && head.what === 'input' && (await settleRead(deps, lane, head, first))) return [head];
  if (head.what === 'view') return [await showView(deps, lane, head, state.thread.status === 'open')];
  return await decideAndCommit(deps, lane, state, items);
}

function decideAndCommit(
  deps: SliceDeps,
  lane: LaneMemory,
  state: ThreadState,
  items: readonly SliceItem[],
): Promise<readonly SliceItem[]> {
  const now = Math.max(deps.clock.now(), state.thread.updatedAt);
  const quota = deps.limits.quotaOf(lane.key.tenant);
  const moment = momentOf(deps.idKey, lane.key, now, lane.run?.streamed() ?? null, quota);
  const slice = decideSlice(deps.protocol, state, leadingInputs(items), moment, deps.commitBytesMax);
  return slice.outcome === 'refused'
    ? refuse(deps, lane, state, slice)
    : deps.protocol.commitSlice(deps, lane, state, slice, now);
}

/** What is to be known of the tenant first; null when it is known. (F2) */
const learning = (deps: SliceDeps, { key }: LaneMemory, items: readonly SliceItem[]): Promise<void> | null =>
  deps.limits.learning(key.tenant, leadingInputs(items).some(asksForMore));

/** What may open a thread or a subscription. */
const asksForMore = ({ input }: InputItem): boolean =>
  (input.kind === 'ToolResult' && input.subscription) ||
  (input.kind === 'CompletionResult' && input.toolCalls.some(({ operation }) => operation === 'spawn_thread'));

function leadingInputs(items: readonly SliceItem[]): readonly InputItem[] {
  const inputs: InputItem[] = [];
  for (const item of items) {
    if (item.what !== 'input') break;
    inputs.push(item);
  }
  return inputs;
}

function cachedState(deps: SliceDeps, lane: LaneMemory): ThreadState | null {
  const state = deps.cache.get(lane.cacheKey);
  if (state !== null) lane.stretch ??= emptyStretch(state);
  return state;
}

/** `first`: the reading that gave the state, if it is this lane's first. */
async function currentState(
  deps: SliceDeps,
  lane: LaneMemory,
): Promise<{ readonly state: ThreadState; readonly first: ReadThread | null }> {
  const cached = cachedState(deps, lane);
  if (cached !== null) return { state: cached, first: null };
  const { stretch } = lane;
  const read = await deps.protocol.readThread(deps.sources, lane.key, stretch?.to ?? null);
  const { state, debts } = read;
  if (stretch === null) {
    lane.stretch = emptyStretch(state); // commits below are paid, or their inputs are delivered again
  } else if (state.thread.position > stretch.to) {
    await deps.protocol.payForeign(deps, lane, debts, state); // (F3)
    lane.stretch = { from: stretch.from, to: state.thread.position };
  }
  deps.cache.put(lane.cacheKey, state);
  return { state, first: stretch === null ? read : null };
}

/**
 * Pays commits that another process appended, under a new hold. The payment may absorb the hold of an ended completion,
 * which is older than the head item's: with the head's own hold, each of the two could wait for the other, and neither
 * would be released. (held-deliveries H3)
 */
export async function payForeign(
  deps: SliceDeps,
  lane: LaneMemory,
  debts: readonly Debt[],
  state: ThreadState,
): Promise<void> {
  const hold = new Hold();
  if (debts.length > 0) deps.logger.info('foreign_commits_paid', { ...lane.key, versions: versionsOf(debts) });
  await deps.protocol.pay(deps.payment, lane, { debts, state, hold });
  hold.drop();
  if (hold.isOpen) lane.openHolds.push(hold);
}

const emptyStretch = (state: ThreadState): Stretch => ({ from: state.thread.position, to: state.thread.position });

async function refuse(
  deps: SliceDeps,
  lane: LaneMemory,
  state: ThreadState,
  { item, refusal }: RefusedInput,
): Promise<readonly SliceItem[]> {
  const confirmation = await deps.protocol.confirmRefusal(deps.log, lane.key, state.thread.position, item.input.id); // (F4)
  switch (confirmation.refusal) {
    case 'stale':
      deps.cache.drop(lane.cacheKey);
      return [];
    case 'final':
      deps.discarded.note(lane.key, item.input, refusal);
      finish(lane, item, null);
      return [item];
    case 'decided_before':
      return [await settleDecided(deps, lane, item, confirmation.commit)];
    default:
      return unreachable(confirmation);
  }
}

/** The inputs are in the log and have no deliveries any more: pays what the commits from `from` on still owe. (V10) */
async function recover(deps: SliceDeps, lane: LaneMemory, item: RecoveryItem): Promise<SliceItem> {
  const { from, isWanted } = item;
  const version = isWanted ? null : from; // an operator's wake was decided by no commit
  answerDeliveries(item, version);
  if (isWanted) lane.stretch = null;
  await repay(deps, lane, from, item.hold);
  finish(lane, item, version);
  return item;
}
