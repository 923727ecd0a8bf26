// How a process ends: what it holds is let go of, last first, and its last words go where they belong.

/** What is to be let go of, in the order in which it was taken. */
export type Undo = (() => Promise<void>)[];

export async function unwind(undo: Undo): Promise<void> {
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
}

/** Words of a success go to stdout, of a failure to stderr. */
export function finish(code: number, text: string): never {
  (code === 0 ? process.stdout : process.stderr).write(text);
  return process.exit(code);
}

export const settingsText = (problems: readonly string[]): string =>
  `The settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}\n`;
