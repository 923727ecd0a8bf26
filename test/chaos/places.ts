// How many tool calls one dispatcher, and how many completions one processor of a chaos run may have under way.
export const callPlaces = 32;
export const completionPlaces = 32;
