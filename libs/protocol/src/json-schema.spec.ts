import type { JsonObject } from '@dormouse/json';
import { describe, expect, it } from 'vitest';
import { schemaDefects } from './json-schema.ts';

const pathsOf = (schema: JsonObject): readonly string[] => schemaDefects(schema).map(({ path }) => path.join('/'));

describe('a JSON Schema', () => {
  it.each<[string, JsonObject, string]>([
    ['a type that is none', { properties: { a: { type: 'banana' } } }, 'properties/a/type'],
    ['no types', { type: [] }, 'type'],
    ['properties in a list', { properties: ['a'] }, 'properties'],
    ['a property that is no schema', { properties: { a: 'string' } }, 'properties/a'],
    ['a required name that is none', { required: ['a', 1] }, 'required/1'],
    ['a type among types that is none', { type: ['object', 'banana'] }, 'type/1'],
    ['names that are no list', { dependencies: { a: 'b' } }, 'dependencies/a'],
    ['a depended name that is none', { dependencies: { a: ['b', 1] } }, 'dependencies/a/1'],
    ['a tuple member that is no schema', { items: [{}, 7] }, 'items/1'],
    ['alternatives that are no list', { anyOf: { a: 7 } }, 'anyOf'],
    ['no alternatives', { oneOf: [] }, 'oneOf'],
    ['an alternative that is no schema', { allOf: [{}, 7] }, 'allOf/1'],
    ['items that are no schema', { properties: { a: { items: 'string' } } }, 'properties/a/items'],
    ['a length below zero', { properties: { a: { minLength: -1 } } }, 'properties/a/minLength'],
    ['a bound in words', { properties: { a: { maximum: '10' } } }, 'properties/a/maximum'],
    ['a multiple of nothing', { properties: { a: { multipleOf: 0 } } }, 'properties/a/multipleOf'],
    ['values that are no list', { properties: { a: { enum: 'x' } } }, 'properties/a/enum'],
    ['a pattern that is no text', { properties: { a: { pattern: 1 } } }, 'properties/a/pattern'],
    ['a reference elsewhere', { properties: { a: { $ref: 'https://elsewhere.example/s' } } }, 'properties/a/$ref'],
    ['a reference to a file', { $ref: 'other.json#/a' }, '$ref'],
    ['a reference to nothing', { $ref: '#/$defs/a', $defs: { b: {} } }, '$ref'],
    ['a reference to what every object has', { $ref: '#/constructor' }, '$ref'],
    ['a dialect that is no text', { $schema: 7 }, '$schema'],
  ])('R18 with %s is none', (_what, schema, path) => {
    expect(pathsOf(schema)).toEqual([path]);
  });

  it('R18 is told all that is wrong with it, within bounds', () => {
    expect(pathsOf({ type: 'x', required: 'a', properties: { a: { minimum: '1' }, b: { not: [] } } })).toEqual([
      'type',
      'required',
      'properties/a/minimum',
      'properties/b/not',
    ]);
    const wrong = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, 1]));
    expect(pathsOf({ properties: wrong })).toHaveLength(20);
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['draft-04', { exclusiveMinimum: '1', prefixItems: {}, dependentRequired: [] }, ['exclusiveMinimum']],
    ['draft-07', { enum: [], prefixItems: {}, dependentRequired: [] }, ['enum']],
    ['draft/2019-09', { enum: [], prefixItems: {}, dependentRequired: [] }, ['dependentRequired']],
    ['draft/2020-12', { enum: [], prefixItems: {}, dependentRequired: [] }, ['prefixItems', 'dependentRequired']],
  ])('R26 is judged by the dialect that it names: %s', (draft, schema, paths) => {
    for (const $schema of [`http://json-schema.org/${draft}/schema#`, `https://json-schema.org/${draft}/schema`])
      expect(pathsOf({ $schema, properties: { a: schema } })).toEqual(paths.map((path) => `properties/a/${path}`));
  });

  const many = (count: number, make: (index: number) => unknown): readonly unknown[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const nested = (around: (inner: JsonObject) => JsonObject): JsonObject => {
    let schema: JsonObject = { type: 'banana' };
    for (let level = 0; level < 7; level += 1) schema = around(schema);
    return schema;
  };
  it.each<[string, JsonObject]>([
    ['members that are none', { items: many(30_000, () => 1) }],
    ['properties that are none', { properties: Object.fromEntries(many(7_000, (n) => [`p${n}`, 1]) as []) }],
    ['empty properties', { properties: Object.fromEntries(many(5_000, (n) => [`p${n}`, {}]) as []), type: 7 }],
    ['wrong names', { required: many(30_000, () => 1) }],
    ['types that are none', { type: many(6_000, (n) => `t${n}`) }],
    ['values that could repeat', { enum: many(12_000, (n) => n), type: 7 }],
    ['alternatives that are none', { anyOf: many(20_000, () => ({})), type: 7 }],
    ['alternatives in alternatives', nested((inner) => ({ anyOf: [inner, inner, inner] }))],
    ['tuples in tuples', nested((inner) => ({ items: [inner, inner, inner] }))],
  ])('R18 is judged at a cost of its size, in every dialect: %s', (_what, schema) => {
    for (const draft of ['draft-04', 'draft-07', 'draft/2019-09', 'draft/2020-12']) {
      const startedAt = performance.now();
      const defects = schemaDefects({ $schema: `https://json-schema.org/${draft}/schema`, ...schema });
      expect(defects.length).toBeGreaterThanOrEqual(1);
      expect(defects.length).toBeLessThanOrEqual(20);
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    }
  });

  it.each<[string, JsonObject]>([
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', $dynamicRef: '#meta', prefixItems: [true] }],
    ['references', { $ref: '#/$defs/a~1b/items/0', $defs: { 'a/b': { items: [{}] } } }],
    ['a reference to itself', { properties: { child: { $ref: '#' } } }],
    ['a reference in a URI', { $ref: '#/definitions/a%20b', definitions: { 'a b': {} } }],
    ['draft-07', { items: [{}], additionalItems: false, dependencies: { a: ['b'], c: { required: ['d'] } } }],
    ['draft-04', { id: 'x', properties: { a: { minimum: 1, exclusiveMinimum: true } } }],
    ['draft-03', { properties: { a: { type: 'string', required: true } } }],
    ['a name twice', { required: ['a', 'a'], type: ['object', 'object'] }],
    ['an identity that is no address', { $id: 'not a URI %', properties: { a: { format: 'made up' } } }],
    ['null for what is absent', { properties: null, required: null, minProperties: null }],
    ['data that look like schemas', { enum: [{ type: 'x' }], const: { $ref: 'y' }, default: { items: 1 } }],
    ['unknown keywords', { 'x-order': 1, nullable: 'yes', properties: { type: { type: 'string' } } }],
    ['another dialect', { $schema: 'https://other.example/dialect', type: 'whatever' }],
    ['a pattern of another language', { properties: { a: { pattern: '(?i)a' } } }],
  ])('R26 may have %s', (_what, schema) => {
    expect(schemaDefects(schema)).toEqual([]);
  });
});
