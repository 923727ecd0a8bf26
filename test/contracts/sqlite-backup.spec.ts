// Copies of a database that is being written: of one moment, whole, checked.
import { openSqlite, type SqliteStores } from '@dormouse/adapter-sqlite';
import { Fault, tenantId } from '@dormouse/ports';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeScratchDirectories, scratchDirectory } from './scratch-directory.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };
const body = 'x'.repeat(20_000);

removeScratchDirectories();

let stores: SqliteStores;
beforeEach(async () => {
  stores = await openSqlite({ directory: await scratchDirectory() });
});
afterEach(() => stores.close());

async function append(from: number, count: number): Promise<void> {
  const commits = Array.from({ length: count }, (_, nth) => ({
    ...{ v: 1 as const, ...key, version: from + nth, count: 1, inputs: [`c:${from + nth}`], at: 1, nonce: `${nth}` },
    ...{ trace: null, kid: null, prev: '', hash: '', body },
  }));
  const answers = await stores.log.append(commits.map((commit) => ({ commit, owes: false })));
  expect(new Set(answers)).toEqual(new Set(['appended']));
}

describe('a copy of a database', () => {
  it('has what was answered before the pin and nothing of later, however much is written meanwhile', async () => {
    await append(0, 500);
    const directory = await scratchDirectory();
    const pinned = stores.pin();
    let isWritten = false;
    let later = 500;
    const writing = (async () => {
      for (; !isWritten || later < 600; later += 20) await append(later, 20);
    })();
    const seen: number[] = [];
    await pinned.write(join(directory, 'dormouse.db'), (bytes) => seen.push(bytes));
    pinned.release();
    isWritten = true;
    await writing;
    expect(seen.length).toBeGreaterThan(0);
    expect(Math.max(...seen)).toBeLessThanOrEqual(pinned.bytes);
    const copy = await openSqlite({ directory });
    expect((await copy.log.head(key))?.version).toBe(499);
    expect(await copy.log.read(key, 0)).toEqual(await stores.log.read(key, 0, 500));
    await copy.close();
    expect((await stores.log.head(key))?.version).toBe(later - 1);
  });

  it('that cannot be written is a fault, and the original goes on', async () => {
    await append(0, 10);
    const pinned = stores.pin();
    const nowhere = join(await scratchDirectory(), 'nowhere', 'dormouse.db');
    await expect(pinned.write(nowhere, () => {})).rejects.toBeInstanceOf(Fault);
    pinned.release();
    await append(10, 10);
  });

  it('of a damaged database is a fault', async () => {
    await stores.close();
    const directory = await scratchDirectory();
    stores = await openSqlite({ directory });
    await append(0, 200);
    await stores.close(); // everything is in the file
    stores = await openSqlite({ directory });
    const file = await open(join(directory, 'dormouse.db'), 'r+');
    const { size } = await file.stat();
    await file.write(Buffer.alloc(4 * 4_096), 0, 4 * 4_096, Math.floor(size / 8_192) * 4_096);
    await file.close();
    const taken = async (): Promise<void> => {
      const pinned = stores.pin();
      await pinned.write(join(await scratchDirectory(), 'dormouse.db'), () => {}).finally(() => pinned.release());
    };
    await expect(taken()).rejects.toMatchObject({ code: 'DATABASE_CORRUPT' });
  });
});
