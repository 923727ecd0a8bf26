import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWrittenCalls } from './written-calls.ts';

const callOf = (time: number): string => `call_${String(time).padStart(10, '0')}`;

describe('calls that were written', () => {
  it('never takes one that was written for a new one, however many came after it (C1)', () => {
    const time = fc.integer({ min: 0, max: 60 });
    const steps = fc.array(fc.record({ write: time, ask: time }), { maxLength: 80 });
    fc.assert(
      fc.property(fc.array(time, { maxLength: 5 }), steps, (stored, then) => {
        const everWritten = new Set(stored.map(callOf));
        const latest = [...everWritten].toSorted().at(-1) ?? '';
        const calls = createWrittenCalls(() => latest, 6);
        for (const { write, ask } of then) {
          calls.writing(callOf(write));
          everWritten.add(callOf(write));
          if (!calls.mayHave(callOf(ask))) expect(everWritten.has(callOf(ask))).toBe(false);
          for (const each of everWritten) expect(calls.mayHave(each)).toBe(true);
        }
      }),
    );
  });

  it('knows a call as new that is later than all', () => {
    const calls = createWrittenCalls(() => callOf(5), 6);
    for (let time = 6; time < 100; time++) {
      expect(calls.mayHave(callOf(time))).toBe(false);
      calls.writing(callOf(time));
    }
  });

  it('asks for the latest one once, and again when asking has failed', () => {
    let asked = 0;
    const calls = createWrittenCalls(() => {
      asked += 1;
      if (asked === 1) throw new Error('not now');
      return callOf(5);
    }, 6);
    expect(() => calls.mayHave(callOf(7))).toThrow('not now');
    expect([calls.mayHave(callOf(5)), calls.mayHave(callOf(7)), calls.mayHave(callOf(8))]).toEqual([
      true,
      false,
      false,
    ]);
    expect(asked).toBe(2);
  });

  it('says nothing of other subjects', () => {
    const calls = createWrittenCalls(() => '', 6);
    for (const subject of ['notice:server', 'call_żółw', 'call_', 'CALL_1', 'call_1:server'])
      expect(calls.mayHave(subject)).toBe(true);
  });
});
