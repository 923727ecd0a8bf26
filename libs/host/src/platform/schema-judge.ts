// Judges a value against an untrusted JSON Schema. Interprets, never compiles to code; resolves no outside reference.
// Owns the words that the model reads about its arguments.
import { type OutputUnit, Validator } from '@cfworker/json-schema';

const problemsShownMax = 3;
/** References are resolved once: on the event loop the same schema object is used again and again. */
const known = new WeakMap<object, Validator>();

/** The problem of `value`, in a sentence that names the fields; null when there is none or the schema is unreadable. */
export function judgeBySchema(schema: Readonly<Record<string, unknown>>, value: unknown): string | null {
  let errors: readonly OutputUnit[];
  try {
    const validator = known.get(schema) ?? new Validator(schema, draftOf(schema), false);
    known.set(schema, validator);
    errors = validator.validate(value).errors;
  } catch {
    return null; // an unresolved reference or invalid pattern: a fault of the schema, not of the arguments
  }
  const causes = errors.filter(({ keyword }) => !wrappers.has(keyword));
  const shown = (causes.length > 0 ? causes : errors).slice(0, problemsShownMax).map(sentence);
  return shown.length === 0 ? null : `arguments: ${shown.join('; ')}`;
}

/** Keywords that only repeat that a nested check failed. */
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
