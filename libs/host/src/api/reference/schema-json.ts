// Zod schemas as the schemas of the OpenAPI document: named ones by reference, integers as integers, every property
// with its description.
import { z } from 'zod';
import { schemaTexts, words } from './words.ts';

export type Json = Readonly<Record<string, unknown>>;

const schemaUri = (id: string): string => `#/components/schemas/${id}`;
const rendering = { io: 'input', unrepresentable: 'any', reused: 'inline' } as const;

/** A reference for a named schema, the schema itself otherwise; `owner` names it where a word has several meanings. */
export function schemaJson(schema: z.ZodType, owner = ''): Json {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) return { $ref: schemaUri(id) };
  const { $schema: _, $defs: __, ...json } = z.toJSONSchema(schema, rendering);
  return tidy(json, owner) as Json;
}

/** A query parameter, which is text on the wire and has the type that it is read as. */
export function queryJson(schema: z.ZodType): Json {
  const { $schema: _, ...read } = z.toJSONSchema(schema, { ...rendering, io: 'output' });
  const { type, anyOf, default: standard } = read;
  if (type !== undefined || anyOf !== undefined) return tidy(read, '') as Json;
  return { ...schemaJson(schema), ...(standard === undefined ? {} : { default: standard }) };
}

/** Every schema that an operation names, by its name. */
export function namedSchemas(): Json {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...rendering, uri: schemaUri });
  const named = Object.entries(schemas)
    .map(([id, { $schema: _, $id: __, ...json }]) => [id, tidy(json, id) as Json] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const byName = Object.fromEntries(named);
  return Object.fromEntries(
    named.map(([id, json]) => [
      id,
      {
        description: schemaTexts[id],
        ...json,
        ...discriminatorOf(json, byName),
      },
    ]),
  );
}

export const describing = (name: string, owner: string): string | undefined => words[`${owner}.${name}`] ?? words[name];

function tidy(json: unknown, owner: string): unknown {
  if (Array.isArray(json)) return json.map((item) => tidy(item, owner));
  if (typeof json !== 'object' || json === null) return json;
  const tidied: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(json)) {
    if (name === 'properties') tidied[name] = describedProperties(value as Json, owner);
    else if (isSafeIntegerBound(name, value)) continue;
    else if (name === '$ref') tidied[name] = String(value).replace('#/$defs/', schemaUri(''));
    else tidied[name] = dataNames.has(name) ? value : tidy(value, owner);
  }
  return Number.isInteger(tidied['const']) ? { ...tidied, type: 'integer' } : tidied;
}

/** What is data, and no schema. */
const dataNames = new Set(['default', 'const', 'enum', 'examples', 'required', 'x-extensible-enum']);

function describedProperties(properties: Json, owner: string): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const property = tidy(schema, owner) as Json;
      const description = property['description'] ?? describing(name, owner);
      return [name, description === undefined ? property : { ...property, description }];
    }),
  );
}

/** Bounds of the integers that every reader can hold say nothing. */
const isSafeIntegerBound = (name: string, value: unknown): boolean =>
  (name === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
  (name === 'minimum' && value === Number.MIN_SAFE_INTEGER);

/** Variants that are all named differ by their `type`. */
function discriminatorOf({ oneOf }: Json, schemas: Readonly<Record<string, Json>>): Json {
  if (!Array.isArray(oneOf)) return {};
  const mapping: Record<string, string> = {};
  for (const { $ref } of oneOf as readonly Json[]) {
    if (typeof $ref !== 'string') return {};
    const properties = schemas[$ref.slice(schemaUri('').length)]?.['properties'] as Record<string, Json> | undefined;
    mapping[String(properties?.['type']?.['const'])] = $ref;
  }
  return { discriminator: { propertyName: 'type', mapping } };
}
