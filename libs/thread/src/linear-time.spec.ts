// Deciding and folding are linear: time grows with the number of calls, not with its square. Measured as the processor
// time of this process, the least of several runs, so that a busy machine does not matter.
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import type { RecordedEvent } from './event.ts';
import { evolve } from './evolve.ts';
import { inputIds, type RequestedCall, type ThreadInput } from './input.ts';
import { threadLimits } from './policy.ts';
import { idle, moment, play, said } from './spec/scene.ts';
import { transcript } from './transcript.ts';

const asked = play(...idle(), said('msg_1'));
const { completion } = asked.thread;
if (completion === null) throw new Error('nothing was asked');
const { completionId } = completion;
const origin = { turnId: 'msg_1', cause: { kind: 'completion', id: completionId } } as const;

function answerWith(count: number, operation = 'weather'): ThreadInput {
  const toolCalls: RequestedCall[] = Array.from({ length: count }, (_, index) => ({
    providerCallId: `p${index}`,
    operation,
    arguments: { city: `${index}` },
    problem: null,
  }));
  const usage = { inputTokens: 1, outputTokens: 1 };
  const id = inputIds.completion(completionId);
  return {
    kind: 'CompletionResult',
    id,
    completionId,
    text: '',
    reasoning: null,
    toolCalls,
    finishReason: 'tool_calls',
    usage,
  };
}

/** A round of this many calls as an older log may hold it, each settled where it was requested; then a completion. */
function roundOf(count: number): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [...asked.events];
  const usage = { inputTokens: 1, outputTokens: 1 };
  const recorded = {
    message: { text: '' },
    finishReason: 'tool_calls',
    usage,
    interrupted: false,
    final: false,
  } as const;
  events.push({ ...origin, type: 'CompletionRecorded', completionId, ...recorded });
  for (let index = 0; index < count; index++) {
    const toolCallId = `call_${index}`;
    const call = { operation: 'gone', toolServer: null, arguments: {}, argumentsHash: '', providerCallId: '' };
    events.push({ ...origin, type: 'ToolCallRequested', toolCallId, ...call });
    events.push({ ...origin, type: 'ToolCallSettled', toolCallId, outcome: 'error', content: [] });
  }
  events.push({ ...origin, type: 'CompletionRequested', completionId: 'cmp_next', model: '' });
  return events;
}

/** The least processor time of this process that the work takes, in microseconds. */
function processorTime(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

/** Eight times the size: linear work takes about eight times as long, quadratic work sixty-four times. */
function expectLinear(small: () => unknown, eightTimes: () => unknown): void {
  small(); // compiled before it is measured
  eightTimes();
  const resolution = 2_000;
  expect(processorTime(eightTimes)).toBeLessThan(24 * Math.max(processorTime(small), resolution));
}

const foldState = (events: readonly RecordedEvent[]): unknown =>
  events.reduce((thread, event) => evolve(thread, event, 2_000_000), asked.thread);

describe('time grows with the number of calls, not faster', () => {
  it('of the transcript', () => {
    const [small, large] = [roundOf(2_000), roundOf(16_000)];
    expectLinear(
      () => transcript(small),
      () => transcript(large),
    );
  });

  it('of the state', () => {
    const [small, large] = [roundOf(2_000), roundOf(16_000)];
    expectLinear(
      () => foldState(small),
      () => foldState(large),
    );
  });

  it('of a decision within the bound', () => {
    const repeated = (count: number) => () => {
      for (let turn = 0; turn < 20; turn++) decide(asked.thread, answerWith(count), moment(asked.thread, 2_000_000));
    };
    expectLinear(repeated(threadLimits.callsPerAnswerMax / 8), repeated(threadLimits.callsPerAnswerMax));
  });

  it('of a decision far above the bound, which takes none of the calls', () => {
    const decision = decide(asked.thread, answerWith(80_000), moment(asked.thread, 2_000_000));
    if (!decision.committed) throw new Error('refused');
    expect(decision.events).toHaveLength(1);
    expect(decision.events[0]).toMatchObject({ type: 'CompletionFailed', code: 'TOO_MANY_CALLS', retryable: false });
    expect(decision.thread.stalled).toBe(true);
  });

  it('takes as many calls as the bound says', () => {
    const most = decide(asked.thread, answerWith(threadLimits.callsPerAnswerMax), moment(asked.thread, 2_000_000));
    const more = decide(asked.thread, answerWith(threadLimits.callsPerAnswerMax + 1), moment(asked.thread, 2_000_000));
    if (!most.committed || !more.committed) throw new Error('refused');
    expect(most.events.filter(({ type }) => type === 'ToolCallRequested')).toHaveLength(128);
    expect(more.events.filter(({ type }) => type === 'ToolCallRequested')).toHaveLength(0);
  });
});
