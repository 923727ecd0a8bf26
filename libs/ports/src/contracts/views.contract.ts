// The contract of `Views`, for every adapter.
import { describe, expect, it } from 'vitest';
import { type Views, viewsMax } from '../index.ts';
import { freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export function viewsContract(name: string, make: () => Promise<UnderTest<Views>>): void {
  describe(`Views contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('(V1) R95 the last content of each type is what is read, character for character', async () => {
      const views = await opened.get();
      const key = freshKey();
      const odd = '{"big":123456789012345678901234567890,"n":[null,[1.0,1e400]],"__proto__":{"a":"\\ud800"}}';
      await views.put(key, { viewType: 'board', content: '{"a":1}' });
      await views.put(key, { viewType: 'list', content: '{"b":1}' });
      await views.put(key, { viewType: 'board', content: odd });
      expect(await views.list(key)).toEqual([
        { viewType: 'board', content: odd },
        { viewType: 'list', content: '{"b":1}' },
      ]);
      expect(await views.list(freshKey())).toEqual([]);
    });

    it('(V1) empty content clears', async () => {
      const views = await opened.get();
      const key = freshKey();
      await views.put(key, { viewType: 'board', content: '{"a":1}' });
      await views.put(key, { viewType: 'board', content: ' { } ' });
      expect(await views.list(key)).toEqual([]);
    });

    it('(V2) a type too many replaces the one that was changed longest ago', async () => {
      const views = await opened.get();
      const key = freshKey();
      for (let n = 0; n <= viewsMax; n++) await views.put(key, { viewType: `type-${n}`, content: `{"n":${n}}` });
      const kept = (await views.list(key)).map(({ viewType }) => viewType);
      expect(kept).toHaveLength(viewsMax);
      expect(kept).not.toContain('type-0');
    });

    it('outlives its process', async () => {
      const key = freshKey();
      await (await opened.get()).put(key, { viewType: 'board', content: '{"kept":true}' });
      const again = await opened.reopened();
      if (again !== null) expect(await again.list(key)).toEqual([{ viewType: 'board', content: '{"kept":true}' }]);
    });
  });
}
