import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { openSqliteStore } from './sqlite-store.ts';
import { temporaryFolder } from '../spec/bench.ts';

/** What was flushed and renamed, in order. */
const done: string[] = [];
vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof fs>();
  const paths = new Map<number, string>();
  return {
    ...original,
    openSync(path: string, flags: string, mode?: number) {
      const file = original.openSync(path, flags, mode);
      paths.set(file, path);
      return file;
    },
    fsyncSync(file: number) {
      original.fsyncSync(file);
      done.push(`flush ${paths.get(file)}`);
    },
    renameSync(from: string, to: string) {
      original.renameSync(from, to);
      done.push(`rename ${to}`);
    },
  };
});
beforeEach(() => void done.splice(0));

it('T26 a new data directory, its entry and its key are on disk before anything is sealed with the key', async () => {
  const folder = await temporaryFolder();
  const dataDir = join(folder, 'a', 'b');
  openSqliteStore(dataDir).close();
  expect(done).toEqual([
    `flush ${dirname(dataDir)}`,
    `flush ${folder}`,
    `flush ${join(dataDir, 'key.new')}`,
    `rename ${join(dataDir, 'key')}`,
    `flush ${dataDir}`,
  ]);
  expect(fs.statSync(join(dataDir, 'key')).mode & 0o777).toBe(0o600);
  done.splice(0);
  openSqliteStore(dataDir).close();
  expect(done.filter((step) => step.startsWith('rename'))).toEqual([]);
});

it('T26 a key that was being written when the power failed is made anew', async () => {
  const dataDir = await temporaryFolder();
  fs.writeFileSync(join(dataDir, 'key.new'), 'hal');
  openSqliteStore(dataDir).close();
  expect(Buffer.from(fs.readFileSync(join(dataDir, 'key'), 'utf8'), 'base64').length).toBe(32);
  expect(fs.existsSync(join(dataDir, 'key.new'))).toBe(false);
});

it('T26 with a key of its operator too, the files of a new data directory are entered in it', async () => {
  const dataDir = await temporaryFolder();
  openSqliteStore(dataDir, new Uint8Array(32)).close();
  expect(done).toEqual([`flush ${dataDir}`]);
});
