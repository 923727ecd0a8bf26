// What every eraser of contents guarantees. C1, C2: ports/stores/content-eraser.ts; what is left on a disk is searched
// by specs of its own.
import { describe, expect, it } from 'vitest';
import type { Stores } from '../stores.ts';
import { commitOf, freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

type Erasing = Pick<Stores, 'log' | 'tenantLog' | 'contentEraser'>;

export function contentEraserContract(name: string, make: () => Promise<UnderTest<Erasing>>): void {
  describe(`ContentEraser contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('C1: kid, hashes and body are replaced, and nothing else; again is the same', async () => {
      const { log, contentEraser } = await opened.get();
      const [key, other] = [freshKey(), freshKey()];
      const commits = [0, 1, 2].map((version) => commitOf(key, version, { inputs: [`in-${version}`] }));
      const kept = commitOf(other, 0);
      for (const commit of [...commits, kept]) await log.append([{ commit, owes: false }]);
      const changed = commits
        .slice(1)
        .map((commit) => ({ ...commit, kid: 'thr_1', prev: 'c'.repeat(64), hash: 'd'.repeat(64), body: '' }));
      for (let nth = 0; nth < 2; nth += 1) await contentEraser.rewrite(changed);
      await contentEraser.rewrite([{ ...commitOf(key, 9), body: '' }]);
      expect(await log.read(key, 0)).toEqual([commits[0], ...changed]);
      expect(await log.findByInputs(key, ['in-2'])).toEqual([changed[1]]);
      expect(await log.read(other, 0)).toEqual([kept]);
      expect(await log.append([{ commit: commitOf(key, 3), owes: false }])).toEqual(['appended']);
    });

    it('C2: what is left can be written to', async () => {
      const { log, contentEraser } = await opened.get();
      const key = freshKey();
      await log.append([{ commit: commitOf(key, 0), owes: false }]);
      for (const wasClear of [false, true]) await contentEraser.scrub(wasClear);
      expect(await log.append([{ commit: commitOf(key, 1), owes: false }])).toEqual(['appended']);
      expect(await log.read(key, 0)).toHaveLength(2);
    });
  });
}
