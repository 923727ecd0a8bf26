import { describe, expect, it } from 'vitest';
import { canonical } from './canonical-history.ts';

const [one, two] = ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '01BX5ZZKBKACTAV9WEVGEMMVRZ'];
const event = (id: string, at: string, changes: object = {}) => ({
  tool_call_id: `call_${id}`,
  at,
  cause: { kind: 'message', id: `msg_${id}` },
  text: 'hello',
  ...changes,
});
const log = [event(one, '2026-11-21T07:00:00.000Z'), event(two, '2026-11-21T07:00:01.000Z')];

describe('the canonical history', () => {
  it('is the same for two runs that differ in ids, times, hashes and addresses only', () => {
    const again = [event(two, '2027-01-01T00:00:00.000Z'), event(one, '2027-01-01T00:00:00.000Z')];
    expect(canonical(again)).toEqual(canonical(log));
    expect(canonical({ sha256: 'a'.repeat(64), url: 'http://127.0.0.1:1/x' })).toEqual(
      canonical({ sha256: 'b'.repeat(64), url: 'http://127.0.0.1:2/x' }),
    );
  });

  it.each([
    ['in the order of events', [log[1], { ...log[0], text: 'other' }]],
    ['in a text', [log[0], { ...log[1], text: 'other' }]],
    ['in a field that one has', [log[0], { ...log[1], code: null }]],
    ['in which call an event is of', [log[0], { ...log[1], tool_call_id: `call_${one}` }]],
    ['in an event that happened twice', [log[0], log[1], log[1]]],
  ])('is another when two runs differ %s', (_, other) => {
    expect(canonical(other)).not.toEqual(canonical(log));
  });
});
