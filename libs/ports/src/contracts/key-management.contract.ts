// What every service that wraps keys does the same. Contract: ports/registry/key-management.ts.
import { describe, expect, it } from 'vitest';
import type { KeyManagement } from '../registry/key-management.ts';

const key = Uint8Array.from({ length: 32 }, (_, nth) => nth * 7);

/** `another` is a second process of the same installation. */
export function keyManagementContract(
  name: string,
  open: () => Promise<{ one: KeyManagement; another: KeyManagement }>,
) {
  describe(`key management: ${name}`, () => {
    it('M1 unwraps what another process has wrapped', async () => {
      const { one, another } = await open();
      const wrapped = await one.wrap(key);
      expect(await another.unwrap(wrapped)).toEqual(key);
      expect(await one.unwrap(wrapped)).toEqual(key);
      expect(one.keyId).toBe(another.keyId);
    });

    it('M2 writes one word', async () => {
      const { one } = await open();
      expect(await one.wrap(key)).toMatch(/^[^\s,@]+$/);
    });

    it.each(['canary', 'vault:v1:', 'vault:v1:Y2FuYXJ5', 'ff', `${'0'.repeat(63)}g`])(
      'M3 refuses what it has not wrapped: %s',
      async (text) => {
        const { one } = await open();
        const thrown: unknown = await one.unwrap(text).catch((error: unknown) => error);
        expect(thrown).toMatchObject({ code: 'KMS_REFUSED' });
        expect(String(thrown)).not.toMatch(/canary|Y2FuYXJ5/);
      },
    );
  });
}
