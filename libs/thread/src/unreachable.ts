/** Ends a switch over a union: a kind that nobody handles does not compile. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
