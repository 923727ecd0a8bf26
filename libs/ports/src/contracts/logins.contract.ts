// The contract of `Logins`, for every adapter.
import { describe, expect, it } from 'vitest';
import type { Logins } from '../index.ts';
import { freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export function loginsContract(name: string, make: () => Promise<UnderTest<Logins>>): void {
  describe(`Logins contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('(G1) the newest login of a call is read until it is forgotten', async () => {
      const logins = await opened.get();
      const key = freshKey();
      await logins.put(key, { toolCallId: 'call_1', sealed: 'one', expiresAt: 1_000 });
      await logins.put(key, { toolCallId: 'call_1', sealed: 'two', expiresAt: 2_000 });
      await logins.put(key, { toolCallId: 'call_2', sealed: 'other', expiresAt: 2_000 });
      expect(await logins.list(key, 0)).toEqual([
        { toolCallId: 'call_1', sealed: 'two', expiresAt: 2_000 },
        { toolCallId: 'call_2', sealed: 'other', expiresAt: 2_000 },
      ]);
      await logins.forget(key, 'call_1');
      await logins.forget(key, 'call_1');
      expect((await logins.list(key, 0)).map(({ toolCallId }) => toolCallId)).toEqual(['call_2']);
      expect(await logins.list(freshKey(), 0)).toEqual([]);
    });

    it('(G1) an expired one is not read', async () => {
      const logins = await opened.get();
      const key = freshKey();
      await logins.put(key, { toolCallId: 'call_1', sealed: 'one', expiresAt: 1_000 });
      expect(await logins.list(key, 1_000)).toEqual([]);
    });
  });
}
