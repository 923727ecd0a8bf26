import { expect, it } from 'vitest';
import { CliFailure } from './exit-code.ts';
import { lineCharactersMax, linesIn } from './file-lines.ts';

async function* chunks(texts: readonly string[], onTaken: () => void = () => {}): AsyncGenerator<string> {
  for (const text of texts) {
    onTaken();
    yield text;
  }
}

async function linesOf(...texts: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of linesIn(chunks(texts))) lines.push(line);
  return lines;
}

it('gives the lines, wherever the chunks end', async () => {
  expect(await linesOf('a\nb', 'c', 'd\n', '\ne')).toEqual(['a', 'bcd', '', 'e']);
  expect(await linesOf('a\r\nb\r\n')).toEqual(['a\r', 'b\r']); // JSON allows it
  expect(await linesOf()).toEqual([]);
});

it('L1 reads nothing ahead of whoever takes the lines', async () => {
  let taken = 0;
  const lines = linesIn(chunks(Array<string>(100).fill('a line\n'), () => (taken += 1)));
  await lines.next();
  await lines.next();
  expect(taken).toBe(2);
});

it('L2 gives up at a line that is longer than any', async () => {
  const long = 'x'.repeat(lineCharactersMax / 4);
  await expect(linesOf('a\n', long, long, long, long, 'x')).rejects.toThrow(CliFailure);
});
