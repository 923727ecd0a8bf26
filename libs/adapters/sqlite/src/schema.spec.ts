import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqlite, type SqliteStores } from './open-sqlite.ts';
import { applicationId, schemaSteps } from './schema.ts';

const made: string[] = [];
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-schema-'));
  made.push(directory);
  return directory;
}

/** A database as the release left it that knew so many steps. */
function databaseOf(steps: number, directory: string): DatabaseSync {
  const database = new DatabaseSync(join(directory, 'dormouse.db'));
  for (const step of schemaSteps.slice(0, steps)) database.exec(step);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps}`);
  return database;
}

const shapeOf = (directory: string): unknown => {
  const database = new DatabaseSync(join(directory, 'dormouse.db'), { readOnly: true });
  const shape = database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all();
  database.close();
  return shape;
};

describe('the shape of dormouse.db', () => {
  it('is the same, whichever release began it', async () => {
    const fresh = scratch();
    await (await openSqlite({ directory: fresh })).close();
    for (let steps = 1; steps <= schemaSteps.length; steps++) {
      const directory = scratch();
      databaseOf(steps, directory).close();
      await (await openSqlite({ directory })).close();
      expect(shapeOf(directory), `${steps} steps`).toEqual(shapeOf(fresh));
    }
  });

  it('keeps inputs, outcomes and attempts that were kept by thread (S5)', async () => {
    const directory = scratch();
    const old = databaseOf(3, directory);
    const key = freshKey();
    const commit = commitOf(key, 0);
    const [input = ''] = commit.inputs;
    old.prepare('INSERT INTO thread_numbers VALUES (7, ?, ?)').run(key.tenant, key.thread);
    old
      .prepare('INSERT INTO commits VALUES (1, 7, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        commit.count,
        JSON.stringify(commit.inputs),
        commit.at,
        commit.nonce,
        commit.trace,
        commit.kid,
        commit.prev,
        commit.hash,
        commit.body,
      );
    old.prepare('INSERT INTO inputs VALUES (7, ?, 0)').run(input);
    old
      .prepare('INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(key.tenant, key.thread, 'call_1', 'nonce', 5, 'refused', '404');
    const attempt = old.prepare('INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)');
    const at = Date.now(); // older ones are swept
    attempt.run(key.tenant, key.thread, 'call_1', 1, at, 503, 3);
    attempt.run(key.tenant, key.thread, 'call_1', 2, at + 1, 'ECONNREFUSED', 4);
    old.close();

    const stores = await openSqlite({ directory });
    expect(await stores.log.read(key, 0)).toEqual([commit]);
    expect(await stores.log.findByInputs(key, [input])).toEqual([commit]);
    const again = commitOf(key, commit.count, { inputs: [input] });
    expect(await stores.log.append([{ commit: again, owes: false }])).toEqual(['duplicate']);
    expect(await stores.ledger.look(key, 'call_1')).toEqual({
      entry: { nonce: 'nonce', outcome: 'refused', detail: '404', claimedAt: 5 },
      attempts: [
        { toolCallId: 'call_1', number: 1, at, status: 503, durationMs: 3 },
        { toolCallId: 'call_1', number: 2, at: at + 1, status: 'ECONNREFUSED', durationMs: 4 },
      ],
    });
    expect(await stores.ledger.settle(key, 'call_1', 'sent', null)).toBe('refused');
    await stores.close();
  });

  it('finds commits with a place and without, in order, also after it was opened again (S6)', async () => {
    const directory = scratch();
    const stores = await openSqlite({ directory });
    const [key, other] = [freshKey(), freshKey()];
    const commits = Array.from({ length: 600 }, (_, version) => commitOf(key, version));
    await stores.log.append(commits.map((commit) => ({ commit, owes: false })));
    await stores.log.append([{ commit: commitOf(other, 0), owes: false }]);
    const look = new DatabaseSync(join(directory, 'dormouse.db'), { readOnly: true });
    const places = look.prepare('SELECT count(*) AS places FROM places').get();
    look.close();
    expect(places).toEqual({ places: 512 });
    const check = async ({ log }: SqliteStores): Promise<void> => {
      expect(await log.read(key, 0)).toEqual(commits);
      expect(await log.read(key, 510, 20)).toEqual(commits.slice(510, 530));
      expect(await log.head(key)).toEqual(commits.at(-1));
      for (const version of [0, 512, 513, 599]) {
        const commit = commits[version];
        expect(await log.at(key, version + 1)).toEqual(commit);
        expect(await log.findByInputs(key, commit?.inputs ?? [])).toEqual([commit]);
      }
    };
    await check(stores);
    await stores.close();
    const again = await openSqlite({ directory });
    await check(again);
    const late = commitOf(key, 599);
    expect(await again.log.append([{ commit: late, owes: false }])).toEqual(['conflict']); // the head is found behind the places
    commits.push(commitOf(key, 600));
    expect(await again.log.append(commits.slice(-1).map((commit) => ({ commit, owes: false })))).toEqual(['appended']);
    await check(again);
    await again.close();
  });

  it('claims inputs of commits that had no place when the file was brought up to date once (S6)', async () => {
    const directory = scratch();
    const key = freshKey();
    const commits = [0, 1].map((version) => commitOf(key, version));
    const stores = await openSqlite({ directory });
    await stores.log.append(commits.map((commit) => ({ commit, owes: false })));
    await stores.close();
    const old = new DatabaseSync(join(directory, 'dormouse.db')); // the release before claimed at once
    old.exec('INSERT INTO inputs SELECT each.value, number, version FROM commits, json_each(inputs) AS each');
    old.exec('PRAGMA user_version = 5');
    old.close();
    const now = await openSqlite({ directory });
    for (const commit of commits) {
      expect(await now.log.findByInputs(key, commit.inputs)).toEqual([commit]);
      const again = commitOf(key, 2, { inputs: commit.inputs });
      expect(await now.log.append([{ commit: again, owes: false }])).toEqual(['duplicate']);
    }
    const next = Array.from({ length: 600 }, (_, index) => commitOf(key, 2 + index));
    const outcomes = await now.log.append(next.map((commit) => ({ commit, owes: false })));
    expect(new Set(outcomes)).toEqual(new Set(['appended']));
    await now.close();
  });

  it('lets the threads of one transaction share their pages (S5, S6)', async () => {
    const threads = 32;
    const history = 200;
    const stores = await openSqlite({ directory: scratch() });
    const keys = Array.from({ length: threads }, () => freshKey());
    const turn = async (version: number): Promise<void> => {
      const group = keys.map((key, index) => {
        const id = String(version * threads + index).padStart(10, '0'); // sorts by time
        return { commit: commitOf(key, version, { inputs: [`c:01M${id}XXXXXXXXXXXXX`] }), owes: false };
      });
      await stores.log.append(group);
    };
    for (let version = 0; version < history; version++) await turn(version);
    const turns = 64; // long enough for places to be written twice (S6)
    let frames = 0;
    for (let version = history; version < history + turns; version++) {
      const before = stores.counters().walFrames;
      await turn(version);
      const after = stores.counters().walFrames;
      frames += after >= before ? after - before : after; // the log may have begun again
    }
    // `commits` and `inputs` have a few pages for all of them. In places each thread has a page of its own, once in 16 turns.
    expect(frames / turns).toBeLessThan(threads * 0.75);
    await stores.close();
  });
});
