// Judges a value against a JSON Schema from a stranger. Interprets, never compiles to code; refers to nothing outside.
// Owns the words that the model reads about its arguments.
import { type OutputUnit, Validator } from '@cfworker/json-schema';

const problemsShownMax = 3;
/** Its references are followed once: on the event loop a schema is asked about again and again as the same object. */
const known = new WeakMap<object, Validator>();

/** What is wrong with `value`, in a sentence that names the fields; null when nothing is, or the schema cannot be read. */
export function judgeBySchema(schema: Readonly<Record<string, unknown>>, value: unknown): string | null {
  let errors: readonly OutputUnit[];
  try {
    const validator = known.get(schema) ?? new Validator(schema, draftOf(schema), false);
    known.set(schema, validator);
    errors = validator.validate(value).errors;
  } catch {
    return null; // an unresolved reference, a pattern that is none: a fault of the schema's, and not of the arguments
  }
  const causes = errors.filter(({ keyword }) => !wrappers.has(keyword));
  const shown = (causes.length > 0 ? causes : errors).slice(0, problemsShownMax).map(sentence);
  return shown.length === 0 ? null : `arguments: ${shown.join('; ')}`;
}

/** Keywords that only repeat that something inside them failed. */
const wrappers = new Set(['properties', 'items', 'prefixItems', 'patternProperties', 'allOf', '$ref', 'false']);

function sentence({ instanceLocation, error }: OutputUnit): string {
  const where = instanceLocation.replace(/^#/, '');
  return `${where === '' ? '' : `${where}: `}${error.replace(/\.$/, '')}`;
}

function draftOf({ $schema }: Readonly<Record<string, unknown>>): '2020-12' | '2019-09' | '7' | '4' {
  const text = typeof $schema === 'string' ? $schema : '';
  if (text.includes('draft-07') || text.includes('draft-06')) return '7';
  if (text.includes('draft-04')) return '4';
  return text.includes('2019-09') ? '2019-09' : '2020-12'; // R26
}
