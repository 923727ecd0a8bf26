// The log's length, on a real database; the spec plays the other thread on its line.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CheckpointLine, checkpointStates, createCheckpointLine, lineBytes } from './checkpoint-line.ts';
import { createWriteAheadLog, type WriteAheadLog } from './write-ahead-log.ts';
import { countersBytes, createCounterWriter, readCounters } from '../writer/writer-counters.ts';

const framesMax = 256;
const pageBytes = 4_096;

let directory: string;
let file: string;
let database: DatabaseSync;
let second: DatabaseSync;
let memory: SharedArrayBuffer;
let line: CheckpointLine;
let counters: SharedArrayBuffer;
let wal: WriteAheadLog;
let started: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dormouse-wal-'));
  file = join(directory, 'a.db');
  database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE pages (bytes BLOB)');
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  second = new DatabaseSync(file);
  memory = new SharedArrayBuffer(lineBytes);
  line = createCheckpointLine(memory);
  counters = new SharedArrayBuffer(countersBytes);
  started = 0;
  wal = createWriteAheadLog(database, createCounterWriter(counters), {
    framesMax,
    checkpointer: line,
    startCheckpointer: () => (started += 1),
    waitMsMax: 20,
  });
});

afterEach(() => {
  database.close();
  second.close();
  rmSync(directory, { recursive: true });
});

/** One transaction of at least this many pages, and what the writer does after it. */
function write(pages: number): void {
  database.prepare('INSERT INTO pages VALUES (zeroblob(?))').run(pages * pageBytes);
  wal.wrote(16);
  wal.tend();
}

const isAsked = (): boolean => new Int32Array(memory)[0] === checkpointStates.indexOf('asked');

/** The other thread's work when a checkpoint is requested. */
function carryOver(): void {
  expect(isAsked()).toBe(true); // waiting for it would never end
  second.exec('PRAGMA wal_checkpoint(PASSIVE)');
  line.answer('carried');
}

/** The same, while the writer stores this many pages more: they are not checkpointed, and the log does not restart. */
function carryOverBut(pages: number): void {
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM pages');
  write(pages);
  carryOver();
  reader.exec('COMMIT');
  reader.close();
}

const checkpoints = (): number => readCounters(counters).checkpoints;
const behind = (): number => {
  const row = second.prepare('PRAGMA wal_checkpoint(NOOP)').get();
  return Number(row?.['log']) - Number(row?.['checkpointed']);
};

describe('the write-ahead log', () => {
  it('H1 has the other thread started once, and leaves a long log to it', () => {
    write(framesMax / 2);
    expect(started).toBe(0);
    write(framesMax);
    write(1);
    expect([started, checkpoints()]).toEqual([1, 0]);
    line.ready();
    write(1);
    carryOver();
    write(1);
    expect([started, behind(), checkpoints()]).toEqual([1, 0, 2]); // one by the thread, one of the rest
    expect(wal.isClean()).toBe(true);
  });

  it('H1 asks again while what came meanwhile is much', () => {
    write(framesMax);
    line.ready();
    write(1);
    carryOver();
    write(framesMax / 2);
    expect(checkpoints()).toBe(1);
    carryOver();
    write(1);
    expect([behind(), checkpoints()]).toEqual([0, 3]);
  });

  it('H1 asks again while a rest becomes less than half, and takes it when it does not', () => {
    write(framesMax);
    line.ready();
    write(1);
    carryOverBut(20); // a rest that may become smaller
    write(1);
    expect([isAsked(), checkpoints()]).toEqual([true, 1]);
    carryOverBut(13); // it did not, or by too little
    write(1);
    expect([isAsked(), behind(), checkpoints()]).toEqual([false, 0, 3]);
    write(framesMax);
    carryOverBut(20); // nothing is known of the new log
    write(1);
    expect([isAsked(), checkpoints()]).toEqual([true, 4]);
    carryOverBut(6); // more than a little
    write(1);
    expect([isAsked(), checkpoints()]).toEqual([true, 5]);
  });

  it('H1 asks again while more than a rest is left, whether it becomes less or not', () => {
    write(framesMax);
    line.ready();
    write(1);
    carryOverBut(framesMax / 6);
    write(1);
    carryOverBut(framesMax / 6);
    write(1);
    expect([isAsked(), checkpoints()]).toEqual([true, 2]);
  });

  it('H2 stays bounded though the other never gets to the end of it', () => {
    let longest = 0;
    for (let round = 0; round < 60; round += 1) {
      write(framesMax / 4);
      longest = Math.max(longest, readCounters(counters).walFrames);
      line.ready();
      if (isAsked()) carryOverBut(framesMax / 4);
    }
    expect(longest).toBeLessThan(framesMax * 3);
  });

  it('H3 counts no checkpoint that had nothing to do', () => {
    write(4);
    wal.checkpoint('PASSIVE');
    const before = readCounters(counters);
    wal.checkpoint('PASSIVE');
    expect(readCounters(counters)).toEqual(before);
  });

  it('H3 hears of the other one at rest too: the next commit has nothing to do', () => {
    write(framesMax);
    line.ready();
    write(1);
    carryOver();
    wal.checkpoint('PASSIVE');
    expect([wal.isClean(), checkpoints()]).toEqual([true, 1]);
    write(1);
    expect([behind() > 0, checkpoints()]).toEqual([true, 1]);
  });

  it('H2 is carried over by the writer at twice the length, whether the other has not started, or is slow, or has failed', () => {
    write(framesMax);
    write(framesMax); // asked to start, but has not
    expect([started, behind()]).toEqual([1, 0]);
    line.ready();
    write(framesMax);
    write(framesMax); // requested, but not answered
    expect(behind()).toBe(0);
    expect(isAsked()).toBe(true);
    line.answer('failed');
    write(framesMax * 2);
    expect(behind()).toBe(0);
  });
});

describe('the line to the other thread', () => {
  it('D1 D2 takes one request at a time, and its answer once', () => {
    expect([line.ask(), line.ask()]).toEqual(['absent', 'no']);
    line.ready();
    expect([line.ask(), line.ask(), line.take()]).toEqual(['asked', 'no', null]);
    line.answer('failed');
    expect([line.ask(), line.take(), line.take()]).toEqual(['no', 'failed', null]);
    expect(line.ask()).toBe('asked');
  });

  it('D1 is over for good, whatever either end says afterwards', () => {
    line.ask();
    line.end();
    line.ready();
    expect(line.next()).toBe(false);
    line.answer('carried');
    expect([line.take(), line.ask()]).toEqual([null, 'no']);
  });
});
