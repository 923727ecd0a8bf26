/**
 * Owns: the translation between the names of the wire (`group_id`) and those of the code (`groupId`), and nothing else.
 * Not here: validation, defaults, the choice of what a message may hold.
 *
 * 1. Mechanical: a name is translated by its spelling alone; there is no table of exceptions.
 * 2. Values below an opaque name are passed on by identity; neither their names nor their contents are read.
 * 3. Wire, code and wire again gives an equal value if names are plain snake_case (`a_b1`, not `aB`, `a__b` or `a_1`).
 */

/** `group_id` to `groupId`, at the level of types. */
export type CodeName<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CodeName<Tail>>}` : Name;

/** `groupId` to `group_id`, at the level of types. */
export type WireName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireName<Rest>}`
  : Name;

/** The type of a wire value after `toCode`; members named in `Opaque` (wire names) keep their type. */
export type InCode<Value, Opaque extends string = never> = Value extends readonly (infer Item)[]
  ? InCode<Item, Opaque>[]
  : Value extends object
    ? { [Name in keyof Value as CodeName<Name>]: Name extends Opaque ? Value[Name] : InCode<Value[Name], Opaque> }
    : Value;

/** Translates names in both directions; `Opaque` are the wire names whose values stay untouched. */
export interface Codec<Opaque extends string> {
  /** snake_case to camelCase, at every depth that is not opaque. */
  toCode<Value>(wire: Value): InCode<Value, Opaque>;
  /** camelCase to snake_case; members that are undefined are left out. */
  toWire(code: object): { [name: string]: unknown };
}

/** Makes a codec. `opaque` lists wire names, for example `['arguments', 'content']`. */
export function createCodec<const Opaque extends string>(opaque: readonly Opaque[]): Codec<Opaque> {
  const opaqueOnWire = new Set<string>(opaque);
  const opaqueInCode = new Set<string>(opaque.map(codeName));
  const [toCodeName, toWireName] = [remembering(codeName), remembering(wireName)];
  return {
    toCode: <Value>(wire: Value) => rename(wire, toCodeName, opaqueOnWire) as InCode<Value, Opaque>,
    toWire: (code) => rename(code, toWireName, opaqueInCode) as { [name: string]: unknown },
  };
}

/** Caches names: a message has few, and always the same. */
function remembering(nameOf: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const made = nameOf(name);
    if (known.size < namesMax) known.set(name, made);
    return made;
  };
}

/** More names than all messages together have: any further ones come from a foreign sender and are not cached. */
const namesMax = 200;

/** `group_id` to `groupId`. */
export function codeName(name: string): string {
  return name.replace(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `groupId` to `group_id`. */
export function wireName(name: string): string {
  return name.replace(/(?<=[A-Za-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function rename(value: unknown, nameOf: (name: string) => string, opaque: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => rename(item, nameOf, opaque));
  if (typeof value !== 'object' || value === null) return value;
  const renamed: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    give(renamed, nameOf(name), opaque.has(name) ? member : rename(member, nameOf, opaque)); // (2)
  }
  return renamed;
}

/** Defines an own member, whatever its name. */
function give(to: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') to[name] = value;
  else Object.defineProperty(to, name, { value, enumerable: true, configurable: true, writable: true });
}
