/** Ends a switch over a union: an unhandled kind does not compile. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** A kind of a later version, met while versions run beside each other: not broken, only unknown here. */
export class NeedsNewerVersion extends Error {
  override readonly name = 'NeedsNewerVersion';
}

/** The same for values from outside this process, which a later version may have written. */
export function unknownKind(what: 'input' | 'event' | 'effect', kind: never): never {
  throw new NeedsNewerVersion(`this version knows no ${what} "${String(kind)}"`);
}
