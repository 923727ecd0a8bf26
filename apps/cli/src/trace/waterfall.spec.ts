import type { Schemas } from '@dormouse/client';
import { describe, expect, it } from 'vitest';
import { waterfall } from './waterfall.ts';

type Turn = Schemas['Turn'];
type Step = Schemas['Step'];

const startMs = Date.parse('2026-03-01T09:00:00.000Z');
const time = (ms: number): string => new Date(startMs + ms).toISOString();

function step(
  kind: Step['kind'],
  id: string,
  parent: string | null,
  [from, to]: readonly [number, number | null],
  more: Partial<Step> = {},
): Step {
  return { kind, id, parent_id: parent, started_at: time(from), ended_at: to === null ? null : time(to), ...more };
}

const turn: Turn = {
  ...{ turn_id: 'msg_1', cause: { kind: 'message', id: 'msg_1' }, trace_id: 'a'.repeat(32) },
  ...{ started_at: time(0), ended_at: time(3_000) },
  steps: [
    step('completion', 'cmp_1', null, [0, 600], { name: 'demo', outcome: 'tool_calls' }),
    step('call', 'call_1', 'cmp_1', [600, 2_400], { name: 'weather', outcome: 'result', trace_id: 'a'.repeat(32) }),
    step('attempt', 'call_1.1', 'call_1', [650, 900], { outcome: '500' }),
    step('attempt', 'call_1.2', 'call_1', [1_500, 1_800], { outcome: '200' }),
    step('callback', 'r:call_1', 'call_1', [2_400, 2_400], { outcome: 'accepted' }),
    step('completion', 'cmp_2', 'call_1', [2_400, 3_000], { name: 'demo', outcome: 'stop' }),
  ],
};

const draw = (given: Turn, unicode = true, columns = 80): readonly string[] => waterfall(given, { columns, unicode });

describe('the picture of a turn', () => {
  it('W2 W3 is a tree with times and bars', () => {
    expect(draw(turn)).toEqual([
      'message msg_1  2026-03-01T09:00:00.000Z  3.0s',
      `  trace ${'a'.repeat(32)}`,
      'completion demo                     +0ms    600ms ███████',
      '  call weather                    +600ms     1.8s       ░░░░░░░░░░░░░░░░░░░',
      '    attempt 1 500                 +650ms    250ms       ████',
      '    attempt 2 200                  +1.5s    300ms                ████',
      '    callback                       +2.4s      0ms                         ▏',
      '    completion demo                +2.4s    600ms                         ██████',
    ]);
  });

  it('W4 is the same in ASCII', () => {
    const ascii = draw(turn, false).join('\n');
    const same = draw(turn).join('\n').replaceAll('█', '#').replaceAll('░', '.').replaceAll('▏', '|');
    expect(ascii).toBe(same);
    expect(ascii).toMatch(/^[\n\x20-\x7e]*$/);
  });

  it('W3 shows what is open with an arrow, and a short step beside a sleep of days', () => {
    const asleep: Turn = {
      ...turn,
      ...{ trace_id: null, ended_at: null },
      steps: [
        step('completion', 'cmp_1', null, [0, 4], { name: 'demo', outcome: 'tool_calls' }),
        step('timer', 'tmr_1', 'cmp_1', [4, 259_200_004], { name: 'sleep', outcome: 'fired' }),
        step('call', 'call_1', 'cmp_1', [129_600_000, null], { name: 'deploy' }),
      ],
    };
    expect(draw(asleep)).toEqual([
      'message msg_1  2026-03-01T09:00:00.000Z  running',
      'completion demo                     +0ms      4ms █',
      '  timer sleep                       +4ms    3d00h ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░',
      '  call deploy                     +1d12h     open               ░░░░░░░░░░░░░░░›',
    ]);
  });

  it('has another trace and the links of a step below it, and what was left out', () => {
    const linked: Turn = {
      ...{ ...turn, steps_omitted: 7 },
      steps: [
        step('completion', 'cmp_1', 'tmr_0', [0, 4], {
          ...{ name: 'demo', outcome: 'stop', trace_id: 'b'.repeat(32) },
          links: [{ trace_id: 'c'.repeat(32), span_id: 'd'.repeat(16) }],
        }),
      ],
    };
    expect(draw(linked).slice(3)).toEqual([
      `  trace ${'b'.repeat(32)}`,
      `  link ${'c'.repeat(32)} ${'d'.repeat(16)}`,
      'and 7 more steps',
    ]);
  });

  it.each([80, 60, 200])('W1 fits %i columns, 80 at most, whatever strangers call things', (columns) => {
    const name = '\u001b[2J\u202ea very long name \n of a tool that goes on and on';
    const chain = Array.from({ length: 40 }, (_, index) =>
      step('call', `call_${index}`, index === 0 ? null : `call_${index - 1}`, [index, 3_000], { name, outcome: name }),
    );
    for (const unicode of [true, false])
      for (const line of draw({ ...turn, turn_id: `e:${'x'.repeat(300)}`, steps: chain }, unicode, columns)) {
        expect(line.length).toBeLessThanOrEqual(Math.min(80, columns));
        expect(line).not.toMatch(/\p{Cc}|\u202e/u);
      }
  });

  it('comes to an end where steps name each other as their cause', () => {
    const steps = [step('call', 'a', 'b', [0, 1]), step('call', 'b', 'a', [0, 1]), step('call', 'c', 'c', [0, 1])];
    expect(draw({ ...turn, steps }).length).toBeLessThan(6);
  });
});
