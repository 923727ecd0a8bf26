// A thread's usage by UTC day: what each day has added to its totals.
//
// Invariants:
//   U1. The totals of a thread are the sum of its days; a day is complete once a later one has begun.
//   U2. Time counts for the day of the event that ends it.
import { dayOf, type Thread, type UsageTotals } from '../thread.ts';

/** What one day has added. */
export interface DayUsage extends UsageTotals {
  /** Days since 1970, UTC. */
  readonly day: number;
}

/** The thread after an event that has changed its usage. */
export function inUsageDay(before: Thread, after: Thread, at: number): Thread {
  const day = dayOf(at);
  const last = before.usageDays.at(-1);
  if (last !== undefined && last.day >= day) return after;
  return { ...after, usageDays: [...before.usageDays.slice(-1), { day, before: before.usage }] };
}

/** The last two days with usage: the earlier one is complete. (U1) */
export const dailyUsage = ({ usage, usageDays }: Pick<Thread, 'usage' | 'usageDays'>): readonly DayUsage[] =>
  usageDays.map(({ day, before }, place) => ({ day, ...difference(usageDays[place + 1]?.before ?? usage, before) }));

const difference = (after: UsageTotals, before: UsageTotals): UsageTotals => ({
  inputTokens: after.inputTokens - before.inputTokens,
  outputTokens: after.outputTokens - before.outputTokens,
  completions: after.completions - before.completions,
  toolCalls: after.toolCalls - before.toolCalls,
  activeMs: after.activeMs - before.activeMs,
  waitingMs: after.waitingMs - before.waitingMs,
});
