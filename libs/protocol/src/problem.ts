/**
 * Owns: the shape of a defect of a message (where, and what is wrong) and its derivation from zod's issues.
 * Not here: HTTP status codes, problem pages.
 *
 * 1. A pointer is an RFC 6901 JSON Pointer into the message as it was sent: wire names, never names of the code.
 * 2. A detail never quotes a value of the message: it may be logged and sent back.
 * 3. A refusal is a value. No function of this library throws because of a foreign message.
 */
import { type Problem, pointerTo } from '@dormouse/json';
import type { z } from 'zod';
import { problemsMax } from './limits.ts';

/** A message that breaks its schema, with every problem: at least one. */
export interface Refusal {
  readonly ok: false;
  readonly problems: readonly Problem[];
}

export const refusalOf = (error: z.ZodError): Refusal => ({ ok: false, problems: problemsOf(error) });

/** Turns the issues of a failed parse into problems, one per defect, paths behind `prefix`; at most `problemsMax`. */
export function problemsOf(error: z.ZodError, prefix: readonly PropertyKey[] = []): Problem[] {
  return error.issues.slice(0, problemsMax).flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys
        .slice(0, problemsMax)
        .map((key) => ({ pointer: pointerTo([...path, key]), detail: 'unknown field' }));
    }
    return [{ pointer: pointerTo(path), detail: issue.message }];
  });
}

/**
 * The `error` option of every parse here: names what was expected, and whether the field was absent.
 * Returns undefined for issues that carry a message of their own, so that it is kept.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'required, but absent';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${withArticle(issue.expected)}`;
    case 'too_small':
      return issue.origin in units
        ? `needs at least ${issue.minimum} ${units[issue.origin]}`
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin in units
        ? `allows at most ${issue.maximum} ${units[issue.origin]}`
        : `must be at most ${issue.maximum}`;
    case 'invalid_format':
      return 'has characters that are not allowed';
    default:
      return undefined;
  }
}

/** The unit of a size, by the kind of value. */
const units: { readonly [origin: string]: string } = { string: 'characters', array: 'entries' };

function withArticle(type: string): string {
  if (type === 'int') return 'an integer';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
