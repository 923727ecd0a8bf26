// What the metrics say of whole turns: the measured ports of a processor in a memory world.
import { createMemoryMetrics, type MemoryMetrics } from '@dormouse/adapter-memory';
import { ModelFault } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Actor,
  calls,
  inTurn,
  interrupt,
  invoked,
  key,
  message,
  opened,
  type Play,
  result,
  says,
  type Rig,
  type RigOptions,
} from '../thread-processor/spec/processor-rig.ts';

const hangs: Play = async function* () {
  yield { part: 'text', text: 'I was about' };
  await new Promise(() => {});
};

const fails: Play = () => {
  throw new ModelFault({ code: 'MODEL_REFUSED', detail: 'no', retryable: false });
};

let metrics: MemoryMetrics;
let rig: Rig;
let actor: Actor;

async function opens(options: RigOptions): Promise<void> {
  metrics = createMemoryMetrics();
  ({ rig, actor } = await opened({ metrics, ...options }));
}

async function sends(input: ThreadInput, thenMs = 50): Promise<void> {
  await actor.ports.inputs.publish(key, input).catch(() => undefined);
  await rig.clock.advance(thenMs);
}

const count = (...series: readonly string[]): number => metrics.counted.get(series.join(' ')) ?? 0;
const values = (...series: readonly string[]): readonly number[] => metrics.recorded.get(series.join(' ')) ?? [];

describe('a turn with one tool', () => {
  beforeEach(async () => {
    await opens({ play: inTurn(calls('weather', '{}'), says('sunny')) });
    await sends(message('msg_1'), 2_000);
    await sends(result(invoked(rig)));
  });

  it('F1 counts once, at its end, with the time from its message', () => {
    expect(count('dormouse_turns_total', 'completed')).toBe(1);
    expect(values('dormouse_turn_duration_seconds')).toEqual([2]);
  });

  it('F2 counts its call when that is settled, with the time that it waited', () => {
    expect(count('dormouse_tool_calls_total', 'tools', 'result')).toBe(1);
    expect(values('dormouse_tool_wait_seconds', 'tools')).toEqual([2]);
    expect(values('gen_ai.execute_tool.duration', 'weather', '')).toEqual([2]);
  });

  it('F2 a repeated result is a duplicate and nothing else', async () => {
    const before = new Map(metrics.counted);
    await sends(result(invoked(rig)));
    const changed = [...metrics.counted].filter(([series, value]) => before.get(series) !== value);
    expect(changed.map(([series]) => series).toSorted()).toEqual([
      'dormouse_duplicates_total ToolResult',
      'dormouse_inputs_total ToolResult',
    ]);
  });

  it('counts completions and their tokens by provider and model', () => {
    expect(count('dormouse_completions_total', 'scripted', 'scripted', 'recorded')).toBe(2);
    expect(count('gen_ai.client.inference.usage.input_tokens', 'scripted', 'scripted')).toBe(2);
    expect(values('gen_ai.client.operation.duration', 'scripted', 'scripted', '')).toHaveLength(2);
    expect(values('gen_ai.client.operation.time_to_first_chunk', 'scripted', 'scripted')).toHaveLength(2);
  });

  it('counts what went through the ports on its way', () => {
    expect(count('dormouse_inputs_total', 'UserMessage')).toBe(1);
    expect(count('dormouse_inputs_total', 'ToolResult')).toBe(1);
    expect(values('dormouse_append_duration_seconds').length).toBeGreaterThanOrEqual(4);
    expect(values('dormouse_decide_duration_seconds').length).toBeGreaterThanOrEqual(4);
    expect(values('dormouse_payment_duration_seconds').length).toBeGreaterThanOrEqual(4);
  });
});

it('the name of a tool that the model made up is no label', async () => {
  await opens({ play: inTurn(calls('what Anna said', '{}'), calls('set_title', '{"title": "x"}'), says('well')) });
  await sends(message('msg_1'));
  expect(values('gen_ai.execute_tool.duration', 'unknown', 'error')).toEqual([0]);
  expect(values('gen_ai.execute_tool.duration', 'set_title', '')).toEqual([0]);
  expect([...metrics.recorded.keys(), ...metrics.counted.keys()].join()).not.toContain('Anna');
});

describe('a turn ends', () => {
  it('interrupted, when a client stops it', async () => {
    await opens({ play: hangs });
    await sends(message('msg_1'));
    await sends(interrupt('req_1'));
    expect(count('dormouse_turns_total', 'interrupted')).toBe(1);
    expect(count('dormouse_completions_total', 'scripted', 'scripted', 'interrupted')).toBe(1);
  });

  it('interrupted, when a message takes its place, which then ends by itself', async () => {
    await opens({ play: inTurn(hangs, says('there')) });
    await sends(message('msg_1'));
    await sends(message('msg_2'));
    expect(count('dormouse_turns_total', 'interrupted')).toBe(1);
    expect(count('dormouse_turns_total', 'completed')).toBe(1);
  });

  it('failed, when its model fails for good', async () => {
    await opens({ play: fails });
    await sends(message('msg_1'));
    expect(count('dormouse_turns_total', 'failed')).toBe(1);
    expect(count('dormouse_completions_total', 'scripted', 'scripted', 'failed')).toBe(1);
  });

  it('asleep, when the model wants to sleep', async () => {
    await opens({ play: inTurn(calls('sleep', '{"seconds": 3600}'), says('awake')) });
    await sends(message('msg_1'));
    const ends = ['asleep', 'completed'].map((outcome) => count('dormouse_turns_total', outcome));
    expect(ends).toEqual([1, 0]);
  });

  it('closed, when its thread is closed in the middle', async () => {
    await opens({ play: hangs });
    await sends(message('msg_1'));
    await sends({ kind: 'CloseRequest', id: 'c:req_1', requestId: 'req_1' });
    expect(count('dormouse_turns_total', 'closed')).toBe(1);
    await sends(message('msg_2'));
    expect(count('dormouse_refusals_total', 'THREAD_CLOSED')).toBe(1);
    expect([...metrics.counted.keys()].filter((series) => series.startsWith('dormouse_turns_total'))).toHaveLength(1);
  });
});
