// A question at the terminal: a user picks one of its options.
//
// Invariants:
//   Q1. A question is cleared once it is picked, left or settled elsewhere. Only the runtime decides whether a pick
//       became an answer; until then the screen does not show one.
import { isCancel, select } from '@clack/prompts';
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import type { Writable } from 'node:stream';
import { cleanText } from '../clean-text.ts';
import type { Terminal } from '../terminal.ts';

export interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

/** Null when nothing was picked, or the signal came first. */
export async function askQuestion<Value extends string>(
  terminal: Terminal,
  question: string,
  options: readonly Option<Value>[],
  signal: AbortSignal,
): Promise<Value | null> {
  // A signal of its own: the question would still close the terminal's raw mode when the outer one aborts later.
  const open = new AbortController();
  const forward = (): void => open.abort();
  signal.addEventListener('abort', forward);
  const { output, rows } = countingRows(terminal.stdout);
  const message = cleanText(question);
  const chosen = await select<string>({ message, options: [...options], signal: open.signal, output });
  signal.removeEventListener('abort', forward);
  takeAway(terminal.stdout, rows()); // (Q1)
  return isCancel(chosen) ? null : (options.find((option) => option.value === chosen)?.value ?? null);
}

function takeAway(stdout: Writable, rows: number): void {
  moveCursor(stdout, 0, -rows);
  cursorTo(stdout, 0);
  clearScreenDown(stdout);
}

/** The same output, and how many rows below the beginning the cursor is: clack moves it by line feeds and sequences. */
function countingRows(stdout: Writable): { readonly output: Writable; readonly rows: () => number } {
  let rows = 0;
  const write = (text: string): boolean => {
    // eslint-disable-next-line no-control-regex
    for (const [found, count, direction] of text.matchAll(/\n|\u001b\[(\d*)([AB])/g))
      rows += found === '\n' ? 1 : Number(count || 1) * (direction === 'A' ? -1 : 1);
    return stdout.write(text);
  };
  const output = new Proxy(stdout, {
    get(target, name) {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { output, rows: () => rows };
}
