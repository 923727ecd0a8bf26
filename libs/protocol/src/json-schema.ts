/**
 * Owns: whether an `inputSchema` is a JSON Schema at all: its known keywords have the kind of value that they have in
 * every draft from 4 to 2020-12, and it refers to nothing outside itself. RAP toolsets, Validation. R18
 * Not here: judging arguments by a schema (that takes an interpreter with a budget).
 *
 * 1. Visits each part once and runs nothing: patterns are not compiled, references are not followed.
 * 2. Unknown keywords, and another dialect, are not judged. R26
 * 3. A keyword that is null counts as absent, as everywhere in messages.
 */
import { isJsonObject } from '@dormouse/json';
import type { JsonObject } from '@dormouse/json';

export interface SchemaDefect {
  readonly path: readonly PropertyKey[];
  readonly detail: string;
}

const defectsMax = 20;

type Kind =
  | 'schema'
  | 'schemas'
  | 'schema or schemas'
  | 'map of schemas'
  | 'dependencies'
  | 'type'
  | 'reference'
  | 'text'
  | 'texts'
  | 'list'
  | 'flag'
  | 'number'
  | 'number or flag'
  | 'positive number'
  | 'count';

const kinds: ReadonlyMap<string, Kind> = new Map(
  (
    [
      ['schema', 'not if then else contains additionalProperties additionalItems propertyNames'],
      ['schema', 'unevaluatedItems unevaluatedProperties contentSchema'],
      ['schemas', 'allOf anyOf oneOf prefixItems'],
      ['schema or schemas', 'items'],
      ['map of schemas', 'properties patternProperties dependentSchemas $defs definitions'],
      ['dependencies', 'dependencies'],
      ['type', 'type'],
      ['reference', '$ref $dynamicRef $recursiveRef'],
      ['text', '$id id $anchor $dynamicAnchor $comment title description pattern format'],
      ['texts', 'required'],
      ['list', 'enum examples'],
      ['flag', 'uniqueItems deprecated readOnly writeOnly'],
      ['number', 'minimum maximum'],
      ['number or flag', 'exclusiveMinimum exclusiveMaximum'],
      ['positive number', 'multipleOf'],
      ['count', 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'],
    ] as const
  ).flatMap(([kind, keywords]) => keywords.split(' ').map((keyword): [string, Kind] => [keyword, kind])),
);

const types = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

/** The defects of a schema; none for a schema of an unknown dialect. */
export function schemaDefects(schema: JsonObject): readonly SchemaDefect[] {
  const { $schema: dialect } = schema;
  if (dialect !== undefined && dialect !== null && typeof dialect !== 'string')
    return [{ path: ['$schema'], detail: 'must be a string' }];
  if (typeof dialect === 'string' && !dialect.includes('json-schema.org')) return []; // (2)
  const found: SchemaDefect[] = [];
  walk(schema, [], schema, found);
  return found.slice(0, defectsMax);
}

type Path = readonly PropertyKey[];

function walk(schema: unknown, path: Path, root: JsonObject, found: SchemaDefect[]): void {
  if (typeof schema === 'boolean' || found.length >= defectsMax) return;
  if (!isJsonObject(schema)) {
    found.push({ path, detail: 'must be a JSON Schema: an object or a boolean' });
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const kind = kinds.get(keyword);
    if (kind === undefined || value === null) continue; // (2) (3)
    const at = [...path, keyword];
    const detail = defectOf(kind, value, root);
    if (detail === null) for (const [below, part] of partsOf(kind, value)) walk(part, [...at, ...below], root, found);
    else found.push({ path: at, detail });
  }
}

/** The schemas within a value of this kind. */
function partsOf(kind: Kind, value: unknown): readonly (readonly [Path, unknown])[] {
  const entries = (): readonly (readonly [Path, unknown])[] =>
    Object.entries(value as object).map(([key, part]) => [[key], part]);
  switch (kind) {
    case 'schema':
      return [[[], value]];
    case 'schema or schemas':
      return Array.isArray(value) ? entries() : [[[], value]];
    case 'schemas':
    case 'map of schemas':
      return entries();
    case 'dependencies':
      return entries().filter(([, part]) => !isTexts(part));
    default:
      return [];
  }
}

function defectOf(kind: Kind, value: unknown, root: JsonObject): string | null {
  const unless = (holds: boolean, detail: string): string | null => (holds ? null : detail);
  switch (kind) {
    case 'schema':
    case 'schema or schemas':
      return null; // its parts are visited
    case 'schemas':
      return unless(Array.isArray(value) && value.length > 0, 'must be an array of JSON Schemas, not empty');
    case 'map of schemas':
    case 'dependencies':
      return unless(isJsonObject(value), 'must be an object');
    case 'type':
      return unless(isType(value), 'must be the name of a JSON type, or an array of them');
    case 'reference':
      return unless(isLocal(value, root), 'must refer to something within the schema');
    case 'text':
      return unless(typeof value === 'string', 'must be a string');
    case 'texts':
      return unless(isTexts(value) || typeof value === 'boolean', 'must be an array of strings');
    case 'list':
      return unless(Array.isArray(value), 'must be an array');
    case 'flag':
      return unless(typeof value === 'boolean', 'must be a boolean');
    case 'number':
      return unless(typeof value === 'number', 'must be a number');
    case 'number or flag':
      return unless(typeof value === 'number' || typeof value === 'boolean', 'must be a number');
    case 'positive number':
      return unless(typeof value === 'number' && value > 0, 'must be a number above 0');
    case 'count':
      return unless(Number.isInteger(value) && Number(value) >= 0, 'must be an integer of 0 or more');
  }
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((entry: unknown) => typeof entry === 'string');

const isTypeName = (value: unknown): boolean => typeof value === 'string' && types.has(value);

const isType = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isTypeName) : isTypeName(value);

/** `#`, `#anchor`, or a JSON Pointer to an existing part. */
function isLocal(value: unknown, root: JsonObject): boolean {
  if (typeof value !== 'string' || !value.startsWith('#')) return false;
  if (!value.startsWith('#/')) return true;
  let part: unknown = root;
  for (const segment of value.slice(2).split('/')) {
    const key = keyOf(segment);
    if (typeof part !== 'object' || part === null || key === null || !Object.hasOwn(part, key)) return false;
    part = (part as JsonObject)[key];
  }
  return true;
}

/** A segment of a pointer in a URI fragment; null when it is not one. */
function keyOf(segment: string): string | null {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return null;
  }
}
