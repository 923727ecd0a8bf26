import { describe, expect, it } from 'vitest';
import { type KeyRing, keyRingOf, masterKeysProblem, readMasterKeys } from './key-ring.ts';

const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [string, string, string];
const wrapped = 'vault:v1:Y2FuYXJ5IGNhbmFyeQ==';
const at = (time: string): number => Date.parse(time);

function ringOf(text: string): KeyRing {
  const written = readMasterKeys(text);
  if (typeof written === 'string') throw new Error(written);
  const ring = keyRingOf(written.map((each) => ({ ...each, key: Buffer.from(each.text, 'hex') })));
  if (typeof ring === 'string') throw new Error(ring);
  return ring;
}

describe('the master keys of an installation', () => {
  it('K3 K4 are one in use at a moment, by their times, in whatever order they are written', () => {
    const ring = ringOf(`${three}@2026-03-01T00:00:00Z,${one}\n${two}@2026-02-01T12:30Z\n`);
    const marks = [one, two, three].map((key) => ringOf(key).all[0]?.mark);
    expect(new Set(marks).size).toBe(3);
    expect(ring.all.map(({ mark }) => mark)).toEqual(marks);
    const inUse = ['2026-01-31T00:00:00Z', '2026-02-01T12:30:00Z', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00Z'];
    expect(inUse.map((time) => ring.at(at(time)).mark)).toEqual([marks[0], marks[1], marks[1], marks[2]]);
  });

  it('K3 begin with the oldest also before its time has come', () => {
    expect(ringOf(`${two}@2030-01-01T00:00:00Z`).at(0).mark).toBe(ringOf(two).all[0]?.mark);
  });

  it('K2 derive another key for each purpose, the same in every process', () => {
    const [key] = ringOf(one).all;
    const derived = (['secrets', 'callbacks', 'audit', 'ids', 'thread tokens'] as const).map((purpose) =>
      Buffer.from(key?.key(purpose) ?? []).toString('hex'),
    );
    expect(new Set(derived).size).toBe(5);
    expect(Buffer.from(ringOf(`${one}@2026-03-01T00:00:00Z`).all[0]?.key('secrets') ?? []).toString('hex')).toBe(
      derived[0],
    );
  });

  it('K4 are read with those that a key management has wrapped', () => {
    const text = `${wrapped}@2026-03-01T00:00:00Z,${one}`;
    expect(masterKeysProblem(text)).toBeNull();
    expect(readMasterKeys(text)).toEqual([
      { text: one, isWrapped: false, since: 0, time: null },
      { text: wrapped, isWrapped: true, since: at('2026-03-01T00:00:00Z'), time: '2026-03-01T00:00:00Z' },
    ]);
  });

  it.each([
    ['', 'must be 64 hexadecimal digits'],
    ['abc', 'must be 64 hexadecimal digits'],
    [`${one.slice(1)}`, 'must be 64 hexadecimal digits'],
    ['vault:v1:short', 'as the key management has written it'],
    [`vault:${one}`, 'as the key management has written it'],
    [`${one},${two}`, 'for each key but the oldest'],
    [`${one}@2026-03-01T00:00:00Z,${two}@2026-03-01T00:00:00Z`, 'for each key but the oldest'],
    [`${one},${one}@2026-03-01T00:00:00Z`, 'one key twice'],
    [`${wrapped},${wrapped}@2026-03-01T00:00:00Z`, 'one key twice'],
    [`${one}@tomorrow`, 'KEY@2026-01-31T12:00:00Z'],
    [`${one}@2026-03-01`, 'KEY@2026-01-31T12:00:00Z'],
    [`${one}@2026-13-01T00:00:00Z`, 'KEY@2026-01-31T12:00:00Z'],
  ])('K4 are refused as %s', (text, words) => {
    const problem = masterKeysProblem(text);
    expect(problem).toContain(words);
    expect(problem).not.toContain(one);
    expect(problem).not.toContain('Y2FuYXJ5');
  });
});
