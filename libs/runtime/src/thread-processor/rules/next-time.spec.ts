import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextTime } from './next-time.ts';

const at = (iso: string): number => Date.parse(iso);
const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

describe('the next time of a cron line', () => {
  it('is in its own time zone', () => {
    expect(iso(nextTime('0 9 * * *', 'Europe/Vienna', at('2026-07-01T12:00:00Z')))).toBe('2026-07-02T07:00:00.000Z');
    expect(iso(nextTime('0 9 * * *', 'Europe/Vienna', at('2026-12-01T12:00:00Z')))).toBe('2026-12-02T08:00:00.000Z');
  });

  it('survives the hour that does not exist and the hour that comes twice', () => {
    const spring = nextTime('30 2 * * *', 'Europe/Vienna', at('2027-03-28T00:00:00Z'));
    expect(spring).toBeGreaterThan(at('2027-03-28T00:59:00Z'));
    expect(spring).toBeLessThan(at('2027-03-29T03:00:00Z'));
    const first = nextTime('30 2 * * *', 'Europe/Vienna', at('2026-10-24T12:00:00Z')) ?? 0;
    const second = nextTime('30 2 * * *', 'Europe/Vienna', first) ?? 0;
    expect(second - first).toBeGreaterThan(20 * 3_600_000);
  });

  it.each([
    ['not a line', 'UTC'],
    ['0 9 * * *', 'Mars/Olympus'],
    ['99 99 * * *', 'UTC'],
    ['0 0 30 2 *', 'UTC'],
  ])('%s in %s never comes', (cron, zone) => {
    expect(nextTime(cron, zone, at('2026-01-01T00:00:00Z'))).toBeNull();
  });

  it('is in the minute of the time before it whenever it comes within a minute of that: no later gap is smaller', () => {
    const field = (max: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: 2, max }).map((step) => `*/${step}`),
        fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 3 }).map((list) => list.join()),
      );
    const line = fc.tuple(field(59), field(59), field(23)).map((fields) => `${fields.join(' ')} * * *`);
    const start = fc.integer({ min: at('2026-01-01T00:00:00Z') / 1_000, max: at('2027-12-31T00:00:00Z') / 1_000 });
    fc.assert(
      fc.property(line, start, fc.constantFrom('UTC', 'Europe/Vienna', 'Asia/Kolkata'), (cron, second, zone) => {
        let time = nextTime(cron, zone, second * 1_000) ?? 0;
        const minute = time - (time % 60_000);
        const first = nextTime(cron, zone, minute - 1_000) ?? 0;
        const isTwice = (nextTime(cron, zone, first) ?? 0) < minute + 60_000;
        for (let step = 0; step < 40; step += 1) {
          const next = nextTime(cron, zone, time) ?? 0;
          if (!isTwice) expect(next - time).toBeGreaterThanOrEqual(60_000);
          time = next;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is the same however often it is asked', () => {
    const after = at('2026-11-21T00:00:00Z');
    expect(nextTime('*/7 * * * *', 'Asia/Kolkata', after)).toBe(nextTime('*/7 * * * *', 'Asia/Kolkata', after));
  });
});
