// Usage of threads by UTC day: each thread's days, projected with its row, and their sums.
//
// Contract (contracts/usage.contract.ts):
//   U1. A day of a thread counts once, however often it is projected; of several the one of the latest position counts.
//   U2. Sums by agent, by day and by thread are of the same days, and each adds up to the total.
import type { DayUsage, UsageTotals } from '@dormouse/thread';

export type { UsageTotals };

/** As it comes with the projection of a thread. */
export interface ThreadUsage {
  /** The agent's name. */
  readonly agent: string;
  readonly days: readonly DayUsage[];
}

/** Days since 1970; `toDay` is exclusive. */
export interface UsageRange {
  readonly fromDay: number;
  readonly toDay: number;
}

export interface UsageQuery extends UsageRange {
  readonly groupBy: 'agent' | 'day' | 'thread';
}

export interface UsageRow extends UsageTotals {
  /** The agent's name, the day as a number, or the thread's id. */
  readonly key: string;
}

export const noUsage: UsageTotals = {
  ...{ inputTokens: 0, outputTokens: 0, completions: 0, toolCalls: 0, activeMs: 0, waitingMs: 0 },
};

export const usageFields = Object.keys(noUsage) as readonly (keyof UsageTotals)[];

export function addUsage(one: UsageTotals, other: UsageTotals): UsageTotals {
  return Object.fromEntries(usageFields.map((field) => [field, one[field] + other[field]])) as Record<
    keyof UsageTotals,
    number
  >;
}
