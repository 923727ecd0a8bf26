// What every command gets: the terminal, the connection, and the two forms of output.
import type { Client } from '@dormouse/client';
import { cleanJson, cleanText } from './clean-text.ts';
import type { ConnectionFlags } from './connection.ts';
import type { Hint } from './hint.ts';
import type { Terminal } from './terminal.ts';

export interface CliContext {
  readonly terminal: Terminal;
  readonly json: boolean;
  /** As given by flags and the environment. */
  readonly flags: ConnectionFlags;
  /** As given by flags alone. */
  readonly typed: ConnectionFlags;
  /** The command line of a next step. */
  readonly hint: Hint;
  /** Reads URL and key, once. @throws CliFailure when there is no key. */
  connect(): Promise<Client>;
}

/** Answers with words for people, or with the data as one line of JSON. */
export function answer(context: CliContext, words: string, data: unknown): void {
  context.terminal.out(context.json ? cleanJson(data) : cleanText(words));
}

/** Progress: for people only, and never on stdout. */
export function progress(context: CliContext, words: string): void {
  if (!context.json) context.terminal.err(context.terminal.style('dim', cleanText(words)));
}

/** Prints a line once while it stays the same: an outage is reported once, however often it is noticed. */
export function sayOnce(say: (words: string) => void): (words: string) => void {
  let last = '';
  return (words) => {
    if (words !== last) say(words);
    last = words;
  };
}

interface Columns<Item> {
  readonly heading: readonly string[];
  readonly row: (item: Item) => readonly string[];
  /** What is said of a list without items; without it the heading stands alone. */
  readonly none?: string;
}

/** Answers with a table for people, or with one line of JSON for each item. */
export function answerList<Item>(
  context: CliContext,
  items: readonly Item[],
  { heading, row, none }: Columns<Item>,
): void {
  if (context.json) return items.forEach((item) => answer(context, '', item));
  if (items.length === 0 && none !== undefined) return context.terminal.err(none);
  context.terminal.out(table([heading, ...items.map(row)]));
}

/** Rows as aligned columns; the last one may be of any length. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
    )
    .join('\n');
}
