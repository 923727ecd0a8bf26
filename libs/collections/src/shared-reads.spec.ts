import { expect, it } from 'vitest';
import { createSharedReads } from './shared-reads.ts';

it('those who ask at the same time share one answer or one failure; who asks later asks anew', async () => {
  const shared = createSharedReads<number>();
  let reads = 0;
  const read = async (): Promise<number> => {
    const nth = ++reads;
    await Promise.resolve();
    if (nth === 2) throw new Error('away');
    return nth;
  };
  expect(await Promise.all([shared('a', read), shared('a', read)])).toEqual([1, 1]);
  const failed = await Promise.allSettled([shared('a', read), shared('a', read)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([shared('a', read), shared('b', read)])).toEqual([3, 4]);
});
