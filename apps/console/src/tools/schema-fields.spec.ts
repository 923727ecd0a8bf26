import { describe, expect, it } from 'vitest';
import { argumentsOf, fieldsOf } from './schema-fields.ts';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1, description: 'Which' },
    note: { type: 'string' },
    days: { type: 'integer', default: 3 },
    unit: { enum: ['celsius', 'fahrenheit'] },
    exact: { type: 'boolean' },
    more: { type: 'array' },
  },
  required: ['city', 'note'],
};

describe('the form of a schema', () => {
  it('has a field for whatever a schema says (F1)', () => {
    expect(fieldsOf(schema).map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ['city', 'text', true],
      ['note', 'text', true],
      ['days', 'integer', false],
      ['unit', 'choice', false],
      ['exact', 'boolean', false],
      ['more', 'json', false],
    ]);
    for (const odd of [null, 7, 'x', [], { properties: 7 }, { properties: { a: null } }, { required: 'a' }])
      fieldsOf(odd);
    expect(fieldsOf({ properties: { a: null } })).toMatchObject([{ name: 'a', kind: 'json' }]);
  });

  it('means arguments: what is empty and optional is absent (F2)', () => {
    const fields = fieldsOf(schema);
    const filled = { city: 'Oslo', days: '5', exact: 'false', more: '[1]' };
    expect(argumentsOf(fields, filled)).toEqual({
      ok: true,
      value: { city: 'Oslo', note: '', days: 5, exact: false, more: [1] },
    });
  });

  it.each([
    [{}, 'city'],
    [{ city: 'Oslo', days: 'many' }, 'days'],
    [{ city: 'Oslo', more: '[' }, 'more'],
  ])('says which field of %j is wrong', (texts, field) => {
    expect(argumentsOf(fieldsOf(schema), texts)).toMatchObject({ ok: false, field });
  });
});
