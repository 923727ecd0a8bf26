import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeName, createCodec, wireName } from './codec.ts';

const wireNames = fc.stringMatching(/^[a-z][a-z0-9]{0,3}(_[a-z][a-z0-9]{0,3}){0,2}$/);
const { wire } = fc.letrec((tie) => ({
  wire: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 0, 1.5, '', 'snake_case', 'camelCase'),
    fc.array(tie('wire'), { maxLength: 4 }),
    fc.dictionary(wireNames, tie('wire'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

describe('codec', () => {
  it('wire, code, wire gives the same value', () => {
    const codec = createCodec([]);
    fc.assert(
      fc.property(fc.dictionary(wireNames, wire, { noNullPrototype: true }), (value) => {
        expect(codec.toWire(codec.toCode(value))).toStrictEqual(value);
      }),
    );
  });

  it('names go back and forth', () => {
    fc.assert(fc.property(wireNames, (name) => wireName(codeName(name)) === name));
    expect(codeName('tool_call_id')).toBe('toolCallId');
    expect(wireName('toolCallId')).toBe('tool_call_id');
  });

  it('R98 opaque values are handed over by identity, at every depth and in both directions', () => {
    const codec = createCodec(['raw_value']);
    const opaque = { snake_name: { camelName: 1 } };
    const code = codec.toCode({ first_level: [{ raw_value: opaque }] });
    expect(code.firstLevel[0]?.rawValue).toBe(opaque);
    expect(codec.toWire(code)).toStrictEqual({ first_level: [{ raw_value: opaque }] });
  });

  it('members that are undefined are left out', () => {
    expect(createCodec([]).toWire({ callId: undefined, id: 'a' })).toStrictEqual({ id: 'a' });
  });

  it('no name reaches a prototype', () => {
    const hostile: object = JSON.parse('{"__proto__":{"polluted":true}}');
    const code = createCodec([]).toCode(hostile);
    expect(Object.getPrototypeOf(code)).toBe(Object.prototype);
    expect(Object.keys(code)).toStrictEqual(['__proto__']);
  });
});
