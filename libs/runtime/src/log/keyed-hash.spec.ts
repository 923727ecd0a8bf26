import { expect, it } from 'vitest';
import { hashKeyOf, keyedHash } from './keyed-hash.ts';

it('is HMAC-SHA-256 of text as UTF-8 and of bytes (RFC 4231, test case 2)', () => {
  const digest = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  const data = 'what do ya want for nothing?';
  for (const given of [data, Buffer.from(data)])
    expect(keyedHash(hashKeyOf(Buffer.from('Jefe')), given).toString('hex')).toBe(digest);
});
