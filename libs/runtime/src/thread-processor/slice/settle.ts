// Finishes a slice's items: answers their deliveries, pays again what was decided before, and drops their holds.
//
// Invariants:
//   E1. A redelivery drops the cached state; the debts and the state that judges them come from one reading. (V5)
//   E2. A redelivery whose commit this lane has paid reads nothing; it waits only for the lane's open holds.
//   E3. If the first reading of a lane shows the commit that decided its first item, that reading settles the item, and
//       nothing more is read. After a takeover every thread with a redelivery takes this path.
//   E4. The process that stored these commits may have died before it updated the thread's row in the directory: the
//       row is updated again. (projections J1)
import type { Commit } from '@dormouse/ports';
import type { Hold } from '../pay/held-deliveries.ts';
import type { Debt, ReadThread } from '../state/thread-state.ts';
import type { LaneMemory, Repayment, SliceDeps } from './slice-deps.ts';
import { type InputItem, type LaneItem, answerDeliveries } from './slice-item.ts';

/** Answers the item and drops the slice's hold on it. `version` of its commit: null if it was refused without one. */
export function finish(lane: LaneMemory, item: LaneItem, version: number | null): void {
  answerDeliveries(item, version);
  item.hold.drop();
  if (item.hold.isOpen) lane.openHolds.push(item.hold);
}

/** Finishes an input that was decided before: pays what its commit and the later ones may still owe. */
export async function settleDecided(
  deps: SliceDeps,
  lane: LaneMemory,
  item: InputItem,
  commit: Commit,
): Promise<InputItem> {
  answerDeliveries(item, commit.version);
  await repay(deps, lane, commit.version, item.hold);
  finish(lane, item, commit.version);
  return item;
}

/** Settles the item if the lane's first reading shows that it was decided before. (E3) */
export async function settleRead(
  deps: SliceDeps,
  lane: LaneMemory,
  item: InputItem,
  { state, debts, decided }: ReadThread,
): Promise<boolean> {
  const from = decided.get(item.input.id);
  if (from === undefined) return false;
  answerDeliveries(item, from);
  const owed = debts.filter(({ version }) => version >= from);
  await deps.protocol.payAgain(deps, lane, { from, stretch: lane.stretch }, { state, debts: owed }, item.hold);
  finish(lane, item, from);
  return true;
}

/** From which version a redelivery is paid; null when this lane has paid everything. (V1, V5) */
export function repayFrom({ from, stretch }: Repayment): number | null {
  if (stretch === null || from < stretch.from) return from;
  return from < stretch.to ? null : stretch.to;
}

/** Pays the commits from `from` to the head, unless this lane already has. */
export async function repay(deps: SliceDeps, lane: LaneMemory, from: number, hold: Hold): Promise<void> {
  const repayment = { from, stretch: lane.stretch };
  const debtsFrom = deps.protocol.repayFrom(repayment);
  if (debtsFrom === null) return joinOpenHolds(lane, hold); // (E2)
  deps.cache.drop(lane.cacheKey); // (E1)
  const read = await deps.protocol.readThread(deps.sources, lane.key, debtsFrom);
  await deps.protocol.payAgain(deps, lane, repayment, read, hold);
}

/** Pays debts that were read from the log, and remembers the stretch that is paid now. */
export async function payAgain(
  deps: SliceDeps,
  lane: LaneMemory,
  { from, stretch }: Repayment,
  { state, debts }: Pick<ReadThread, 'state' | 'debts'>,
  hold: Hold,
): Promise<void> {
  if (debts.length > 0) deps.logger.info('redelivery_repaid', { ...lane.key, versions: versionsOf(debts) });
  await deps.protocol.pay(deps.payment, lane, { debts, state, hold });
  lane.stretch = { from: Math.min(stretch?.from ?? from, from), to: state.thread.position };
  deps.cache.put(lane.cacheKey, state);
  deps.projections.changed(lane.key, state.thread); // (E4)
}

export const versionsOf = (debts: readonly Debt[]): string => debts.map(({ version }) => version).join(' ');

/** Makes `hold` wait for every open hold of the lane: a store of debts by commit must not forget an unpaid one. */
function joinOpenHolds(lane: LaneMemory, hold: Hold): void {
  for (const open of lane.openHolds) if (open.isOpen) open.absorb(hold.retain());
  lane.run?.hold.absorb(hold.retain());
}
