/** Ends a switch over a union: a kind that nobody handles does not compile. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** Something of a later version, met while versions run beside each other: not broken, only not known here. */
export class NeedsNewerVersion extends Error {
  override readonly name = 'NeedsNewerVersion';
}

/** The same for what is read from outside this process, where a later version may have written it. */
export function unknownKind(what: 'input' | 'event' | 'effect', kind: never): never {
  throw new NeedsNewerVersion(`this version knows no ${what} "${String(kind)}"`);
}
