// One string for several parts, in which no part can reach into the next: the `_id` of everything that is not a commit.
export const idOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts);
