// The contract of `CallbackCounts` (C1..C3), for every adapter.
import { describe, expect, it } from 'vitest';
import { tenantId, type CallbackCount, type CallbackCountRow, type CallbackCounts } from '../index.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

let threads = 0;
/** A thread that no other test uses. */
const freshThread = () => ({
  tenant: tenantId('acme'),
  thread: `thr_${(threads += 1)}_${Math.random().toString(36).slice(2, 10)}`,
});

const inOrder = (counts: readonly CallbackCount[]): readonly CallbackCount[] =>
  counts.toSorted((one, other) => (one.toolCallId < other.toolCallId ? -1 : 1));

export function callbackCountsContract(name: string, make: () => Promise<UnderTest<CallbackCounts>>): void {
  describe(`CallbackCounts contract: ${name}`, () => {
    const opened = openedOnce(make);
    const rowOf = (key: CallbackCountRow | ReturnType<typeof freshThread>, more: Partial<CallbackCountRow> = {}) => ({
      ...{ tenant: key.tenant, thread: key.thread, toolCallId: 'call_1', reporter: 'one', duplicates: 1, refused: 0 },
      ...more,
    });

    it('C1: a row that is put again replaces itself, and reporters add up', async () => {
      const counts = await opened.get();
      const key = freshThread();
      expect(await counts.read(key, ['call_1'])).toEqual([]);
      await counts.put([rowOf(key)]);
      await counts.put([rowOf(key)]);
      expect(await counts.read(key, ['call_1'])).toEqual([{ toolCallId: 'call_1', duplicates: 1, refused: 0 }]);
      await counts.put([rowOf(key, { duplicates: 3, refused: 2 }), rowOf(key, { reporter: 'two', refused: 5 })]);
      expect(await counts.read(key, ['call_1'])).toEqual([{ toolCallId: 'call_1', duplicates: 4, refused: 7 }]);
      await counts.put([]);
    });

    it('C2: only these calls, of this thread and tenant', async () => {
      const counts = await opened.get();
      const [key, other] = [freshThread(), freshThread()];
      await counts.put([
        rowOf(key),
        rowOf(key, { toolCallId: 'call_2', refused: 4 }),
        rowOf(key, { toolCallId: 'call_3' }),
        rowOf(other, { duplicates: 9 }),
        rowOf({ ...key, tenant: tenantId('zenith') }, { duplicates: 8 }),
      ]);
      expect(inOrder(await counts.read(key, ['call_1', 'call_2', 'call_9']))).toEqual([
        { toolCallId: 'call_1', duplicates: 1, refused: 0 },
        { toolCallId: 'call_2', duplicates: 1, refused: 4 },
      ]);
      expect(await counts.read(other, ['call_1'])).toMatchObject([{ duplicates: 9 }]);
      expect(await counts.read(key, [])).toEqual([]);
    });
  });
}
