import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkJson } from './check.ts';
import { readingJson, readJson } from './read.ts';
import { stepCharacters } from './scan.ts';
import { resultOf } from './steps.ts';

const readEscapedKeys = (text: string): unknown => resultOf(readingJson(text)).value;

/** After this, V8's own reader takes any escaped second key of an object that begins with `a` for a backslash. (1) */
const poison = '{"a":1,"\\\\":2}';

describe('readJson', () => {
  it.each([
    ['{"a":1,"\\u0062":2}', { a: 1, b: 2 }],
    ['{"a":1,"\\n":2}', { a: 1, '\n': 2 }],
    ['{"a":1,"\\"":2}', { a: 1, '"': 2 }],
    ['[{"a":{"a":1,"\\\\":[]}}]', [{ a: { a: 1, '\\': [] } }]],
  ])('reads an escaped key as it was written: %s', (text, value) => {
    JSON.parse(poison);
    expect(readJson(text)).toStrictEqual(value);
    expect(checkJson(text)).toStrictEqual({ ok: true, value });
  });

  it('is needed while JSON.parse misreads escaped keys: once this fails, a Node has mended that (1)', () => {
    JSON.parse('{"first key of this spec":1,"\\\\":2}');
    const misread = JSON.parse('{"first key of this spec":1,"\\u0062":2}') as object;
    expect(Object.keys(misread)).toEqual(['first key of this spec', '\\']);
  });

  it('R33 a repeated key in disguise is still a repeated key', () => {
    JSON.parse(poison);
    expect(checkJson('{"a":1,"\\u0061":2}')).toMatchObject({ ok: false, problem: { pointer: '/a' } });
  });

  it('I-03 gives back whatever was written', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const copy = JSON.stringify(readEscapedKeys(text), null, indent);
        expect(copy).toBe(text);
        expect(JSON.stringify(readJson(text), null, indent)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('a member named __proto__ stays a member', () => {
    const value = readEscapedKeys('{"__proto__":{"a":1}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1}}');
  });

  it('a string that is read in pieces is cut at no escape', () => {
    const escapes = ['\\n', '\\\\', '\\"', '\\u00e9', '\\ud83d\\ude00', '😀', 'x'];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...escapes), { minLength: 1, maxLength: 12 }),
        fc.nat(30),
        fc.nat(40_000),
        (parts, before, more) => {
          const text = JSON.stringify('y'.repeat(stepCharacters - before)).slice(0, -1) + parts.join('');
          const whole = `["${parts.join('').repeat(more / 10)}",${text}${'z'.repeat(stepCharacters)}${parts.join('')}"]`;
          expect(resultOf(readingJson(whole)).value).toStrictEqual(JSON.parse(whole));
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(['"\\', '"\\u12', '"\\x', '"\n', '1e', '-', '01', '"'])(
    'refuses what is not JSON also beyond the first step: %j',
    (end) => {
      for (const before of [
        ' '.repeat(stepCharacters + 3),
        `"${'\\"'.repeat(stepCharacters)}",`,
        `"${'\\\\'.repeat(stepCharacters)}",`,
      ])
        expect(() => readEscapedKeys(`[${before}${end}]`)).toThrow(SyntaxError);
    },
  );

  it.each([
    '',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '[1,]',
    '[1 2]',
    '01',
    '1.',
    'tru',
    '"a',
    '"\\x"',
    '"\n"',
    '{a:1}',
    '1 1',
    '-',
  ])('refuses what is not JSON: %j', (text) => {
    expect(() => readEscapedKeys(text)).toThrow(SyntaxError);
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  });
});
