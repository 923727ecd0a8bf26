// The text that a user reads on a terminal after a program has written to it: what was written over or erased is gone.
// Knows the control sequences that line editors use; colours and everything else are skipped.

// eslint-disable-next-line no-control-regex
const piece = /\u001b\[([0-9;?]*)([A-Za-z])|\u001b[78]|[\s\S]/gu;

export function visibleText(written: string): string {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const line = (): string[] => (rows[row] ??= []);
  const move = (code: string, count: number): void => {
    if (code === 'A') row = Math.max(0, row - count);
    if (code === 'B') row += count;
    if (code === 'C') column += count;
    if (code === 'D') column = Math.max(0, column - count);
    if (code === 'G') column = count - 1;
  };
  const erase = (code: string, count: number): void => {
    if (code === 'J') rows.length = row + 1;
    if (code === 'K' && count === 1) line().fill(' ', 0, column + 1);
    else line().length = count === 2 ? 0 : Math.min(line().length, column);
  };
  for (const [text, count = '', code] of written.matchAll(piece)) {
    if (code === 'J' || code === 'K') erase(code, Number(count));
    else if (code !== undefined) move(code, Number(count || 1));
    else if (text === '\r') column = 0;
    else if (text === '\n') row += 1;
    else if (text >= ' ') line()[column++] = text;
  }
  return Array.from(rows, (cells) => Array.from(cells ?? [], (cell) => cell ?? ' ').join('')).join('\n');
}
