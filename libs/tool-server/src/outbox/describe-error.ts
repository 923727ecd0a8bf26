/**
 * Owns: an error in the log: its stack, and those of its causes, for the author of the tool. T19: for the log only.
 */
const causesMax = 5;

/** On several lines: name and message, then the stack; `caused by` and the same for each cause. */
export function describeError(error: unknown): string {
  const chain: string[] = [];
  for (let each = error; each !== undefined && chain.length <= causesMax; each = causeOf(each))
    chain.push(stackOf(each));
  return chain.join('\ncaused by ');
}

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is no error';
  const head = `${error.name}: ${error.message}`;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [head, ...frames].join('\n');
}
