import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { jsonDepthMax, jsonValuesMax, pointerCharactersMax } from './limits.ts';
import { scanningJson } from './scan.ts';
import { checkJson, shortJsonCharacters } from './check.ts';
import { readingJson } from './read.ts';
import type { Steps } from './steps.ts';

/** JSON text with a chosen spelling: spaces between tokens, escapes in strings, a list of members (keys may repeat). */
interface Spelled {
  readonly text: string;
  readonly repeats: boolean;
  /** The meaning of the text; `JSON.parse` never reads it as a whole, because it misreads some escaped keys. */
  readonly value: unknown;
}
const space = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
const spelledString = fc
  .array(fc.constantFrom('a', 'b', '"', '\\', ':', '{', ',', 'é', '😀', '\n', '\\"\\', 'long '.repeat(8)), {
    maxLength: 4,
  })
  .chain((parts) => fc.boolean().map((escape) => spell(parts.join(''), escape)));
const { spelled } = fc.letrec<{ spelled: Spelled }>((tie) => ({
  spelled: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .constantFrom('null', 'true', '-0', '1e999', '12345678901234567890', '0.10')
      .map((text) => ({ text, repeats: false, value: JSON.parse(text) as unknown })),
    spelledString.map((text) => ({ text, repeats: false, value: JSON.parse(text) as unknown })),
    fc.tuple(fc.array(tie('spelled'), { maxLength: 4 }), space).map(([items, gap]) => ({
      text: `[${gap}${items.map((item) => item.text).join(`${gap},${gap}`)}${gap}]`,
      repeats: items.some((item) => item.repeats),
      value: items.map((item) => item.value),
    })),
    fc.tuple(fc.array(fc.tuple(spelledString, tie('spelled')), { maxLength: 4 }), space).map(([members, gap]) => ({
      text: `{${gap}${members.map(([key, value]) => `${key}${gap}:${gap}${value.text}`).join(`${gap},`)}${gap}}`,
      repeats:
        new Set(members.map(([key]) => JSON.parse(key))).size < members.length || members.some((m) => m[1].repeats),
      value: Object.fromEntries(members.map(([key, member]) => [JSON.parse(key) as string, member.value])),
    })),
  ),
}));

describe('checkJson', () => {
  it('R33 accepts what JSON.parse accepts, with the same value, and refuses exactly the repeated keys', () => {
    let repeated = 0;
    fc.assert(
      fc.property(spelled, ({ text, repeats, value }) => {
        const reading = checkJson(text);
        if (repeats) repeated++;
        expect(reading.ok).toBe(!repeats);
        if (reading.ok) expect(reading.value).toStrictEqual(value);
      }),
      { numRuns: 2_000 },
    );
    expect(repeated).toBeGreaterThan(20);
  });

  it('R33 long text has the verdict and the value of short text', () => {
    const long = ' '.repeat(shortJsonCharacters);
    const hostile = fc.constantFrom(
      '{"__proto__":1}',
      '{"constructor":{"prototype":1}}',
      '"\\ud800"',
      '{"\\udc00":1}',
      '{"a":1,"a":1}',
      '{"b":"\\ud800","1":"\\udc00"}',
      '{"constructor":{"prototype":"\\ud800"}}',
    );
    const some = fc.oneof(
      spelled.map(({ text }) => text),
      fc.tuple(spelled, hostile).map(([{ text }, one]) => `[${text},{"x":[${one},${one}]}]`),
    );
    let refused = 0;
    fc.assert(
      fc.property(some, (text) => {
        const reading = checkJson(text);
        if (!reading.ok) refused++;
        expect(checkJson(long + text)).toStrictEqual(reading);
        expect(checkJson(text + long)).toStrictEqual(reading);
      }),
      { numRuns: 1_000 },
    );
    expect(refused).toBeGreaterThan(300);
  });

  it('R33 text as JSON.stringify writes it has the verdict and the value of the same text after a space', () => {
    const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'prototype', '1', '\ud800'));
    const value = fc.object({ key, maxDepth: 4, maxKeys: 3, values: [fc.string({ unit: 'binary' }), fc.double()] });
    const verdicts = new Set<string>();
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 60 }), (written, depth, values) => {
        const text = JSON.stringify(written);
        const reading = checkJson(text, depth, values);
        verdicts.add(reading.ok ? 'ok' : reading.problem.code);
        expect(JSON.stringify(checkJson(` ${text}`, depth, values))).toBe(JSON.stringify(reading)); // a key may be `constructor`
      }),
      { numRuns: 3_000 },
    );
    expect([...verdicts].toSorted()).toEqual(['BODY_TOO_DEEP', 'BODY_TOO_LARGE', 'INVALID_JSON', 'ok']);
    const nested = '['.repeat(2_000) + ']'.repeat(2_000);
    expect(checkJson(nested)).toMatchObject({ ok: false, problem: { code: 'BODY_TOO_DEEP' } });
  });

  it('never gives an escaped key to JSON.parse, which would misread other text ever after', () => {
    const parsed: string[] = [];
    const { parse } = JSON;
    vi.spyOn(JSON, 'parse').mockImplementation((text: string) => parse((parsed.push(text), text)) as unknown);
    try {
      expect(checkJson('{"a":1,"\\\\":2}')).toEqual({ ok: true, value: { a: 1, '\\': 2 } });
    } finally {
      vi.restoreAllMocks();
    }
    expect(parsed.filter((text) => text.startsWith('{'))).toEqual([]);
  });

  it('R33 what is no JSON, or refused for what stands deep in it, is refused as soon', () => {
    const began = performance.now();
    for (const text of [
      `{"${'x'.repeat(4_000_000)}"${':'.repeat(40_000)}\\`,
      `{"${'\u5c22'.repeat(2_000_000)}"${':'.repeat(40_000)}`,
      `{"${'\\u0041'.repeat(1_000_000)}"${':{'.repeat(40)}`,
      `{"${'~/'.repeat(4_000_000)}":"\\ud800"}`,
      `"${'\u5c22'.repeat(2_600_000)}`,
    ])
      expect(checkJson(text).ok).toBe(false);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('whatever fills megabytes, they are read in many steps', () => {
    const filled = (unit: string): string => unit.repeat(6_000_000 / unit.length);
    const members = (key: (index: number) => string): string =>
      Array.from({ length: jsonValuesMax - 10 }, (_, index) => `"${key(index)}":1`).join();
    for (const text of [
      ...['x', '\\"', '\\\\', '\\u0041', '😀'].flatMap((unit) => [`{"a":"${filled(unit)}"}`, `{"${filled(unit)}":1}`]),
      `[${filled(' ')}1]`,
      `[${filled('7')}]`,
      `{${members((index) => `\\u006b${index}`)}}`,
      `{${members(String)}}`,
      `[${'[[]],'.repeat(12_000)}1]`,
    ]) {
      const passes: Steps<unknown>[] = [readingJson(text)];
      if (!/x|😀|u0041/u.test(text)) passes.push(scanningJson(text, jsonDepthMax, jsonValuesMax)); // one native search
      for (const steps of passes) {
        let taken = 1;
        while (steps.next().done !== true) taken++;
        expect([text.slice(0, 12), taken]).toEqual([
          text.slice(0, 12),
          expect.toSatisfy((count) => count >= text.length / 300_000),
        ]);
      }
    }
  });

  it('R33 refuses what JSON.parse refuses, and never throws', () => {
    const broken = fc.tuple(spelled, fc.nat(), fc.constantFrom('', '"', '\\', '}', ']', ',', ':', '{', 'x', '\u0000'));
    fc.assert(
      fc.property(broken, ([{ text }, at, insert]) => {
        const damaged = text.slice(0, at % (text.length + 1)) + insert + text.slice((at % (text.length + 1)) + 1);
        let parses = true;
        try {
          JSON.parse(damaged);
        } catch {
          parses = false;
        }
        if (!parses)
          expect(checkJson(damaged)).toMatchObject({ ok: false, problem: { code: 'INVALID_JSON', pointer: '' } });
      }),
      { numRuns: 2_000 },
    );
  });

  it('R33 nesting is bounded before anything is parsed', () => {
    const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
    expect(checkJson(nested(jsonDepthMax)).ok).toBe(true);
    expect(problemOf(nested(jsonDepthMax + 2))).toMatchObject({ code: 'BODY_TOO_DEEP', pointer: '/0/a'.repeat(16) });
    expect(problemOf('['.repeat(5_000_000))).toMatchObject({ code: 'BODY_TOO_DEEP' });
    expect(checkJson('[[]]', 1)).toMatchObject({ problem: { code: 'BODY_TOO_DEEP', pointer: '/0' } });
    expect(problemOf(`[0,{"a":1,"b":[[0],1,${'['.repeat(jsonDepthMax)}`)?.pointer).toMatch(/^\/1\/b\/2\/0/);
    expect(checkJson('7', 0).ok).toBe(true);
  });

  it('R33 the number of values is bounded before anything is parsed, the length of texts is not', () => {
    const items = (count: number) => `[${Array.from({ length: count }, () => '1').join()}]`;
    expect(checkJson(items(jsonValuesMax - 1)).ok).toBe(true);
    expect(problemOf(items(jsonValuesMax))).toMatchObject({ code: 'BODY_TOO_LARGE', detail: 'more than 50000 values' });
    const filled = (unit: string) => `{"a":[${unit.repeat(8_000_000 / unit.length)}1]}`;
    for (const unit of ['1,', '[],', '{},', '"",', '{"\\u0061":1},', ',', ':', '[{}],'])
      expect([unit, problemOf(filled(unit))?.code]).toEqual([unit, 'BODY_TOO_LARGE']);
    for (const text of ['x', '\\"', '\\\\', '\\u0041', '[,:{'])
      expect(checkJson(`{"a":"${text.repeat(100_000)}"}`).ok).toBe(true);
    expect(checkJson(`{"a":${' '.repeat(1_000_000)}1${'\n'.repeat(50)}}`)).toEqual({ ok: true, value: { a: 1 } });
  });

  it.each([
    ['{"a":1,"a":1}', '/a'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['[0,{"x":{"a~/b":1,"c":{},"a~/b":2}}]', '/1/x/a~0~1b'],
    ['{"":1,"":2}', '/'],
    ['{"1":1,"b":[],"1":2}', '/1'],
  ])('R33 a repeated key is refused: %s', (text, pointer) => {
    expect(problemOf(text)).toMatchObject({
      code: 'INVALID_JSON',
      pointer,
      detail: 'the same key twice in one object',
    });
  });

  it.each([
    ['{"a":{"__proto__":{}}}', '/a/__proto__'],
    ['{"\\u005f_proto__":1}', '/__proto__'],
    ['[{"constructor":{"prototype":{}}}]', '/0/constructor'],
  ])('R33 a key that reaches a prototype is refused: %s', (text, pointer) => {
    expect(problemOf(text)).toMatchObject({ code: 'INVALID_JSON', pointer });
  });

  it('R33 harmless namesakes pass', () => {
    expect(checkJson('{"constructor":"me","prototype":1,"properties":{"constructor":{"type":"string"}}}').ok).toBe(
      true,
    );
    expect(checkJson('{"a":"__proto__"}').ok).toBe(true);
  });

  it.each([
    ['{"a":["\\ud800"]}', '/a/0'],
    ['{"a":"\\uDC00\\uD800"}', '/a'],
    ['{"a":"x\ud800"}', '/a'],
    ['"\\ud83d"', ''],
  ])('R33 a lone surrogate is refused: %j', (text, pointer) => {
    expect(problemOf(text)).toMatchObject({ code: 'INVALID_JSON', pointer });
  });

  it('R33 pairs of surrogates and their look-alikes pass', () => {
    expect(checkJson('["\\ud83d\\ude00","😀","\\\\ud800"]').ok).toBe(true);
  });

  it('R33 a lone surrogate in a key is refused', () => {
    expect(problemOf('{"\\ud800":1}')).toMatchObject({ code: 'INVALID_JSON', detail: 'lone surrogate in a key' });
  });

  it('R33 a problem stays small and quotes nothing', () => {
    const key = 'k'.repeat(900);
    const text = `{"${key}":{"${key}":{"a":1,"a":2}}}`;
    expect(problemOf(text)?.pointer).toBe(`/${key}`);
    expect(problemOf(text)?.pointer.length).toBeLessThanOrEqual(pointerCharactersMax);
    expect(problemOf('{"password":"hunter2",}')?.detail).toMatch(/^not valid JSON( at character \d+)?$/);
  });

  it('strings with any number of backslashes end where they should', () => {
    const many = [1_022, 1_023, 1_024, 1_025, 1_026, 5_000, 5_001];
    for (const slashes of [...Array(60).keys(), ...many]) {
      const text = JSON.stringify({
        c: `${'x'.repeat(40)}${'\\'.repeat(slashes)}":{},"`,
        a: `${'x'.repeat(slashes % 30)}${'\\'.repeat(slashes)}`,
        b: `${'\\"'.repeat(slashes)}`,
      });
      expect(checkJson(text)).toStrictEqual({ ok: true, value: JSON.parse(text) });
    }
  });
});

function problemOf(text: string) {
  const reading = checkJson(text);
  return reading.ok ? null : reading.problem;
}

function spell(text: string, escape: boolean): string {
  if (!escape) return JSON.stringify(text);
  return `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
}
