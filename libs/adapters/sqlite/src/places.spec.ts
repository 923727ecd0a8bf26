import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareDatabase } from './database.ts';
import { behindMax, createPlaces, type Places } from './places.ts';

let directory: string;
let database: DatabaseSync;
let places: Places;
let versions: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dormouse-places-'));
  const file = join(directory, 'a.db');
  prepareDatabase(file);
  database = new DatabaseSync(file);
  places = createPlaces(database);
  versions = 0;
});

afterEach(() => {
  database.close();
  rmSync(directory, { recursive: true });
});

/** Inserts a commit of one event. */
function commit(number: number, ...inputs: readonly string[]): void {
  database
    .prepare("INSERT INTO commits VALUES (NULL, ?, ?, 1, ?, 1, '', NULL, NULL, '', '', '{}')")
    .run(number, versions++, JSON.stringify(inputs));
  places.add(number, inputs);
}

function fill(count: number): void {
  for (let commits = 0; commits < count; commits++) commit(9, `filler-${versions}`);
}

const count = (table: 'places' | 'inputs'): unknown =>
  database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'];

/** The input 'a' of thread 1 is claimed, and that one only. */
function expectClaim(): void {
  expect(places.isClaimed(1, 'a')).toBe(true);
  expect(places.isClaimed(2, 'a')).toBe(false);
  expect(places.isClaimed(1, 'b')).toBe(false);
}

describe('places', () => {
  it('P1 P3 know an input that is behind, and one that is written, which is so after 512 commits', () => {
    commit(1, 'a');
    expectClaim();
    fill(behindMax - 2);
    expect([count('places'), count('inputs')]).toEqual([0, 0]);
    expectClaim();
    fill(1);
    expect([count('places'), count('inputs')]).toEqual([behindMax, behindMax]);
    expectClaim();
    fill(behindMax);
    expect(count('inputs')).toBe(2 * behindMax);
    expectClaim();
  });

  it('P1 find out at the beginning what is behind', () => {
    commit(1, 'a');
    places = createPlaces(database);
    expectClaim();
    fill(behindMax - 1);
    expect(count('places')).toBe(behindMax);
  });

  it('write what is behind when they are told to, once', () => {
    commit(1, 'a');
    places.write();
    places.write();
    expect([count('places'), count('inputs')]).toEqual([1, 1]);
    expectClaim();
    createPlaces(database).write();
    expect(count('places')).toBe(1);
  });

  it('P2 forget what was rolled back, places that were written with it too', () => {
    commit(1, 'a');
    database.exec('BEGIN');
    commit(1, 'b');
    fill(behindMax);
    expect(count('places')).toBe(behindMax);
    expect(places.isClaimed(1, 'b')).toBe(true);
    database.exec('ROLLBACK');
    places.forget();
    expect(count('places')).toBe(0);
    expectClaim();
    commit(1, 'b');
    expect(places.isClaimed(1, 'b')).toBe(true);
  });

  it('take an id that a commit names twice for one input, and the same id in two threads for two', () => {
    commit(1, 'a', 'a');
    commit(2, 'a');
    places.write();
    expect(count('inputs')).toBe(2);
  });

  it('take any text for an input', () => {
    const texts = ['', ' ', '1 a', '"', '\u0000', '\ud83d\ude00', 'null', '7'];
    commit(1, ...texts);
    for (const text of texts) expect(places.isClaimed(1, text), JSON.stringify(text)).toBe(true);
    places.write();
    for (const text of texts) expect(places.isClaimed(1, text), JSON.stringify(text)).toBe(true);
    expect(places.isClaimed(1, 'a')).toBe(false);
  });
});
