// Cutting a list out of a log: the one rule by which every list over events is paged.
//
// Invariants:
//   Q1. A cursor is a position: what is listed next comes from later events. It stays valid for ever.
//   Q2. `nextCursor` is null when the log was read to its end.
import type { PlacedEvent } from './log-scan.ts';

export interface ListPage<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export async function pageOf<T>(
  events: AsyncIterable<PlacedEvent>,
  limit: number,
  entryOf: (placed: PlacedEvent) => T | null | Promise<T | null>,
): Promise<ListPage<T>> {
  const data: T[] = [];
  let last = 0;
  for await (const placed of events) {
    const entry = await entryOf(placed);
    if (entry === null) continue;
    if (data.length === limit) return { data, nextCursor: String(last) }; // (Q1)
    data.push(entry);
    last = placed.position;
  }
  return { data, nextCursor: null }; // (Q2)
}
