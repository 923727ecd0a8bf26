// Fills a tool's arguments by its JSON Schema from the facts of a message. A required argument that no fact fits gets
// the schema's default, an example, or the smallest legal value: the tool itself reports what is missing.
import type { MessageFacts } from './demo-facts.ts';

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The facts that are still unused while arguments are filled: each is used once. */
class Remaining {
  readonly text: string;
  readonly #facts: MessageFacts;
  readonly #used = { quoted: 0, places: 0, numbers: 0, durationsMs: 0 };

  constructor(facts: MessageFacts) {
    this.text = facts.text;
    this.#facts = facts;
  }

  next<Kind extends 'quoted' | 'places' | 'numbers' | 'durationsMs'>(
    kind: Kind,
  ): MessageFacts[Kind][number] | undefined {
    const fact = this.#facts[kind][this.#used[kind]];
    if (fact !== undefined) this.#used[kind] += 1;
    return fact;
  }
}

export function fillArguments(inputSchema: Schema, facts: MessageFacts): Readonly<Record<string, unknown>> {
  const properties = isSchema(inputSchema['properties']) ? inputSchema['properties'] : {};
  const required: readonly unknown[] = Array.isArray(inputSchema['required']) ? inputSchema['required'] : [];
  const left = new Remaining(facts);
  const filled: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const property = isSchema(schema) ? schema : {};
    const value = said(name, property, left) ?? (required.includes(name) ? fallback(property, facts) : undefined);
    if (value !== undefined) filled[name] = value;
  }
  return filled;
}

/** The value that the message itself gives, if it does. */
function said(name: string, schema: Schema, left: Remaining): unknown {
  const choices = Array.isArray(schema['enum']) ? schema['enum'] : null;
  if (choices !== null) return choices.find((choice) => mentions(left.text, String(choice)));
  switch (typeOf(schema)) {
    case 'integer':
      return bounded(schema, rounded(amount(name, schema, left)));
    case 'number':
      return bounded(schema, amount(name, schema, left));
    case 'boolean':
      return name.split(/[_-]/).every((word) => mentions(left.text, word)) ? true : undefined;
    case 'array':
      return list(name, schema, left);
    case 'string':
      return isPlace(name, schema) ? (left.next('places') ?? left.next('quoted')) : left.next('quoted');
    default:
      return undefined;
  }
}

function amount(name: string, schema: Schema, left: Remaining): number | undefined {
  const unit = unitOf(name, schema);
  if (unit === null) return left.next('numbers');
  const duration = left.next('durationsMs');
  return duration === undefined ? left.next('numbers') : duration / unit;
}

function list(name: string, schema: Schema, left: Remaining): unknown {
  const items = isSchema(schema['items']) ? schema['items'] : {};
  const found: unknown[] = [];
  for (
    let value = said(name, items, left);
    value !== undefined && !found.includes(value);
    value = said(name, items, left)
  )
    found.push(value);
  return found.length > 0 ? found : undefined;
}

function fallback(schema: Schema, facts: MessageFacts): unknown {
  if (schema['default'] !== undefined) return schema['default'];
  if (Array.isArray(schema['examples']) && schema['examples'].length > 0) return schema['examples'][0] as unknown;
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown;
  switch (typeOf(schema)) {
    case 'integer':
    case 'number':
      return bounded(schema, 1);
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return facts.text;
  }
}

/** Milliseconds of one unit when the property is a span of time, else null. */
function unitOf(name: string, schema: Schema): number | null {
  const words = wordsOf(name, schema).toLowerCase();
  if (/(^|[_\W])(ms|millis|milliseconds)([_\W]|$)/.test(words)) return 1;
  if (/(^|[_\W])(s|secs?|seconds?|duration|delay|wait)([_\W]|$)/.test(words)) return 1_000;
  if (/(^|[_\W])(mins?|minutes?)([_\W]|$)/.test(words)) return 60_000;
  return /(^|[_\W])hours?([_\W]|$)/.test(words) ? 3_600_000 : null;
}

const isPlace = (name: string, schema: Schema): boolean =>
  /(^|[_\W])(city|cities|place|location|town|country|region|zone|time_?zone|where)([_\W]|$)/i.test(
    wordsOf(name, schema),
  );

const wordsOf = (name: string, schema: Schema): string =>
  typeof schema['description'] === 'string' ? `${name} ${schema['description']}` : name;

function typeOf(schema: Schema): string {
  const type = schema['type'];
  const one: unknown = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
  return typeof one === 'string' ? one : 'string';
}

const rounded = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Math.round(value);

function bounded(schema: Schema, value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  const minimum = typeof schema['minimum'] === 'number' ? schema['minimum'] : value;
  const maximum = typeof schema['maximum'] === 'number' ? schema['maximum'] : value;
  return Math.min(Math.max(value, minimum), maximum);
}

function mentions(text: string, word: string): boolean {
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'iu').test(text);
}
