import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ulid } from './ulid.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const zeros = '\0'.repeat(10);

describe('a ULID', () => {
  it('is a time and bits', () => {
    expect(ulid(1_469_918_176_385, zeros).slice(0, 10)).toBe('01ARYZ6S41');
    expect(ulid(0, '\xff'.repeat(10))).toBe('0000000000ZZZZZZZZZZZZZZZZ');
    expect(ulid(0, `${'\0'.repeat(9)}\x1f`)).toBe('0000000000000000000000000Z');
  });

  it('is what its number is in base 32', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 48 - 1 }), fc.uint8Array({ minLength: 10, maxLength: 32 }), (time, bytes) => {
        let number = BigInt(time);
        for (const byte of bytes.subarray(0, 10)) number = (number << 8n) | BigInt(byte);
        const letter = (digit: string): string => alphabet.charAt(Number.parseInt(digit, 32));
        const text = number.toString(32).padStart(26, '0').replaceAll(/./g, letter);
        expect(ulid(time, Buffer.from(bytes).toString('latin1'))).toBe(text);
      }),
    );
  });
});
