// How a process ends: its resources are released in reverse order, and its last words go to the right stream.

/** The resources to release, in the order in which they were acquired. */
export type Undo = (() => Promise<void>)[];

export async function unwind(undo: Undo): Promise<void> {
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
}

/** The text of a success goes to stdout, that of a failure to stderr. */
export function finish(code: number, text: string): never {
  (code === 0 ? process.stdout : process.stderr).write(text);
  return process.exit(code);
}

export const settingsText = (problems: readonly string[]): string =>
  `The settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}\n`;
