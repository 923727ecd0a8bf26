// A file that its owner alone may read.
import { open, readFile, rename, writeFile } from 'node:fs/promises';

/** The text of a private file, made on first use. */
export async function readOrCreate(path: string, make: () => string | Promise<string>): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const text = await make();
  await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return text;
}

/** Another text in its place; the file is whole at every moment. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const next = `${path}.new`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
}
