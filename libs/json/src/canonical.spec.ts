import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical.ts';

describe('canonicalJson', () => {
  it('R30 follows the example of RFC 8785', () => {
    const value: unknown = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('R30 sorts members by code units, at every depth', () => {
    const value = {
      '\u20ac': 1,
      '\r': 2,
      '\ufb33': 3,
      '1': 4,
      '\ud83d\ude00': 5,
      '\u0080': 6,
      '\u00f6': { b: 1, a: 2 },
    };
    expect(canonicalJson(value)).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":{"a":2,"b":1},"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    );
  });

  it('R30 equal values have equal text, and the text has the value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(shuffled(JSON.parse(text)))).toBe(text);
      }),
    );
  });

  it('writes minus zero as zero and leaves out undefined members', () => {
    expect(canonicalJson({ a: -0, b: undefined })).toBe('{"a":0}');
  });

  it.each([Number.NaN, Infinity, undefined, 1n, () => 0, '\ud800', { a: [-Infinity] }, { '\udc00': 1 }])(
    'throws for what JSON cannot carry (%#)',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(TypeError);
    },
  );
});

/** The same value with the members of every object in the opposite order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, shuffled(member)]),
  );
}
