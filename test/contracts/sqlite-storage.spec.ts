// Faults of the data directory: full, damaged, newer, not ours, not writable, in use, and a log that grows.
import { openSqlite } from '@dormouse/adapter-sqlite';
import { claimsKeptMs, tenantId } from '@dormouse/ports';
import { commitOf, freshKey, messageOf } from '@dormouse/ports/contracts';
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { removeScratchDirectories, scratchDirectory } from './scratch-directory.ts';

const acme = tenantId('acme');

removeScratchDirectories();

const databaseOf = (directory: string): string => join(directory, 'dormouse.db');
const fault = (code: string, says = ''): object => ({ name: 'Fault', code, message: expect.stringContaining(says) });

describe('sqlite: a full disk', () => {
  it('writers get UNAVAILABLE, nothing acknowledged is lost, and it works again when there is space', async () => {
    const directory = await scratchDirectory();
    const stores = await openSqlite({ directory });
    const key = freshKey();
    const stored = [];
    for (let version = 0; version < 20; version += 1) {
      const commit = commitOf(key, version);
      expect(await stores.log.append([{ commit, owes: true }])).toEqual(['appended']);
      stored.push(commit);
    }
    await stores.limitSize((await stat(databaseOf(directory))).size);
    const large = commitOf(key, 20, { body: 'x'.repeat(2_000_000) });
    await expect(stores.log.append([{ commit: large, owes: true }])).rejects.toMatchObject(
      fault('UNAVAILABLE', 'full'),
    );
    await expect(stores.blobs.put(acme, 'sha', new Uint8Array(2_000_000), 'image/png')).rejects.toMatchObject(
      fault('UNAVAILABLE'),
    );
    // Reads still work, and nothing of the failed write is there.
    expect(await stores.log.read(key, 0)).toEqual(stored);
    expect(await stores.log.findByInputs(key, large.inputs)).toEqual([null]);
    await stores.limitSize(null);
    expect(await stores.log.append([{ commit: large, owes: true }])).toEqual(['appended']);
    await stores.close();
    const again = await openSqlite({ directory });
    expect(await again.log.read(key, 0)).toEqual([...stored, large]);
    await again.close();
  });

  it('everybody in the group that did not fit gets UNAVAILABLE, and everybody succeeds later', async () => {
    const directory = await scratchDirectory();
    const stores = await openSqlite({ directory, sizeBytesMax: 400_000 });
    const commits = Array.from({ length: 40 }, () => commitOf(freshKey(), 0, { body: 'x'.repeat(40_000) }));
    const results = await Promise.allSettled(commits.map((commit) => stores.log.append([{ commit, owes: false }])));
    expect(results.some((result) => result.status === 'rejected')).toBe(true);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject(fault('UNAVAILABLE'));
    for (const [index, commit] of commits.entries()) {
      const there = await stores.log.head(commit);
      expect(there).toEqual(results[index]?.status === 'fulfilled' ? commit : null);
    }
    await stores.limitSize(null);
    for (const [index, commit] of commits.entries()) {
      const expected = results[index]?.status === 'fulfilled' ? ['conflict', 'duplicate'] : ['appended'];
      expect(expected).toContain((await stores.log.append([{ commit, owes: false }]))[0]);
    }
    await stores.close();
  });
});

describe('sqlite: a group of which one fails (L8)', () => {
  const broken = null as unknown as string;

  it('the fault of one leaves the others what they are told, and is told to it alone', async () => {
    const stores = await openSqlite({ directory: await scratchDirectory() });
    const commits = [freshKey(), freshKey(), freshKey()].map((key) => commitOf(key, 0));
    const group = commits.map((commit, place) => ({
      commit: place === 1 ? { ...commit, body: broken } : commit,
      owes: true,
    }));
    const failure = expect.objectContaining({ message: expect.stringContaining('SQLite') as unknown }) as unknown;
    expect(await stores.log.append(group)).toEqual(['appended', failure, 'appended']);
    const heads = await Promise.all(commits.map((commit) => stores.log.head(commit)));
    expect(heads).toEqual([commits[0], null, commits[2]]);
    await stores.close();
  });

  it('one that fails alone throws, and a second that goes on from it is a conflict', async () => {
    const stores = await openSqlite({ directory: await scratchDirectory() });
    const key = freshKey();
    const first = { commit: { ...commitOf(key, 0), body: broken }, owes: true };
    await expect(stores.log.append([first])).rejects.toThrow('SQLite');
    const second = { commit: commitOf(key, 1), owes: false };
    expect(await stores.log.append([first, second])).toEqual([expect.any(Error), 'conflict']);
    expect(await stores.log.head(key)).toBeNull();
    await stores.close();
  });

  it('what is stored of a group that was cut in two stays so when the disk is full for the rest', async () => {
    const directory = await scratchDirectory();
    const stores = await openSqlite({ directory, sizeBytesMax: 12_000_000 });
    await stores.log.append([{ commit: commitOf(freshKey(), 0), owes: false }]); // includes what opening left behind
    const commits = Array.from({ length: 2_048 }, () => commitOf(freshKey(), 0)); // what a transaction holds
    const large = commitOf(freshKey(), 0, { body: 'x'.repeat(13_000_000) });
    const outcomes = await stores.log.append([...commits, large].map((commit) => ({ commit, owes: false })));
    expect([new Set(outcomes.slice(0, -1)), outcomes.at(-1)]).toEqual([
      new Set(['appended']),
      expect.objectContaining({ code: 'UNAVAILABLE' }),
    ]);
    expect(await stores.log.head(large)).toBeNull();
    await stores.close();
  });
});

describe('sqlite: a directory that cannot be used', () => {
  it('a second opening of the same directory is refused, in the same process too', async () => {
    const directory = await scratchDirectory();
    const stores = await openSqlite({ directory });
    await expect(openSqlite({ directory })).rejects.toMatchObject(fault('DATA_DIR_IN_USE', directory));
    await stores.close();
    await (await openSqlite({ directory })).close();
  });

  it('a directory that cannot be made is DATA_DIR_UNWRITABLE', async () => {
    const directory = await scratchDirectory();
    await writeFile(join(directory, 'file'), '');
    const below = join(directory, 'file', 'data');
    await expect(openSqlite({ directory: below })).rejects.toMatchObject(fault('DATA_DIR_UNWRITABLE', below));
  });

  it('a lock that cannot be taken because it is no file is DATA_DIR_UNWRITABLE', async () => {
    const directory = await scratchDirectory();
    await mkdir(join(directory, 'dormouse.lock'));
    await expect(openSqlite({ directory })).rejects.toMatchObject(fault('DATA_DIR_UNWRITABLE', directory));
  });

  it('a newer database is refused and left as it is', async () => {
    const directory = await scratchDirectory();
    await (await openSqlite({ directory })).close();
    const database = new DatabaseSync(databaseOf(directory));
    database.exec('PRAGMA user_version = 999');
    database.close();
    const before = await readFile(databaseOf(directory));
    await expect(openSqlite({ directory })).rejects.toMatchObject(fault('DATABASE_NEWER', '999'));
    expect((await readFile(databaseOf(directory))).equals(before)).toBe(true);
  });

  it('a file that is no database is DATABASE_CORRUPT, with what to do next', async () => {
    const directory = await scratchDirectory();
    await writeFile(databaseOf(directory), 'This is not a database, it only says so. '.repeat(500));
    await expect(openSqlite({ directory })).rejects.toMatchObject(fault('DATABASE_CORRUPT', 'backup'));
    // The lock is free again: the next attempt fails for the same reason.
    await expect(openSqlite({ directory })).rejects.toMatchObject(fault('DATABASE_CORRUPT'));
  });

  it("somebody else's database is refused and left as it is", async () => {
    const directory = await scratchDirectory();
    const database = new DatabaseSync(databaseOf(directory));
    database.exec('CREATE TABLE theirs (a)');
    database.close();
    await expect(openSqlite({ directory })).rejects.toMatchObject(fault('DATABASE_CORRUPT', 'did not make it'));
  });

  it('damage in the middle of the file is DATABASE_CORRUPT for whoever meets it, not "nothing there" (L6)', async () => {
    const directory = await scratchDirectory();
    const stores = await openSqlite({ directory });
    const keys = Array.from({ length: 50 }, () => freshKey());
    for (const key of keys)
      await stores.log.append([{ commit: commitOf(key, 0, { body: 'y'.repeat(10_000) }), owes: false }]);
    await stores.close();
    const size = (await stat(databaseOf(directory))).size;
    const file = await open(databaseOf(directory), 'r+');
    await file.write(Buffer.alloc(size - 8_192, 0xab), 0, size - 8_192, 8_192);
    await file.close();
    // Detected while opening, or by the first read: never an empty thread.
    const outcome = async (): Promise<unknown> => {
      const damaged = await openSqlite({ directory });
      try {
        return await damaged.log.read(keys[0] ?? freshKey(), 0);
      } finally {
        await damaged.close();
      }
    };
    await expect(outcome()).rejects.toMatchObject(fault('DATABASE_CORRUPT'));
  });
});

describe('sqlite: growth and limits', () => {
  it('nobody waits for the end of an idempotent request, and whoever claims next sees it', async () => {
    const stores = await openSqlite({ directory: await scratchDirectory() });
    await stores.idempotency.claim(acme, 'r', 'key', 'body', 1, 1_000);
    const before = stores.counters().transactions;
    await stores.idempotency.finish(acme, 'r', 'key', { status: 201, body: '{}' });
    expect(stores.counters().transactions).toBe(before);
    expect(await stores.idempotency.claim(acme, 'r', 'key', 'body', 2, 1_000)).toMatchObject({ claim: 'done' });
    await stores.close();
  });

  it('attempts of long ago are kept (D3 of the ledger)', async () => {
    const directory = await scratchDirectory();
    const key = freshKey();
    const attempt = { toolCallId: 'call_1', number: 1, at: 1, status: 200, durationMs: 5 };
    for (let start = 0; start < 3; start += 1) {
      const stores = await openSqlite({ directory });
      if (start === 0) await stores.ledger.record(key, attempt);
      await stores.log.append([{ commit: commitOf(freshKey(), 0), owes: false }]); // what a sweep deletes goes with it
      expect(await stores.ledger.attempts(key, ['call_1'])).toEqual([attempt]);
      await stores.close();
    }
  });

  it('claims of deliveries are deleted when they are older than `claimsKeptMs`, and no sooner (S3 of the sources)', async () => {
    const directory = await scratchDirectory();
    const claims = [claimsKeptMs + 1_000, claimsKeptMs - 60_000].map((age) => ({
      ...{ tenant: acme, id: `d-${age}`, thread: 'thr_1', at: Date.now() - age },
    }));
    const stores = await openSqlite({ directory });
    for (const claim of claims) await stores.deliveries.claim(claim);
    await stores.close();
    const again = await openSqlite({ directory }); // sweeps at its start
    const found = async (): Promise<readonly boolean[]> =>
      Promise.all(claims.map(async ({ id }) => (await again.deliveries.find(acme, id)) !== null));
    await again.log.append([{ commit: commitOf(freshKey(), 0), owes: false }]); // what a sweep deletes goes with it
    await expect.poll(found).toEqual([false, true]);
    await again.close();
  });

  it('a cursor that no list gave is CURSOR_INVALID', async () => {
    const stores = await openSqlite({ directory: await scratchDirectory() });
    for (const cursor of [
      'nonsense',
      '',
      Buffer.from('{"a":1}').toString('base64url'),
      Buffer.from('[1]').toString('base64url'),
    ]) {
      const page = { limit: 10, cursor };
      await expect(stores.directory.list(acme, {}, page)).rejects.toMatchObject(fault('CURSOR_INVALID'));
      await expect(stores.agents.list(acme, page)).rejects.toMatchObject(fault('CURSOR_INVALID'));
    }
    await stores.close();
  });

  it('the write-ahead log stays bounded under load, and is carried over when there is rest', async () => {
    const directory = await scratchDirectory();
    const walFramesMax = 256;
    const stores = await openSqlite({ directory, walFramesMax });
    const wal = join(directory, 'dormouse.db-wal');
    let largest = 0;
    for (let version = 0; version < 150; version += 1) {
      const keys = Array.from({ length: 8 }, (_, index) => ({ tenant: acme, thread: `thr_${index}` }));
      await stores.log.append(
        keys.map((key) => ({ commit: commitOf(key, version, { body: 'z'.repeat(3_000) }), owes: false })),
      );
      largest = Math.max(largest, (await stat(wal)).size);
    }
    expect(largest).toBeLessThan((2 * walFramesMax + 300) * 4_120); // (H2)
    const last = { commit: commitOf(freshKey(), 0), owes: false };
    await stores.log.append([last]);
    const busy = stores.counters().checkpoints;
    expect(busy).toBeGreaterThan(2);
    await new Promise((resolve) => setTimeout(resolve, 600));
    await stores.log.append([{ commit: commitOf(freshKey(), 0), owes: false }]);
    expect(stores.counters().checkpoints).toBeGreaterThan(busy);
    await stores.close();
    expect((await stat(wal)).size).toBe(0);
  });

  it('one transaction and one sync carry a whole group, and nothing is counted that did not happen', async () => {
    const stores = await openSqlite({ directory: await scratchDirectory() });
    await stores.log.append([{ commit: commitOf(freshKey(), 0), owes: true }]);
    const before = stores.counters();
    const group = Array.from({ length: 64 }, () => ({ commit: commitOf(freshKey(), 0), owes: true }));
    await stores.log.append(group);
    const after = stores.counters();
    expect(after.appended - before.appended).toBe(64);
    expect(after.transactions - before.transactions).toBe(1);
    expect(after.syncs - before.syncs).toBe(1);
    // Only conflicts: nothing is written, nothing synced.
    await stores.log.append(group);
    expect(stores.counters().transactions).toBe(after.transactions);
    expect(stores.counters().conflicts - after.conflicts).toBe(64);
    await stores.close();
  });

  it('lazy writes are stored with the next commit, in its transaction', async () => {
    const directory = await scratchDirectory();
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // so lazy writes are never due
    const stores = await openSqlite({ directory });
    const key = freshKey();
    const attempt = { number: 1, at: 0, status: 200, durationMs: 1 };
    const recorded = Array.from({ length: 40 }, (_, call) =>
      stores.ledger.record(key, { ...attempt, toolCallId: `call_${call}` }),
    );
    expect(await stores.log.append([{ commit: commitOf(key, 0), owes: false }])).toEqual(['appended']);
    await Promise.all(recorded);
    expect(stores.counters()).toMatchObject({ appended: 1, transactions: 1 });
    await stores.close();
  });

  it('publishing is refused above the bounds, in all, per tenant and per thread, and goes on below them', async () => {
    const stores = await openSqlite({
      directory: await scratchDirectory(),
      undecidedInputsMax: 20,
      undecidedInputsPerThreadMax: 5,
      undecidedInputsPerTenantMax: 15,
    });
    const key = freshKey();
    const published = Array.from({ length: 6 }, (_, index) => stores.inputs.publish(key, messageOf(`m-${index}`)));
    await expect(published[5]).rejects.toMatchObject(fault('UNAVAILABLE'));
    const others = Array.from({ length: 11 }, (_, index) => stores.inputs.publish(freshKey(), messageOf(`o-${index}`)));
    await expect(others[10]).rejects.toMatchObject(fault('UNAVAILABLE', 'of this tenant'));
    const elsewhere = Array.from({ length: 6 }, (_, index) =>
      stores.inputs.publish(freshKey(tenantId('zenith')), messageOf(`e-${index}`)),
    );
    await expect(elsewhere[5]).rejects.toMatchObject(fault('UNAVAILABLE'));
    const decideAll = {
      assigned: () => undefined,
      revoked: async () => undefined,
      deliver: (_: unknown, delivery: { decided(version: null): void; release(): void }) => {
        delivery.decided(null);
        delivery.release();
      },
      busy: () => false,
    };
    const subscription = await stores.inputs.consume(decideAll);
    await Promise.all([...published.slice(0, 5), ...others.slice(0, 10), ...elsewhere.slice(0, 5)]);
    await stores.inputs.publish(key, messageOf('afterwards'));
    await subscription.close(100);
    await stores.close();
  });

  it.each([
    [true, 'As many threads are at work'],
    [false, 'the disk may be full'],
  ])('what nobody decides in time is refused, and told why: the consumer is busy: %s', async (isBusy, why) => {
    const stores = await openSqlite({ directory: await scratchDirectory(), undecidedMsMax: 10 });
    const subscription = await stores.inputs.consume({
      assigned: () => undefined,
      revoked: async () => undefined,
      deliver: () => undefined,
      busy: () => isBusy,
    });
    await expect(stores.inputs.publish(freshKey(), messageOf('m'))).rejects.toMatchObject(fault('UNAVAILABLE', why));
    await subscription.close(100);
    await stores.close();
  });
});
