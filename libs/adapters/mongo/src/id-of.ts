// Joins parts into one string so that no two lists of parts collide: the `_id` of every document that is not a commit.
export const idOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts);

/** The ids of lists that begin with these parts and have more of them: `-` follows the comma. */
export function idsBehind(...parts: readonly (string | number)[]): { readonly $gt: string; readonly $lt: string } {
  const open = idOf(...parts).slice(0, -1);
  return { $gt: `${open},`, $lt: `${open}-` };
}
