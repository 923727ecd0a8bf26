// Callback messages that are known to be durable: positive facts in memory. Port: ports/dedup.ts. Losing one costs time,
// the log dedups for ever; so the disk is not asked.
import type { Dedup } from '@dormouse/ports';

export function createRecentIds(idsMax: number): Dedup {
  // Two generations: the older one is dropped when the younger is full.
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    seen: (tenant, id) => young.has(`${tenant} ${id}`) || old.has(`${tenant} ${id}`),
    remember: (tenant, id) => {
      if (young.size >= idsMax / 2) {
        old = young;
        young = new Set();
      }
      young.add(`${tenant} ${id}`);
    },
  };
}
