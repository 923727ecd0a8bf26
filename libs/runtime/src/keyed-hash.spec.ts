import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashKeyOf, keyedHash } from './keyed-hash.ts';

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
