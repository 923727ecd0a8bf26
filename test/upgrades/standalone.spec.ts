// A data directory of every release, as a kill left it, is read by this one: the same threads as of then, their logs
// whole; and they go on.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionFlags, runCli } from '../cli/cli-process.ts';
import { eventually } from '../e2e/conversation.ts';
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

  it('has contents erased that were stored in the clear: no byte of them is left, also in free pages', async () => {
    const { idle } = expected.threads;
    if (idle === undefined) throw new Error('this release recorded no idle thread');
    // Ids that only bodies have; the last one is that of the turn in which the erasure is told.
    const messages = idle.events.flatMap(({ message_id: id }) => (typeof id === 'string' ? [id] : [])).slice(0, -1);
    const found = async (): Promise<readonly string[]> => {
      const files = await Promise.all(['', '-wal'].map((end) => readFile(join(at.dataDir, `dormouse.db${end}`))));
      return messages.filter((id) => files.some((bytes) => bytes.includes(id)));
    };
    expect(await found()).toEqual(messages);
    const { id } = (await at.request('POST', '/v1/erasures', { thread_id: idle.id })).json;
    await eventually(async () => (await at.request('GET', `/v1/erasures/${id}`)).json.state === 'done');
    expect(await found()).toEqual([]);
    const verified = await runCli(['verify', '--all', '--json', ...connectionFlags(at)]);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, broken: [] });
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
