// Data directories that end with their test.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

export async function scratchDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'dormouse-contracts-'));
  made.push(directory);
  return directory;
}

export function removeScratchDirectories(): void {
  afterAll(async () => {
    await Promise.all(made.splice(0).map((directory) => rm(directory, { recursive: true, force: true })));
  });
}
