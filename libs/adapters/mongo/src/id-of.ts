// Joins parts into one string so that no two lists of parts collide: the `_id` of every document that is not a commit.
export const idOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts);
