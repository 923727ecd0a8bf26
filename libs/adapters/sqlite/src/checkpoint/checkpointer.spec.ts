import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCheckpointLine, lineBytes } from './checkpoint-line.ts';
import { createCheckpointer } from './checkpointer.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dormouse-checkpointer-'));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

const start = (file: string) => {
  const memory = new SharedArrayBuffer(lineBytes);
  const line = createCheckpointLine(memory);
  const checkpointer = createCheckpointer({ file, line: memory });
  expect(line.ask()).toBe('absent');
  checkpointer.start();
  return { line, checkpointer };
};

describe('the thread that carries the log over', () => {
  it('carries over what is asked for, beside a transaction that is open, and ends', async () => {
    const file = join(directory, 'a.db');
    const database = new DatabaseSync(file);
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a); INSERT INTO t VALUES (1)',
    );
    const { line, checkpointer } = start(file);
    database.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (2)');
    await expect.poll(() => line.ask()).toBe('asked');
    await expect.poll(() => line.take()).toBe('carried');
    database.exec('COMMIT');
    const { log, checkpointed } = database.prepare('PRAGMA wal_checkpoint(NOOP)').get() ?? {};
    expect([Number(checkpointed) > 0, Number(log) > Number(checkpointed)]).toEqual([true, true]); // the open one is not
    await checkpointer.end();
    expect(line.ask()).toBe('no');
    database.close();
  });

  it('T1 is done without when it cannot open the database, and says so', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const { line, checkpointer } = start(join(directory, 'missing', 'a.db'));
    await expect.poll(() => warned.mock.calls).toHaveLength(1);
    expect(warned.mock.calls[0]?.[0]).toContain('unable to open database file');
    line.ready(); // as if the thread had started after all
    expect([line.ask(), line.take()]).toEqual(['no', null]);
    await checkpointer.end();
  });

  it('ends at once where it was never started', async () => {
    await createCheckpointer({ file: '', line: new SharedArrayBuffer(lineBytes) }).end();
  });
});
