import { describe, expect, it } from 'vitest';
import { keyRingOf, masterKeysProblem } from './key-ring.ts';

const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [string, string, string];
const at = (time: string): number => Date.parse(time);

describe('the master keys of an installation', () => {
  it('K3 K4 are one in use at a moment, by their times, in whatever order they are written', () => {
    const ring = keyRingOf(`${three}@2026-03-01T00:00:00Z,${one}\n${two}@2026-02-01T12:30Z\n`);
    const marks = [one, two, three].map((key) => keyRingOf(key).all[0]?.mark);
    expect(new Set(marks).size).toBe(3);
    expect(ring.all.map(({ mark }) => mark)).toEqual(marks);
    const inUse = ['2026-01-31T00:00:00Z', '2026-02-01T12:30:00Z', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00Z'];
    expect(inUse.map((time) => ring.at(at(time)).mark)).toEqual([marks[0], marks[1], marks[1], marks[2]]);
  });

  it('K3 begin with the oldest also before its time has come', () => {
    expect(keyRingOf(`${two}@2030-01-01T00:00:00Z`).at(0).mark).toBe(keyRingOf(two).all[0]?.mark);
  });

  it('K2 derive another key for each purpose, the same in every process', () => {
    const [key] = keyRingOf(one).all;
    const derived = (['secrets', 'callbacks', 'audit', 'ids', 'thread tokens'] as const).map((purpose) =>
      Buffer.from(key?.key(purpose) ?? []).toString('hex'),
    );
    expect(new Set(derived).size).toBe(5);
    expect(Buffer.from(keyRingOf(`${one}@2026-03-01T00:00:00Z`).all[0]?.key('secrets') ?? []).toString('hex')).toBe(
      derived[0],
    );
  });

  it.each([
    ['', 'must be 64 hexadecimal digits'],
    ['abc', 'must be 64 hexadecimal digits'],
    [`${one.slice(1)}`, 'must be 64 hexadecimal digits'],
    [`${one},${two}`, 'for each key but the oldest'],
    [`${one}@2026-03-01T00:00:00Z,${two}@2026-03-01T00:00:00Z`, 'for each key but the oldest'],
    [`${one},${one}@2026-03-01T00:00:00Z`, 'one key twice'],
    [`${one}@tomorrow`, 'KEY@2026-01-31T12:00:00Z'],
    [`${one}@2026-03-01`, 'KEY@2026-01-31T12:00:00Z'],
    [`${one}@2026-13-01T00:00:00Z`, 'KEY@2026-01-31T12:00:00Z'],
  ])('K4 are refused as %s', (text, words) => {
    const problem = masterKeysProblem(text);
    expect(problem).toContain(words);
    expect(problem).not.toContain(one);
  });
});
