import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rawMember as cuttingMember } from './raw-member.ts';
import { resultOf } from './steps.ts';

const rawMember = (text: string, name: string): string | undefined => resultOf(cuttingMember(text, name));

describe('rawMember', () => {
  it('R98 cuts out exactly the text of the value', () => {
    const text = ' {"a" : [1, {"b":"]}"}] ,"n":12345678901234567890\n, "s":"x\\"}" ,"\\u0062":{}, "t": true } ';
    expect(rawMember(text, 'a')).toBe('[1, {"b":"]}"}]');
    expect(rawMember(text, 'n')).toBe('12345678901234567890');
    expect(rawMember(text, 's')).toBe('"x\\"}"');
    expect(rawMember(text, 'b')).toBe('{}');
    expect(rawMember(text, 't')).toBe('true');
  });

  it('finds nothing where nothing is', () => {
    expect(rawMember('{"a":{"b":1}}', 'b')).toBeUndefined();
    expect(rawMember('{}', 'a')).toBeUndefined();
    expect(rawMember('[{"a":1}]', 'a')).toBeUndefined();
    expect(rawMember('"a"', 'a')).toBeUndefined();
  });

  it('R98 the slice parses to the member, for any object and any indentation', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const plain: { [name: string]: unknown } = JSON.parse(text);
        for (const name of Object.keys(plain)) {
          // As texts: a strict comparison of objects takes a member named "constructor" for their class.
          expect(JSON.stringify(JSON.parse(rawMember(text, name) ?? 'undefined'))).toBe(JSON.stringify(plain[name]));
        }
      }),
    );
  });
});
