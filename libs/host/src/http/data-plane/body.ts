// From the bytes of a request to a value of its schema, or a problem that says where it is wrong.
//
// Invariants:
//   B1. Only UTF-8, strict JSON within limits reaches a schema; two readers of the same bytes agree.
//   B2. Unknown fields are refused, each with a pointer; wrong fields too.
//   B3. A body that a thread token may send can be read step by step; the others come from users with a key of their
//       own.
import { type Steps, checkingJson, resultOf } from '@dormouse/json';
import { describeIssue, problemsOf } from '@dormouse/protocol';
import type { z } from 'zod';
import { HttpProblem } from '../problems/problem.ts';

export const bodyBytesMax = 8 * 1024 * 1024;
/** A value from a body of the full size is exported with a few fields around it, and imported in that form. */
export const importedBlobBytesMax = bodyBytesMax + 4_096;

export const unusable = 'The body cannot be used as it is; see errors.';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const readBody = <Schema extends z.ZodType>(
  bytes: unknown,
  schema: Schema,
  optional = false,
): z.output<Schema> => resultOf(readingBody(bytes, schema, optional));

/** The same, step by step. (B3) */
export function* readingBody<Schema extends z.ZodType>(
  bytes: unknown,
  schema: Schema,
  optional = false,
): Steps<z.output<Schema>> {
  const empty = !(bytes instanceof Uint8Array) || bytes.length === 0;
  if (empty && !optional) throw new HttpProblem('INVALID_JSON', 'The request needs a JSON body.');
  const value = empty ? {} : yield* parsingJson(bytes);
  return checked(schema, value, unusable);
}

function* parsingJson(bytes: Uint8Array): Steps<unknown> {
  const reading = yield* checkingJson(decode(bytes)); // (B1)
  if (reading.ok) return reading.value;
  const { code, pointer, detail } = reading.problem;
  throw new HttpProblem(code, `The body was refused: ${detail}.`, { errors: [{ pointer, detail }] });
}

/** Checks a value against a schema. (B2) */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, summary: string): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const errors = problemsOf(parsed.error);
  const misspelt = errors.some(({ detail }) => detail === 'unknown field'); // the missing field follows from it
  throw new HttpProblem(
    misspelt ? 'UNKNOWN_FIELD' : 'INVALID_BODY',
    misspelt ? 'The request has a field that is not known.' : summary,
    { errors },
  );
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new HttpProblem('INVALID_JSON', 'The body is not valid UTF-8.', { cause });
  }
}
