// The fields of a form, from a tool's JSON Schema. Pure. What a field cannot express is written as JSON.
//
// Invariants:
//   F1. Whatever a schema says, there is a field: an unknown kind is JSON.
//   F2. An empty optional field is absent from the arguments, not an empty text.
import { parsedJson } from '../api/parsed-json.ts';

export interface SchemaField {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  /** An empty text is a value of its own. */
  readonly mayBeEmpty: boolean;
  readonly description: string;
  readonly default: string;
}

const fieldsMax = 60;

export function fieldsOf(schema: unknown): readonly SchemaField[] {
  const { properties, required } = objectOf(schema);
  const needed = Array.isArray(required) ? required.map(String) : [];
  return Object.entries(objectOf(properties))
    .slice(0, fieldsMax)
    .map(([name, given]) => {
      const { type, enum: values, description, default: standard, minLength } = objectOf(given);
      const choices =
        Array.isArray(values) && values.every((value) => typeof value === 'string') ? values.map(String) : [];
      return {
        name,
        kind: kindOf(type, choices),
        choices,
        isRequired: needed.includes(name),
        mayBeEmpty: kindOf(type, choices) === 'text' && !(typeof minLength === 'number' && minLength > 0),
        description: typeof description === 'string' ? description : '',
        default: standard === undefined ? '' : typeof standard === 'string' ? standard : JSON.stringify(standard),
      };
    });
}

export type Read =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly field: string; readonly detail: string };

/** The arguments that a filled form means. (F2) */
export function argumentsOf(fields: readonly SchemaField[], texts: Readonly<Record<string, string>>): Read {
  const value: Record<string, unknown> = {};
  for (const { name, kind, isRequired, mayBeEmpty } of fields) {
    const text = texts[name] ?? '';
    if (text === '' && !(isRequired && mayBeEmpty)) {
      if (isRequired) return { ok: false, field: name, detail: 'is needed' };
      continue;
    }
    const read = valueOf(kind, text);
    if (read === undefined)
      return { ok: false, field: name, detail: kind === 'json' ? 'is not JSON' : 'is not a number' };
    value[name] = read;
  }
  return { ok: true, value };
}

function valueOf(kind: SchemaField['kind'], text: string): unknown {
  switch (kind) {
    case 'number':
    case 'integer':
      return Number.isNaN(Number(text)) ? undefined : Number(text);
    case 'boolean':
      return text === 'true';
    case 'json': {
      const parsed = parsedJson(text);
      return parsed.ok ? parsed.value : undefined;
    }
    case 'text':
    case 'choice':
      return text;
  }
}

/** (F1) */
function kindOf(type: unknown, choices: readonly string[]): SchemaField['kind'] {
  if (choices.length > 0) return 'choice';
  switch (type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return type;
    default:
      return 'json';
  }
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
