// The number of concurrent tool calls of one dispatcher, and of completions of one processor, in a chaos run.
export const callPlaces = 32;
export const completionPlaces = 32;
