import { keyManagementContract } from '@dormouse/ports/contracts';
import type { KeyManagement } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { localKeys, openKeySetting } from './opened-keys.ts';

keyManagementContract('keys in the clear', async () => ({ one: localKeys, another: localKeys }));

const hex = '1'.repeat(64);
const wrapped = 'vault:v1:Y2FuYXJ5IGNhbmFyeQ==';
const answering = (bytes: Uint8Array): KeyManagement => ({ ...localKeys, unwrap: async () => bytes });

describe('keys of a setting', () => {
  it('are the same ring, wrapped or not', async () => {
    const plain = await openKeySetting(hex, localKeys);
    const opened = await openKeySetting(wrapped, answering(Buffer.from(hex, 'hex')));
    expect(opened.ring.all[0]?.mark).toBe(plain.ring.all[0]?.mark);
    expect([plain.wrapped, plain.plain, opened.wrapped, opened.plain]).toEqual([null, 1, wrapped, 0]);
  });

  it.each([
    ['no key management', localKeys, 'no key management is set'],
    ['another length', answering(new Uint8Array(16)), '16 bytes'],
  ])('O3 are refused with %s', async (_, kms, words) => {
    await expect(openKeySetting(wrapped, kms)).rejects.toThrow(words);
    await expect(openKeySetting(wrapped, kms)).rejects.toMatchObject({ code: 'KMS_REFUSED' });
  });

  it('O3 are refused where two unwrap to the same', async () => {
    const text = `${wrapped}@2026-03-01T00:00:00Z,${hex}`;
    await expect(openKeySetting(text, answering(Buffer.from(hex, 'hex')))).rejects.toThrow('two unwrap to the same');
  });
});
