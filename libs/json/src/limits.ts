/** Limits of JSON text from outside. */
/** Containers nested in any JSON text from outside. */
export const jsonDepthMax = 32;
/** Values in any JSON text from outside: containers, their items and members. */
export const jsonValuesMax = 50_000;
/** Longest JSON Pointer in a problem; a longer one is cut at a whole segment. */
export const pointerCharactersMax = 1_000;
