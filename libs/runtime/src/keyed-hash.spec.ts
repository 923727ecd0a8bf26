import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashKeyOf, keyedHash } from './keyed-hash.ts';

describe('a keyed hash', () => {
  it('is HMAC-SHA-256, for keys and data of every length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 300 }), (secret, data) => {
        const expected = createHmac('sha256', secret).update(data).digest('hex');
        expect(keyedHash(hashKeyOf(secret), data).toString('hex')).toBe(expected);
      }),
    );
  });

  it('takes text as UTF-8', () => {
    const secret = Buffer.alloc(32, 7);
    const expected = createHmac('sha256', secret).update('Köln 🐭').digest('hex');
    expect(keyedHash(hashKeyOf(secret), 'Köln 🐭').toString('hex')).toBe(expected);
  });
});
