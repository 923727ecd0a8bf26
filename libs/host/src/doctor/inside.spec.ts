import { Fault } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { keyRingOf } from '../platform/key-ring.ts';
import { failed, keysFinding, lagFinding } from './inside.ts';

const lag = { topic: 'inputs', group: 'rap.thread-processor', members: 2, records: 7, oldestMs: 61_000 } as const;

it.each([
  ['nothing waits', { records: 0, oldestMs: 0, members: 0 }, 'ok', null],
  ['what waits is young', { oldestMs: 59_000 }, 'ok', null],
  ['nothing consumes what waits', { members: 0, oldestMs: 1_000 }, 'fail', 'Start a thread-processor.'],
  ['the oldest waits long, and there are partitions left', {}, 'warn', 'Start more of thread-processor, at most one'],
  ['the oldest waits long, and every partition has its process', { members: 4 }, 'warn', 'larger machines'],
])('the lag of a group is judged: %s', (_, change, level, next) => {
  const found = lagFinding({ ...lag, ...change }, 4);
  expect(found).toMatchObject({ check: 'lag of inputs', level });
  if (next === null) expect(found.next).toBeNull();
  else expect(found.next).toContain(next);
});

it.each([
  ['are in the clear, and nothing could wrap them', null, 1, 'ok'],
  ['are wrapped', 'vault transit/dormouse', 0, 'ok'],
  ['are in the clear beside a key management', 'vault transit/dormouse', 1, 'warn'],
])('master keys %s', (_, unwrappedBy, plain, level) => {
  const ring = keyRingOf([{ key: new Uint8Array(32), since: 0 }]);
  if (typeof ring === 'string') throw new Error(ring);
  expect(keysFinding({ ring, unwrappedBy, plain })).toMatchObject({ check: 'keys', level });
});

it('a server that is away is a failure with where to look; another fault has its step in its words', () => {
  const away = failed('database', new Fault('UNAVAILABLE', 'No database answers.'));
  expect(away).toMatchObject({ level: 'fail', detail: 'UNAVAILABLE: No database answers.' });
  expect(away.next).toContain('docs/runbooks/README.md#a-server-that-is-away');
  expect(failed('topics', new Fault('TOPICS_UNFIT', 'Make them with: npm run setup')).next).toBeNull();
  expect(() => failed('topics', new TypeError('a defect'))).toThrow(TypeError);
});
