// A data directory of every release, as a kill left it, is read by this one: the same threads as of then, their logs
// whole; and they go on.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionFlags, runCli } from '../cli/cli-process.ts';
import {
  cleanUp,
  scratchDirectory,
  spawnStandalone,
  type Standalone,
  startStandalone,
} from '../e2e/standalone-process.ts';
import { copyKeys, releases, unpacked } from './corpus.ts';
import { goesOn, readsAlike, takesTheResultOnce } from './same-installation.ts';

afterAll(cleanUp);

async function restored(directory: string): Promise<string> {
  const dataDir = await scratchDirectory();
  for (const file of ['dormouse.db', 'dormouse.db-wal'])
    await writeFile(join(dataDir, file), unpacked(directory, file));
  copyKeys(directory, dataDir);
  return dataDir;
}

const args = ['--no-example-tools'];

describe.each(releases('standalone'))('a data directory of $commit', ({ directory, expected }) => {
  let at: Standalone;
  beforeAll(async () => {
    at = await startStandalone({ dataDir: await restored(directory), args });
  });

  it('has every thread as it was then', () => readsAlike(at, expected));

  it('is whole: every log is a chain', async () => {
    const verified = await runCli(['verify', '--all', '--json', ...connectionFlags(at)]);
    expect(verified).toMatchObject({ code: 0 });
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, broken: [] });
  });

  it('takes the result of a call that was sent before, once', () => takesTheResultOnce(at, expected));

  it('goes on with a conversation', () => goesOn(at, expected));

  it('opens again after that', async () => {
    const { dataDir } = at;
    expect(await at.stop()).toBe(0);
    at = await startStandalone({ dataDir, args });
    await readsAlike(at, expected);
  });
});

describe('a data directory that this release cannot read', () => {
  it('is refused with what to do, and left for the release that can', async () => {
    const [release] = releases('standalone');
    if (release === undefined) throw new Error('the corpus is empty');
    const dataDir = await restored(release.directory);
    const file = join(dataDir, 'dormouse.db');
    const versionOf = (): unknown => {
      const database = new DatabaseSync(file);
      try {
        return database.prepare('PRAGMA user_version').get()?.['user_version'];
      } finally {
        database.close();
      }
    };
    const version = versionOf();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 9999');
    database.close();
    const refused = spawnStandalone(['--data', dataDir, '--port', '0', ...args]);
    expect(await refused.exit).toBe(1);
    expect(refused.output()).toContain('DATABASE_NEWER');
    expect(refused.output()).toContain('Start that release again, or choose another data directory');
    expect(versionOf()).toBe(9999);
    const mended = new DatabaseSync(file);
    mended.exec(`PRAGMA user_version = ${String(version)}`);
    mended.close();
    const at = await startStandalone({ dataDir, args });
    await readsAlike(at, release.expected);
  });
});
