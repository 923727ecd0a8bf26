// The contract of `RevokedTokens`, for every adapter.
import { describe, expect, it } from 'vitest';
import { tenantId, type RevokedTokens, type TokenName } from '../index.ts';
import { freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const later = 4_000_000_000_000;

export function revokedTokensContract(name: string, make: () => Promise<UnderTest<RevokedTokens>>): void {
  describe(`RevokedTokens contract: ${name}`, () => {
    const opened = openedOnce(make);
    const freshToken = (id = 'tok_1'): TokenName => ({ ...freshKey(), id });

    it('(R1) finds what was revoked, once, and nothing else', async () => {
      const revoked = await opened.get();
      const [one, two, three] = [freshToken(), freshToken(), freshToken()];
      await revoked.add(one, later);
      await revoked.add(three, later);
      await revoked.add(three, later);
      expect(await revoked.among([])).toEqual([]);
      expect(await revoked.among([two])).toEqual([]);
      const found = await revoked.among([three, two, one]);
      expect(found).toHaveLength(2);
      expect(found).toEqual(expect.arrayContaining([one, three]));
    });

    it('(R2) tells tokens of one id apart by tenant and thread', async () => {
      const revoked = await opened.get();
      const token = freshToken('tok_same');
      await revoked.add(token, later);
      expect(await revoked.among([{ ...token, thread: `${token.thread}x` }])).toEqual([]);
      expect(await revoked.among([{ ...token, tenant: tenantId(`${token.tenant}x`) }])).toEqual([]);
      expect(await revoked.among([token])).toEqual([token]);
    });

    it('(R1) outlives its process', async () => {
      const token = freshToken();
      await (await opened.get()).add(token, later);
      const again = await opened.reopened();
      if (again !== null) expect(await again.among([token])).toEqual([token]);
    });
  });
}
