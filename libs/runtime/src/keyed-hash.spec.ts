import fc from 'fast-check';
import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashKeyOf, keyedDigest, keyedHash } from './keyed-hash.ts';

describe('a keyed hash', () => {
  it('is HMAC-SHA-256, for keys and data of every length', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.uint8Array({ maxLength: 2_000, size: 'max' }), { minLength: 1, maxLength: 4 }),
        (secret, all) => {
          const key = hashKeyOf(secret);
          for (const data of all) {
            const expected = createHmac('sha256', secret).update(data).digest('hex');
            expect(keyedHash(key, data).toString('hex')).toBe(expected);
          }
        },
      ),
    );
  });

  it('takes text as UTF-8', () => {
    const secret = Buffer.alloc(32, 7);
    for (const text of ['Köln 🐭', 'ö'.repeat(480), 'ö'.repeat(481), '']) {
      const expected = createHmac('sha256', secret).update(text).digest('hex');
      expect(keyedHash(hashKeyOf(secret), text).toString('hex')).toBe(expected);
    }
  });
});

describe('the digest of an id', () => {
  it('is the inner half of it: SHA-256 of the padded key and the data', () => {
    const secret = Buffer.alloc(32, 7);
    const padded = Buffer.alloc(64, 0x36);
    for (let at = 0; at < secret.length; at++) padded[at] = 0x36 ^ 7;
    for (const data of ['', 'acme\nthr_1\ncall\n7', 'ö'.repeat(481)])
      expect(keyedDigest(hashKeyOf(secret), data)).toBe(
        createHash('sha256').update(padded).update(data).digest('binary'),
      );
  });
});
