// Searches everything under a data directory for the words of a conversation.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CanaryThread } from './contents-at-rest.ts';

const bytesUnder = (directory: string): Buffer =>
  Buffer.concat(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((name) => join(directory, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path)),
  );

/** Contents and labels that are there. */
export function foundIn(
  directory: string,
  { contents, labels }: Pick<CanaryThread, 'contents' | 'labels'>,
): readonly string[] {
  const bytes = bytesUnder(directory);
  return [...contents, ...labels].filter((word) => bytes.includes(word));
}
