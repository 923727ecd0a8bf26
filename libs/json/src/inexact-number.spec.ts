import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inexactNumber } from './inexact-number.ts';

describe('a number that a double does not hold', () => {
  it.each([
    ['{"id": 1234567890123456789}', '1234567890123456789'],
    ['[-9007199254740993]', '-9007199254740993'],
    ['{"a":"1234567890123456789","b":[0,{"c":9007199254740993}]}', '9007199254740993'],
    ['{"a\\\\":"\\"1","b":9007199254740993.0}', '9007199254740993.0'],
    ['12345678901234567.5', '12345678901234567.5'],
    ['1e999', '1e999'],
    ['-1E+400', '-1E+400'],
  ])('in %s is %s', (text, number) => expect(inexactNumber(text)).toBe(number));

  it.each([
    '9007199254740992',
    '100000000000000000000',
    '1e20',
    '1.0',
    '0.1234567890123456789',
    '-0',
    '0e999',
    '1e-400',
    '"1234567890123456789"',
    '{"1234567890123456789":"\\\\"}',
    '{"a":"\\"9007199254740993"}',
  ])('is none in %s', (text) => expect(inexactNumber(text)).toBeNull());

  it('R98 is found exactly where an integer would be changed', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 21n) + 1n, max: 10n ** 21n - 1n }), (integer) => {
        const isKept = JSON.stringify(Number(integer)) === String(integer);
        expect(inexactNumber(`{"a":[${integer}]}`)).toBe(isKept ? null : String(integer));
      }),
    );
  });

  it('takes time that is linear in the text', () => {
    const zeros = '0'.repeat(1_000_000);
    for (const text of [`1${zeros}1`, `1.${zeros}`, `"${'\\\\'.repeat(500_000)}"`, `[${'1e1,'.repeat(250_000)}1]`]) {
      const before = process.cpuUsage().user;
      inexactNumber(text);
      expect(process.cpuUsage().user - before).toBeLessThan(2_000_000);
    }
  });
});
