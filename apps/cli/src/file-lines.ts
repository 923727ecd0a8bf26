// The lines of a text file, one by one.
//
// Invariants:
//   L1. At most one chunk is read ahead of the consumer: a file of any length is read in bounded memory.
//   L2. A line is bounded, too.
import { createReadStream } from 'node:fs';
import { CliFailure, exitCodes } from './exit-code.ts';

const chunkBytes = 1024 * 1024;
export const lineCharactersMax = 64 * 1024 * 1024;

export const linesOf = (file: string): AsyncGenerator<string, void, undefined> =>
  linesIn(createReadStream(file, { encoding: 'utf8', highWaterMark: chunkBytes }));

export async function* linesIn(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let begun = '';
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.split('\n');
    begun += first;
    if (begun.length > lineCharactersMax)
      throw new CliFailure(exitCodes.notInOrder, `a line has more than ${lineCharactersMax} characters.`);
    for (const next of others) {
      yield begun; // (L1)
      begun = next;
    }
  }
  if (begun !== '') yield begun;
}
