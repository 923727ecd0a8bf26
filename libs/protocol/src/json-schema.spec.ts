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
    ['a required name that is none', { required: ['a', 1] }, 'required'],
    ['alternatives that are no list', { anyOf: {} }, 'anyOf'],
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

  it.each<[string, JsonObject]>([
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', $dynamicRef: '#meta', prefixItems: [true] }],
    ['references', { $ref: '#/$defs/a~1b/items/0', $defs: { 'a/b': { items: [{}] } } }],
    ['a reference to itself', { properties: { child: { $ref: '#' } } }],
    ['a reference in a URI', { $ref: '#/definitions/a%20b', definitions: { 'a b': {} } }],
    ['draft-07', { items: [{}], additionalItems: false, dependencies: { a: ['b'], c: { required: ['d'] } } }],
    ['draft-04', { id: 'x', properties: { a: { minimum: 1, exclusiveMinimum: true } } }],
    ['null for what is absent', { properties: null, required: null, minProperties: null }],
    ['data that look like schemas', { enum: [{ type: 'x' }], const: { $ref: 'y' }, default: { items: 1 } }],
    ['unknown keywords', { 'x-order': 1, nullable: 'yes', properties: { type: { type: 'string' } } }],
    ['another dialect', { $schema: 'https://other.example/dialect', type: 'whatever' }],
    ['a pattern of another language', { properties: { a: { pattern: '(?i)a' } } }],
  ])('R26 may have %s', (_what, schema) => {
    expect(schemaDefects(schema)).toEqual([]);
  });
});
