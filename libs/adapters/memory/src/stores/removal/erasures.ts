// Erasures in memory. Port: ports/stores/erasures.ts.
import type { ErasureRecord, Erasures, TenantId } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { pageOf, replaceSeen, rising, rowsOf } from '../rows.ts';

export type ErasureStore = Map<string, ErasureRecord>;

const orderOf = ({ requestedAt, id }: ErasureRecord): string => `${String(9e15 - requestedAt).padStart(16, '0')} ${id}`;

export function createErasures(erasures: ErasureStore, passage: Passage): Erasures {
  const nameOf = ({ tenant, id }: Pick<ErasureRecord, 'tenant' | 'id'>): string => `${tenant}:${id}`;
  const newestFirst = (tenant: TenantId): readonly ErasureRecord[] =>
    rowsOf(erasures, tenant).toSorted(rising(orderOf));
  return {
    insert: (erasure) =>
      passage.write('erasures.insert', erasure.id, () => {
        const stored = erasures.get(nameOf(erasure)) ?? erasure;
        erasures.set(nameOf(erasure), stored);
        return stored;
      }),
    get: (tenant, id) => passage.read('erasures.get', id, () => erasures.get(nameOf({ tenant, id })) ?? null),
    list: (tenant, page) => passage.read('erasures.list', tenant, () => pageOf(newestFirst(tenant), page, orderOf)),
    replace: (erasure, seen) =>
      passage.write('erasures.replace', erasure.id, () => replaceSeen(erasures, nameOf(erasure), erasure, seen)),
    running: (limit) =>
      passage.read('erasures.running', '', () =>
        [...erasures.values()]
          .filter(({ certificate }) => certificate === null)
          .toSorted((left, right) => left.requestedAt - right.requestedAt)
          .slice(0, limit),
      ),
  };
}
