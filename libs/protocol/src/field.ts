/**
 * Owns: the kinds of field that several messages have, with their limits.
 * Not here: which message has which field.
 */
import { isJsonObject, type JsonObject } from '@dormouse/json';
import { z } from 'zod';
import { fitsBytes, idCharactersMax, urlCharactersMax } from './limits.ts';

/** An identifier: opaque, 1 to `idCharactersMax` characters. */
export const idField = z.string().min(1).max(idCharactersMax);

/** An identifier that a runtime made and a tool server repeats: opaque, bounded only by its message body. */
export const foreignIdField = z.string().min(1);

const httpScheme = /^https?:\/\//i;
/** The platform's: before Node 24 a hot one misjudges URLs with letters like é. The compiler knows no platform here. */
declare const URL: { canParse(text: string): boolean };
/** White space and control characters, which a URL parser would silently drop and a terminal would obey. */
const unprintable = /[\s\p{Cc}]/u;

/** An absolute http or https URL, kept as it was spelled. The outbound guard decides whether it may be called. */
export const urlField = z
  .string()
  .max(urlCharactersMax)
  .refine(
    (text) => httpScheme.test(text) && !unprintable.test(text) && URL.canParse(text),
    'must be an absolute http or https URL',
  );

/** A JSON object that is passed on by identity: neither copied nor inspected. */
export const opaqueObjectField = z.custom<JsonObject>(isJsonObject, 'must be an object');

/** Any text of at most `bytesMax` bytes in UTF-8. A longer one gets an issue that can be answered with 413. */
export function textField(bytesMax: number): z.ZodString {
  return z.string().refine((text) => fitsBytes(text, bytesMax), tooLarge(`allows at most ${bytesMax} bytes`));
}

/** The options of a check that failed because of size alone. */
export function tooLarge(message: string): { message: string; params: { tooLarge: true } } {
  return { message, params: { tooLarge: true } };
}

/** Whether a failed parse failed, at least in part, because of size alone. */
export function isTooLarge(error: z.ZodError): boolean {
  return error.issues.some((issue) => issue.code === 'custom' && issue.params?.tooLarge === true);
}

/**
 * `object` without the members that are null: itself when it has none, else a copy. Tolerance for servers that write
 * `null` for "absent" in any optional field; a required one is then reported as absent.
 */
export function withoutNulls(object: JsonObject): JsonObject {
  if (!Object.values(object).includes(null)) return object;
  return Object.fromEntries(Object.entries(object).filter(([, member]) => member !== null));
}

/** The same for some members; its cost does not depend on the number of the others. */
export function membersOf(object: JsonObject, names: readonly string[]): JsonObject {
  const members: Record<string, unknown> = {};
  for (const name of names) {
    if (Object.hasOwn(object, name) && object[name] !== null) members[name] = object[name];
  }
  return members;
}
