// What every store of users' credentials guarantees. U1, U2: ports/user-credentials.ts
import type { TenantId } from '../index.ts';
import { describe, expect, it } from 'vitest';
import type { UserCredential, UserCredentials } from '../registry/user-credentials.ts';
import { freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const users = ['ann', 'a:b', 'a', '["x","y"', 'Jörg ☃', 'x/../y', '%00', '-', ','];

export function userCredentialsContract(name: string, make: () => Promise<UnderTest<UserCredentials>>): void {
  describe(`UserCredentials contract: ${name}`, () => {
    const opened = openedOnce(make);
    const of = (tenant: TenantId, userId: string, toolServer = 'crm', sealed = 'sealed'): UserCredential => ({
      ...{ tenant, userId, toolServer, type: 'oauth2', origin: 'https://crm.example', sealed, version: 1 },
      ...{ createdAt: 5, updatedAt: 6, expiresAt: null, lease: null, failedAt: null },
    });

    it('U1: of five that have read the same, one replaces it', async () => {
      const credentials = await opened.get();
      const tenant = freshTenant();
      await credentials.put(of(tenant, 'ann'));
      const seen = await credentials.get(tenant, 'ann', 'crm');
      if (seen === null) throw new Error('it is not there');
      const changed = [1, 2, 3, 4, 5].map((nth) => ({ ...seen, version: 2, lease: { holder: `p${nth}`, until: 9 } }));
      const done = await Promise.all(changed.map((each) => credentials.replace(each, seen)));
      expect(done.filter((isDone) => isDone)).toHaveLength(1);
      expect(await credentials.get(tenant, 'ann', 'crm')).toEqual(changed[done.indexOf(true)]);
      expect(await credentials.replace(of(tenant, 'ann'), seen)).toBe(false);
      expect(await credentials.replace(of(tenant, 'bob'), of(tenant, 'bob'))).toBe(false);
    });

    it('U2: each is found by its own names only, listed for its user, and removed once', async () => {
      const credentials = await opened.get();
      const [ours, theirs] = [freshTenant(), freshTenant()];
      for (const user of users) await credentials.put(of(ours, user, 'crm', `of ${user}`));
      await credentials.put(of(ours, 'ann', 'mail'));
      await credentials.put(of(ours, 'ann', 'mail', 'another'));
      for (const user of users)
        expect(await credentials.get(ours, user, 'crm')).toEqual(of(ours, user, 'crm', `of ${user}`));
      expect(await credentials.list(ours, 'ann')).toEqual([
        of(ours, 'ann', 'crm', 'of ann'),
        of(ours, 'ann', 'mail', 'another'),
      ]);
      expect(await credentials.list(ours, 'a')).toEqual([of(ours, 'a', 'crm', 'of a')]);
      expect(await credentials.get(theirs, 'ann', 'crm')).toBeNull();
      expect(await credentials.list(theirs, 'ann')).toEqual([]);
      expect(await credentials.remove(theirs, 'ann', 'crm')).toBe(false);
      expect(await credentials.remove(ours, 'ann', 'crm')).toBe(true);
      expect(await credentials.remove(ours, 'ann', 'crm')).toBe(false);
      expect(await credentials.list(ours, 'ann')).toHaveLength(1);
    });

    it('U2: pages give every one of a tenant once', async () => {
      const credentials = await opened.get();
      const [ours, theirs] = [freshTenant(), freshTenant()];
      await credentials.put(of(theirs, 'ann'));
      for (const user of users) for (const server of ['crm', 'mail']) await credentials.put(of(ours, user, server));
      const found: UserCredential[] = [];
      for (let after: UserCredential | null = null; ;) {
        const page: readonly UserCredential[] = await credentials.page(ours, after, 5);
        found.push(...page);
        after = page.at(-1) ?? null;
        if (page.length < 5) break;
      }
      const names = found.map(({ userId, toolServer }) => JSON.stringify([userId, toolServer]));
      expect(names.toSorted()).toEqual(
        users.flatMap((user) => ['crm', 'mail'].map((server) => JSON.stringify([user, server]))).toSorted(),
      );
    });
  });
}
