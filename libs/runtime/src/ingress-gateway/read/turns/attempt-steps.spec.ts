import { tenantId } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { withAttempts } from './attempt-steps.ts';
import type { Step, Turn } from './turn.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };
const call: Step = { kind: 'call', id: 'call_1', parentId: 'cmp_1', startedAt: 100, endedAt: 1_000, outcome: 'result' };
const turn: Turn = {
  ...{ turnId: 'msg_1', cause: { kind: 'message', id: 'msg_1' }, traceId: null, startedAt: 0, endedAt: null },
  steps: [call, { kind: 'callback', id: 'r:call_1', parentId: 'call_1', startedAt: 1_000, endedAt: 1_000 }],
};
const attempt = (number: number, at: number, durationMs: number, status: number | string = 200) => ({
  ...{ toolCallId: 'call_1', number, at, durationMs, status },
});
const stepsWith = (...attempts: readonly ReturnType<typeof attempt>[]): readonly Step[] =>
  withAttempts(key, turn, new Map([['call_1', attempts]])).steps;

it('A2 has the attempts of a call as siblings, in the order of their times', () => {
  const steps = stepsWith(attempt(2, 300, 50), attempt(1, 110, 20, 'ECONNREFUSED'));
  expect(steps.map(({ id, parentId, outcome }) => [id, parentId, outcome])).toEqual([
    ['call_1', 'cmp_1', 'result'],
    ['call_1.1', 'call_1', 'ECONNREFUSED'],
    ['call_1.2', 'call_1', '200'],
    ['r:call_1', 'call_1', undefined],
  ]);
});

it.each([
  [900, []],
  [830, [attempt(1, 110, 20), attempt(2, 300, 50)]],
  [800, [attempt(1, 900, 5_000)]],
  [850, [attempt(1, 100, 50), attempt(2, 120, 30)]],
])('A1 a call has waited %i ms while no attempt was under way', (waitedMs, attempts) => {
  expect(stepsWith(...attempts)[0]).toMatchObject({ waitedMs });
});

it('A3 counts callbacks without an effect, by the log and by the gateway', () => {
  const counted = { ...turn, steps: [{ ...call, duplicates: 1, refused: 2 }] };
  const stepOf = (counts: Parameters<typeof withAttempts>[3]) => withAttempts(key, counted, new Map(), counts).steps[0];
  expect(stepOf([])).toMatchObject({ duplicates: 1, refused: 2 });
  expect(stepOf([{ toolCallId: 'call_1', duplicates: 3, refused: 1 }])).toMatchObject({ duplicates: 4, refused: 2 });
  expect(stepOf([{ toolCallId: 'call_1', duplicates: 0, refused: 7 }])).toMatchObject({ duplicates: 1, refused: 7 });
  expect(stepOf([{ toolCallId: 'call_2', duplicates: 9, refused: 9 }])).toMatchObject({ duplicates: 1, refused: 2 });
});

it('has a span of its own for each attempt of a call in a trace', () => {
  const traced = { ...turn, steps: [{ ...call, traceId: 'a'.repeat(32) }] };
  const steps = withAttempts(key, traced, new Map([['call_1', [attempt(1, 110, 1), attempt(2, 120, 1)]]])).steps;
  expect(new Set(steps.slice(1).map(({ spanId }) => spanId)).size).toBe(2);
  expect(stepsWith(attempt(1, 110, 1))[1]).not.toHaveProperty('spanId');
});
