import { tenantId } from '@dormouse/ports';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../open-sqlite.ts';
import { applicationId, schemaSteps } from './schema.ts';

const acme = tenantId('acme');

const made: string[] = [];
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-schema-'));
  made.push(directory);
  return directory;
}

/** A database as written by the release that had this many steps. */
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

  it('claims inputs that the release before had left out, and makes versions unique again (S3)', async () => {
    const directory = scratch();
    const key = freshKey();
    const commits = [0, 1, 2].map((version) => commitOf(key, version));
    const old = databaseOf(6, directory);
    old.prepare('INSERT INTO thread_numbers VALUES (7, ?, ?)').run(key.tenant, key.thread);
    const insert = old.prepare('INSERT INTO commits VALUES (?, 7, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    for (const { version, count, inputs, at, nonce, trace, kid, prev, hash, body } of commits)
      insert.run(version + 1, version, count, JSON.stringify(inputs), at, nonce, trace, kid, prev, hash, body);
    const [first] = commits;
    for (const input of first?.inputs ?? []) old.prepare('INSERT INTO inputs VALUES (?, 7, 0)').run(input);
    old.exec('INSERT INTO places VALUES (7, 0, 1); UPDATE placed SET upto = 1');
    old.close();

    const stores = await openSqlite({ directory });
    expect(await stores.log.read(key, 0)).toEqual(commits);
    expect(await stores.log.head(key)).toEqual(commits.at(-1));
    for (const commit of commits) {
      expect(await stores.log.at(key, commit.version + 1)).toEqual(commit);
      expect(await stores.log.findByInputs(key, commit.inputs)).toEqual([commit]);
      const again = commitOf(key, 3, { inputs: commit.inputs });
      expect(await stores.log.append([{ commit: again, owes: false }])).toEqual(['duplicate']);
    }
    expect(await stores.log.append([{ commit: commitOf(key, 3), owes: false }])).toEqual(['appended']);
    await stores.close();
    const file = new DatabaseSync(join(directory, 'dormouse.db'));
    const second = (): unknown =>
      file.exec(
        'INSERT INTO commits SELECT NULL, number, version, count, inputs, at, nonce, trace, kid, prev, hash, body FROM commits WHERE id = 1',
      );
    expect(second).toThrow('UNIQUE constraint failed: commits.number, commits.version');
    file.close();
  });

  it('keeps blobs of before, and does not know what threads of before were forked from', async () => {
    const directory = scratch();
    const old = databaseOf(20, directory);
    old.exec("INSERT INTO blobs VALUES ('acme', 'sha', 'text/plain', x'01')");
    old.exec(
      'INSERT INTO threads (tenant, thread, status, agent, agent_version, family, metadata, created_at, updated_at, position) ' +
        "VALUES ('acme', 'thr_1', 'idle', 'support', 1, 'thr_1', '{}', 5, 5, 2)",
    );
    old.close();
    const stores = await openSqlite({ directory });
    expect(await stores.blobs.put(acme, 'sha', new Uint8Array([1]), 'text/plain', 'thr_2')).toBe(false);
    await stores.remover.remove(acme, ['thr_2'], 'everything');
    expect(await stores.blobs.get(acme, 'sha')).not.toBeNull();
    expect(await stores.restingThreads.unplaced(acme, 10)).toEqual(['thr_1']);
    await stores.restingThreads.place(acme, 'thr_1', null);
    expect(await stores.restingThreads.unplaced(acme, 10)).toEqual([]);
    await stores.close();
  });

  it('lets the threads of one transaction share pages of inputs (S5)', async () => {
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
    const turns = 64;
    let frames = 0;
    for (let version = history; version < history + turns; version++) {
      const before = stores.counters().walFrames;
      await turn(version);
      const after = stores.counters().walFrames;
      frames += after >= before ? after - before : after; // the log may have begun again
    }
    // `commits` and `inputs` have a few pages for all threads; in the index by version each thread has its own.
    expect(frames / turns).toBeLessThan(threads * 1.25);
    await stores.close();
  });
});
