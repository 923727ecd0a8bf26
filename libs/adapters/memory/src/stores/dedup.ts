// Callback ids that are known to be durable. Clearing the store at any moment costs time only. I-17
import type { Dedup } from '@dormouse/ports';
import type { Passage } from '../gate.ts';

export type DedupStore = Set<string>;

export function createDedup(known: DedupStore, passage: Passage): Dedup {
  return {
    seen: (tenant, id) => passage.read('dedup.seen', id, () => known.has(`${tenant}:${id}`)),
    remember: (tenant, id) => passage.write('dedup.remember', id, () => void known.add(`${tenant}:${id}`)),
  };
}
