// Values that a JSON Schema allows, chosen by the numbers of a seed. What a keyword cannot say (a pattern of another
// world, an id that has to exist) is tried from a list; a body that is refused all the same is a case like any other.
import { pick } from '../chaos/random.ts';

type Random = () => number;
export type Schema = Readonly<Record<string, unknown>>;

const levelsMax = 6;

/** `root` has the definitions that references name. */
export function valueOf(schema: unknown, random: Random, root: Schema = schemaOf(schema), level = 0): unknown {
  const given = schemaOf(schema);
  if (typeof given['$ref'] === 'string') return valueOf(resolved(given['$ref'], root), random, root, level + 1);
  if ('const' in given) return given['const'];
  if (Array.isArray(given['enum'])) return pick(given['enum'] as readonly unknown[], random);
  for (const choice of ['anyOf', 'oneOf'] as const) {
    const variants = given[choice];
    if (Array.isArray(variants) && variants.length > 0) return valueOf(pick(variants, random), random, root, level + 1);
  }
  switch (typeOf(given, random)) {
    case 'object':
      return objectOf(given, random, root, level);
    case 'array':
      return listOf(given, random, root, level);
    case 'string':
      return textOf(given, random);
    case 'integer':
    case 'number':
      return numberOf(given, random);
    case 'boolean':
      return random() < 0.5;
    case 'null':
      return null;
    default:
      return pick([null, 'x', 1, {}], random);
  }
}

const schemaOf = (schema: unknown): Schema =>
  typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? (schema as Schema) : {};

const typeOf = ({ type }: Schema, random: Random): unknown =>
  Array.isArray(type) ? pick(type as readonly unknown[], random) : type;

function resolved(reference: string, root: Schema): unknown {
  let part: unknown = root;
  for (const segment of reference.split('/').slice(1)) part = schemaOf(part)[segment];
  return part;
}

function objectOf(schema: Schema, random: Random, root: Schema, level: number): Readonly<Record<string, unknown>> {
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as readonly string[]) : []);
  const isDeep = level >= levelsMax;
  const members = Object.entries(schemaOf(schema['properties']))
    .filter(([name]) => required.has(name) || (!isDeep && random() < 0.4))
    .map(([name, member]) => [name, valueOf(member, random, root, level + 1)]);
  const others = schema['additionalProperties'];
  if (typeof others === 'object' && !isDeep && random() < 0.5)
    members.push([pick(['a', 'fuzz', 'default'], random), valueOf(others, random, root, level + 1)]);
  return Object.fromEntries(members) as Readonly<Record<string, unknown>>;
}

function listOf(schema: Schema, random: Random, root: Schema, level: number): readonly unknown[] {
  const least = typeof schema['minItems'] === 'number' ? schema['minItems'] : 0;
  const count = level >= levelsMax ? least : least + Math.floor(random() * 3);
  return Array.from({ length: count }, () => valueOf(schema['items'], random, root, level + 1));
}

const words = [
  ...['fuzz', 'a', 'weather', '{{agent}}', '{{tools}}', '{{secret}}', '{{thread}}', 'https://127.0.0.1:1/x'],
  ...[
    '2026-01-05T09:30:00.000Z',
    '0 9 * * *',
    'Europe/Vienna',
    '/a/b',
    'AAAA',
    `${'0'.repeat(63)}1`,
    'thread.idle',
    '1',
  ],
] as const;

function textOf(schema: Schema, random: Random): string {
  const { minLength = 0, maxLength = 200, pattern } = schema;
  const isAllowed = (text: string): boolean =>
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text)) &&
    text.length >= Number(minLength) &&
    text.length <= Number(maxLength);
  const fitting = words.filter(isAllowed);
  return fitting.length > 0 ? pick(fitting, random) : 'x'.repeat(Math.max(1, Number(minLength)));
}

function numberOf(schema: Schema, random: Random): number {
  const least = Number(schema['minimum'] ?? schema['exclusiveMinimum'] ?? 0);
  const most = Number(schema['maximum'] ?? least + 1_000);
  return pick([least, most, Math.floor(least + random() * (most - least))], random);
}
