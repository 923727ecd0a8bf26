/**
 * Owns: whether an `inputSchema` is a JSON Schema at all: the meta-schema of its dialect takes it, and it refers to
 * nothing outside itself. RAP toolsets, Validation. R18
 * Not here: judging arguments by a schema (that takes an interpreter with a budget).
 *
 * 1. ajv has compiled the meta-schemas beforehand (`generated/`). Nothing is compiled here: no code is made of a schema
 *    from outside, and this runs where no code can be made (Workers).
 * 2. A judge sees each level of a schema alone, the schemas below it replaced, and stops at the first defect of a
 *    keyword: the cost follows the size of the schema. Asked for all errors of all levels, ajv takes 17 s for 60 kB.
 * 3. Nothing of the schema is run: patterns are not compiled, formats are not judged, references are not followed.
 * 4. Unknown keywords, and dialects that are not of json-schema.org, are not judged. R26 Drafts before 2019-09 are
 *    judged by draft-07; without a `$schema`, 2020-12 holds.
 * 5. A keyword that is null counts as absent, as everywhere in messages.
 * 6. Real tool servers mix drafts, so these hold in every dialect: a list in `items` (tuples up to 2019-09), a boolean
 *    in `exclusiveMinimum`, `exclusiveMaximum` (draft-04, OpenAPI 3.0) or `required` (draft-03), and a repeated name
 *    or value, which is harmless and takes the square of a list's length to find.
 */
import { isJsonObject, type JsonObject } from '@dormouse/json';
import { judge as draft07 } from './generated/draft-07.ts';
import { judge as draft2019 } from './generated/draft-2019-09.ts';
import { judge as draft2020 } from './generated/draft-2020-12.ts';
import type { MetaSchemaJudge } from './meta-schema-judge.ts';

interface SchemaDefect {
  readonly path: Path;
  readonly detail: string;
}

type Path = readonly PropertyKey[];

const defectsMax = 20;

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const schemaKeywords = wordsOf(
  'not if then else contains items additionalItems additionalProperties propertyNames unevaluatedItems unevaluatedProperties contentSchema',
);
const listKeywords = wordsOf('allOf anyOf oneOf prefixItems');
const mapKeywords = wordsOf('properties patternProperties dependentSchemas dependencies $defs definitions');
const referenceKeywords = wordsOf('$ref $dynamicRef $recursiveRef');
const onceBooleanKeywords = wordsOf('exclusiveMinimum exclusiveMaximum required');

/** The defects of a schema; none for a schema of an unknown dialect. The caller bounds its size and depth. */
export function schemaDefects(schema: JsonObject): readonly SchemaDefect[] {
  const { $schema: named } = schema;
  const dialect = typeof named === 'string' ? named : 'json-schema.org';
  if (!dialect.includes('json-schema.org')) return []; // (4)
  const found: SchemaDefect[] = [];
  visit(schema, [], { root: schema, judge: judgeOf(dialect), found });
  return found.slice(0, defectsMax);
}

interface Judging {
  readonly root: JsonObject;
  readonly judge: MetaSchemaJudge;
  readonly found: SchemaDefect[];
}

function visit(schema: unknown, path: Path, judging: Judging): void {
  const { root, found } = judging;
  if (typeof schema === 'boolean' || found.length >= defectsMax) return;
  if (!isJsonObject(schema)) {
    found.push({ path, detail: 'must be a JSON Schema: an object or a boolean' });
    return;
  }
  const level: [string, unknown][] = [];
  const below: [Path, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === null || (typeof value === 'boolean' && onceBooleanKeywords.has(keyword))) continue; // (5) (6)
    if (referenceKeywords.has(keyword) && !isLocal(value, root)) {
      found.push({ path: [...path, keyword], detail: 'must refer to something within the schema' });
      continue;
    }
    const [alone, parts] = apart(keyword, value);
    level.push([keyword, alone]);
    for (const [at, part] of parts) below.push([[...path, keyword, ...at], part]);
  }
  judgeLevel(level, path, judging);
  for (const [at, part] of below) visit(part, at, judging);
}

/** The value of a keyword without the schemas in it; and these, with their paths within the value. (2) */
function apart(keyword: string, value: unknown): [alone: unknown, parts: readonly (readonly [Path, unknown])[]] {
  const isTuple = keyword === 'items' && Array.isArray(value);
  if (schemaKeywords.has(keyword) && !isTuple) return [true, [[[], value]]];
  const isList = isTuple || (listKeywords.has(keyword) && Array.isArray(value));
  if (!isList && !(mapKeywords.has(keyword) && isJsonObject(value))) return [value, []];
  const parts = Object.entries(value ?? {}).map(([key, part]): [[string], unknown] => [[key], part]);
  if (isTuple) return [true, parts]; // (6)
  if (isList) return [parts.map(() => true), parts];
  const lists = parts.filter(([, part]) => Array.isArray(part)); // names in `dependencies`, a defect elsewhere
  return [
    Object.fromEntries(lists.map(([[key], part]) => [key, part])),
    parts.filter(([, part]) => !Array.isArray(part)),
  ];
}

/** The first defect of each keyword. */
function judgeLevel(level: readonly [string, unknown][], path: Path, { judge, found }: Judging): void {
  let left = level;
  while (found.length < defectsMax && !judge(Object.fromEntries(left))) {
    // Of alternatives, the error deepest within the value is closest to the cause.
    const [error] = (judge.errors ?? []).toSorted((one, other) => other.instancePath.length - one.instancePath.length);
    const at = error?.instancePath.split('/').slice(1).map(unescaped) ?? [];
    const detail =
      error?.keyword === 'enum' ? `must be one of ${String(error.params['allowedValues'])}` : error?.message;
    found.push({ path: [...path, ...at], detail: detail ?? 'is not valid' });
    left = left.filter(([keyword]) => keyword !== at[0]);
  }
}

/** (1) (4) */
function judgeOf(dialect: string): MetaSchemaJudge {
  if (/draft-0\d/.test(dialect)) return draft07;
  return dialect.includes('2019-09') ? draft2019 : draft2020;
}

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
    return unescaped(decodeURIComponent(segment));
  } catch {
    return null;
  }
}

/** A segment of a JSON Pointer. */
const unescaped = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');
