import { type SpanContext, traceparentOf, tenantId } from '@dormouse/ports';
import { type RecordedEvent, type Thread, unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { beginning, spanIdOf } from './span-ids.ts';
import { type EndedWork, foldTrace, noTraceState, type TracedCommit, type TraceState } from './trace-state.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };
const request: SpanContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
const callback: SpanContext = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), sampled: true };
const origin = { turnId: 'msg_1', cause: { kind: 'message', id: 'msg_1' } } as const;
const open: Thread = { ...unopenedThread(key.tenant, key.thread), status: 'open' };
const asking: Thread = { ...open, completion: { completionId: 'cmp_1', since: 0 } };
const waiting = { ...open, calls: [{ toolCallId: 'call_1' } as Thread['calls'][number]] };
const agent: SpanContext = { ...request, spanId: spanIdOf('invoke_agent', key, 'cmp_1') };
const executed: SpanContext = { ...request, spanId: spanIdOf('execute_tool', key, 'call_1') };

const event = (given: object): RecordedEvent => ({ ...origin, ...given }) as RecordedEvent;
const commit = (trace: SpanContext, after: Thread, events: readonly object[], more: Partial<TracedCommit> = {}) => ({
  ...{ key, trace: traceparentOf(trace), at: 1_000, wallAt: 2_000, effects: [], after },
  events: events.map(event),
  ...more,
});

const answered = { type: 'CompletionRecorded', finishReason: 'tool_calls', usage: { inputTokens: 3, outputTokens: 2 } };
const turn: readonly TracedCommit[] = [
  commit(request, asking, [
    { type: 'MessageAccepted', messageId: 'msg_1' },
    { type: 'CompletionRequested', completionId: 'cmp_1' },
  ]),
  commit(agent, waiting, [answered, { type: 'ToolCallRequested', toolCallId: 'call_1' }], {
    effects: [{ do: 'InvokeTool', toolCallId: 'call_1' } as TracedCommit['effects'][number]],
  }),
  commit(
    executed,
    { ...open, completion: { completionId: 'cmp_2', since: 0 } },
    [
      { type: 'ToolCallSettled', toolCallId: 'call_1', outcome: 'result' },
      { type: 'CompletionRequested', completionId: 'cmp_2' },
    ],
    { deliveredBy: [callback] },
  ),
  commit({ ...request, spanId: spanIdOf('invoke_agent', key, 'cmp_2') }, open, [{ ...answered, finishReason: 'stop' }]),
];

function folded(commits: readonly TracedCommit[]): { states: TraceState[]; ended: EndedWork[] } {
  const states: TraceState[] = [];
  const ended: EndedWork[] = [];
  let before = noTraceState;
  for (const each of commits) {
    const { state, ...work } = foldTrace(before, each);
    states.push(state);
    ended.push(work);
    before = state;
  }
  return { states, ended };
}

describe('the fold of a thread’s traces', () => {
  it('has one wake per answer of the model, each below what caused it', () => {
    const { ended } = folded(turn);
    const wakes = ended.flatMap((work) => work.wakes);
    expect(wakes).toMatchObject([
      { context: agent, parent: request, links: [], inputTokens: 3, outcome: 'tool_calls' },
      { parent: executed, links: [callback], outcome: 'stop' },
    ]);
    expect(ended[2]?.calls).toMatchObject([{ cause: { isSent: true, agent }, parent: { traceId: request.traceId } }]);
  });

  it('T1 is the same for a process that reads the log, links of its own process apart', () => {
    const live = folded(turn).states;
    const read = folded(turn.map((each) => ({ ...each, wallAt: 0, deliveredBy: undefined }))).states;
    const ids = ({ turn: begun, wake, open: opened }: TraceState) => ({
      ...{ begun, opened, wake: wake && { context: wake.context, parent: wake.parent } },
    });
    expect(read.map(ids)).toEqual(live.map(ids));
  });

  it('T2 remembers what is open and nothing else', () => {
    const { states } = folded(turn);
    expect(Object.keys(states[1]?.open ?? {})).toEqual(['call_1']);
    expect(states.at(-1)).toMatchObject({ open: {}, wake: null, links: [] });
  });

  it('a timer is linked to the request that set it, and to nothing where no span has the beginning of its trace', () => {
    const set = { type: 'TimerSet', timerId: 'tmr_1' };
    const withTimer = { ...open, timers: { tmr_1: {} as Thread['timers'][string] } };
    const started = beginning('f'.repeat(32), true);
    const of = (cause: SpanContext) => folded([commit(cause, withTimer, [set])]).states[0]?.open;
    expect(of(request)).toEqual({ tmr_1: { context: request } });
    expect(of(started)).toEqual({});
  });

  it('what a late result wakes is in a new trace, linked to the call that it answers', () => {
    const late = beginning('f'.repeat(32), true);
    const { ended, states } = folded([
      ...turn.slice(0, 2),
      commit(
        late,
        { ...open, completion: { completionId: 'cmp_2', since: 0 } },
        [
          { type: 'ToolCallSettled', toolCallId: 'call_1', outcome: 'result' },
          { type: 'CompletionRequested', completionId: 'cmp_2' },
        ],
        { deliveredBy: [callback] },
      ),
    ]);
    expect(states[2]?.wake).toMatchObject({
      ...{ parent: null, links: [callback, executed], context: { traceId: late.traceId } },
    });
    expect(ended[2]?.calls).toMatchObject([{ parent: { traceId: late.traceId }, cause: { context: executed } }]);
  });

  it('a queued message goes on in the trace of its own request', () => {
    const second: SpanContext = { ...request, traceId: 'e'.repeat(32) };
    const { states, ended } = folded([
      ...turn.slice(0, 1),
      commit(second, { ...asking, queue: [{ messageId: 'msg_2', content: [] }] }, [
        { type: 'MessageQueued', messageId: 'msg_2' },
      ]),
      commit(agent, { ...open, completion: { completionId: 'cmp_2', since: 0 } }, [
        { ...answered, finishReason: 'stop' },
        { type: 'MessageAccepted', messageId: 'msg_2', turnId: 'msg_2' },
        { type: 'CompletionRequested', completionId: 'cmp_2', turnId: 'msg_2' },
      ]),
    ]);
    expect(states[1]?.turn?.request).toEqual(request);
    expect(ended[2]?.wakes).toMatchObject([{ context: agent }]);
    expect(states[2]?.wake).toMatchObject({ parent: second, context: { traceId: second.traceId } });
  });
});
