import { Fault } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { cutPage } from './whole-list.ts';

const item = (since: number, id: string): { since: number; id: string } => ({ since, id });
const placeOf = ({ since, id }: { since: number; id: string }): readonly [number, string] => [since, id];
const items = [item(2, 'b'), item(1, 'z'), item(2, 'a'), item(3, 'c'), item(10, 'd')];

describe('a page of a whole list', () => {
  it('O1 O2 gives everything once, in order, whatever the limit', () => {
    for (const limit of [1, 2, 3, 5, 6]) {
      const given: string[] = [];
      let cursor: string | null = null;
      do {
        const page: { data: readonly { id: string }[]; nextCursor: string | null } = cutPage(
          items,
          { limit, cursor },
          placeOf,
        );
        given.push(...page.data.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(given).toEqual(['z', 'a', 'b', 'c', 'd']);
    }
  });

  it('O1 goes on after an item that is gone', () => {
    const { nextCursor } = cutPage(items, { limit: 2, cursor: null }, placeOf);
    const left = items.filter(({ id }) => id !== 'a');
    expect(cutPage(left, { limit: 9, cursor: nextCursor }, placeOf).data.map(({ id }) => id)).toEqual(['b', 'c', 'd']);
  });

  it('refuses the cursor of another list', () => {
    const other = cutPage([{ name: 'x' }, { name: 'y' }], { limit: 1, cursor: null }, ({ name }) => [name]).nextCursor;
    for (const cursor of [other, 'zz', '', btoa('[]'), btoa('[1]'), btoa('[{},1]')])
      expect(() => cutPage(items, { limit: 1, cursor }, placeOf)).toThrow(Fault);
  });
});
