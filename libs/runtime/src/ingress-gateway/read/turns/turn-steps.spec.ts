import type { Commit } from '@dormouse/ports';
import type { ThreadEvent } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import {
  answer,
  asked,
  by,
  called,
  key,
  message,
  result,
  said,
  settled,
  turnWith,
  type Written,
  written,
} from '../../spec/written-log.ts';
import { callbackSpan } from '../../../tracing/callback-span.ts';
import { stepsPerTurnMax, TurnFold } from './turn-steps.ts';
import type { Turn } from './turn.ts';

function turnsOf(commits: readonly Commit[]): readonly Turn[] {
  const fold = new TurnFold(key);
  for (const commit of commits) fold.take(commit);
  return fold.turns().map(({ turn }) => turn);
}

const fold = (...commits: readonly Written[]): readonly Turn[] => turnsOf(written([], ...commits));

/** `kind id < parent, from–to outcome`. */
const lines = (turn: Turn | undefined): readonly string[] =>
  (turn?.steps ?? []).map(({ kind, id, parentId, startedAt, endedAt, outcome }) =>
    `${kind} ${id} < ${parentId ?? 'none'}, ${startedAt}–${endedAt ?? ''} ${outcome ?? ''}`.trim(),
  );

const sleepTimer = { type: 'TimerSet', timerId: 'tmr_1', due: 900, reason: 'sleep' } as const;
const approval: ThreadEvent = {
  type: 'ChoiceRequested',
  ...{ choiceId: 'chc_1', kind: 'approval', toolCallId: 'call_1', prompt: '', choices: [], default: 1, expiresAt: 9 },
};
const opened: ThreadEvent = {
  type: 'ThreadOpened',
  ...{ agent: { name: 'a', version: 1 }, model: 'm', toolServers: [], userId: null, title: null },
  ...{ policies: {} as never, limits: {} as never },
};

describe('the steps of a turn', () => {
  it('are completions, calls and callbacks, each below what caused it', () => {
    const [turn] = fold(
      ...turnWith('1', 100, ['call_1', 'call_2']),
      { at: 120, turn: 'msg_1', cause: by('result', 'call_2'), inputs: ['r:call_2'], events: [settled('call_2')] },
      result(150, 'msg_1', 'call_1', 'cmp_2'),
      answer(160, 'msg_1', 'cmp_2'),
    );
    expect(turn).toMatchObject({ turnId: 'msg_1', cause: by('message', 'msg_1'), startedAt: 100, endedAt: 160 });
    expect(lines(turn)).toEqual([
      'completion cmp_1 < none, 100–105 tool_calls',
      'call call_1 < cmp_1, 105–150 result',
      'call call_2 < cmp_1, 105–120 result',
      'callback r:call_2 < call_2, 120–120 accepted',
      'callback r:call_1 < call_1, 150–150 accepted',
      'completion cmp_2 < call_1, 150–160 stop',
    ]);
  });

  it('has no callback for a call that a rejection settled, and counts the rejection', () => {
    const rejected = { type: 'CallbackRejected', toolCallId: 'call_1', reason: '', code: 'TOO_LARGE' } as const;
    const [turn] = fold(...turnWith('1', 100, ['call_1']), {
      ...{ at: 120, turn: 'msg_1', cause: by('result', 'call_1'), inputs: ['x:call_1:1'] },
      events: [rejected, settled('call_1')],
    });
    expect(turn?.steps.map(({ kind, refused }) => [kind, refused])).toEqual([
      ['completion', undefined],
      ['call', 1],
    ]);
  });

  it('has the choice of a person, and what its answer led to below it', () => {
    const decision = { type: 'ChoiceSettled', choiceId: 'chc_1', decision: 'deny', by: 'me' } as const;
    const [turn] = fold(
      ...turnWith('1', 100, []).slice(0, 1),
      {
        ...{ at: 105, turn: 'msg_1', cause: by('completion', 'cmp_1') },
        events: [said('cmp_1', false), called('call_1'), approval],
      },
      {
        ...{ at: 405, turn: 'msg_1', cause: by('choice', 'req_1') },
        events: [decision, settled('call_1', 'denied'), asked('cmp_2')],
      },
    );
    expect(lines(turn).slice(1)).toEqual([
      'call call_1 < cmp_1, 105–405 denied',
      'choice chc_1 < call_1, 105–405 deny',
      'completion cmp_2 < chc_1, 405–',
    ]);
    expect(turn?.steps[2]).toMatchObject({ waitedMs: 300 });
    expect(turn?.endedAt).toBeNull();
  });

  it('P3 has a deadline only where it fired', () => {
    const deadline = (timerId: string, toolCallId: string): ThreadEvent => ({
      ...{ type: 'TimerSet', timerId, due: 200, reason: 'tool_timeout', toolCallId },
    });
    const [turn] = fold(
      ...turnWith('1', 100, ['call_1', 'call_2']),
      {
        ...{ at: 105, turn: 'msg_1', cause: by('completion', 'cmp_1') },
        events: [deadline('tmr_1', 'call_1'), deadline('tmr_2', 'call_2')],
      },
      { at: 120, turn: 'msg_1', cause: by('result', 'call_1'), inputs: ['r:call_1'], events: [settled('call_1')] },
      {
        ...{ at: 200, turn: 'msg_1', cause: by('timer', 'tmr_2') },
        events: [
          { type: 'TimerFired', timerId: 'tmr_2', scheduledFor: 200 },
          settled('call_2', 'timed_out'),
          asked('cmp_2'),
        ],
      },
    );
    expect(lines(turn).filter((line) => !line.startsWith('call'))).toEqual([
      'completion cmp_1 < none, 100–105 tool_calls',
      'timer tmr_2 < call_2, 105–200 fired',
      'completion cmp_2 < tmr_2, 200–',
    ]);
  });

  it('P4 waits for a sleep, which begins the next turn', () => {
    const turns = fold(
      ...turnWith('1', 100, []).slice(0, 1),
      { at: 105, turn: 'msg_1', cause: by('completion', 'cmp_1'), events: [said('cmp_1', false), sleepTimer] },
      {
        ...{ at: 900, turn: 'tmr_1', cause: by('timer', 'tmr_1') },
        events: [{ type: 'TimerFired', timerId: 'tmr_1', scheduledFor: 900 }, asked('cmp_2')],
      },
      answer(910, 'tmr_1', 'cmp_2'),
    );
    expect(turns.map(({ turnId, startedAt, endedAt }) => [turnId, startedAt, endedAt])).toEqual([
      ['msg_1', 100, 900],
      ['tmr_1', 900, 910],
    ]);
    expect(lines(turns[0]).at(-1)).toBe('timer tmr_1 < cmp_1, 105–900 fired');
    expect(lines(turns[1])).toEqual(['completion cmp_2 < tmr_1, 900–910 stop']);
  });

  it('has a child below the call that opened it, and its report in a turn of its own', () => {
    const child = {
      type: 'ChildSpawned',
      childId: 'thr_2',
      reason: 'call',
      toolCallId: 'call_1',
      queuedEvents: 0,
    } as const;
    const turns = fold(
      ...turnWith('1', 100, []).slice(0, 1),
      {
        ...{ at: 105, turn: 'msg_1', cause: by('completion', 'cmp_1') },
        events: [said('cmp_1', false), called('call_1'), child, settled('call_1'), asked('cmp_2')],
      },
      answer(110, 'msg_1', 'cmp_2'),
      {
        ...{ at: 300, turn: 'k:1', cause: by('child', 'k:1') },
        events: [{ type: 'ChildReported', childId: 'thr_2', report: [], closed: true }, asked('cmp_3')],
      },
    );
    expect(lines(turns[0]).slice(1)).toEqual([
      'call call_1 < cmp_1, 105–105 result',
      'child thr_2 < call_1, 105–300 closed',
      'completion cmp_2 < cmp_1, 105–110 stop',
    ]);
    expect(lines(turns[1])).toEqual(['report k:1 < thr_2, 300–300 closed', 'completion cmp_3 < k:1, 300–']);
  });

  it('has events below the call that subscribed, and a child below its event', () => {
    const event = { toolCallId: 'call_1', eventId: '7', content: [], associative: true, final: false } as const;
    const turns = fold(
      ...turnWith('1', 100, ['call_1']),
      result(110, 'msg_1', 'call_1', 'cmp_2'),
      answer(120, 'msg_1', 'cmp_2'),
      {
        ...{ at: 200, turn: 'msg_1', cause: by('event', 'e:call_1:6') },
        events: [
          { type: 'SubscriptionEventReceived', ...event, into: 'child', childId: 'thr_2' },
          { type: 'ChildSpawned', childId: 'thr_2', reason: 'event', toolCallId: 'call_1', queuedEvents: 0 },
        ],
      },
      {
        ...{ at: 300, turn: 'e:call_1:7', cause: by('event', 'e:call_1:7') },
        events: [{ type: 'SubscriptionEventReceived', ...event, into: 'thread', childId: null }, asked('cmp_3')],
      },
    );
    expect(lines(turns[0]).slice(-2)).toEqual([
      'event e:call_1:6 < call_1, 200–200 child',
      'child thr_2 < e:call_1:6, 200–',
    ]);
    expect(lines(turns[1])).toEqual([
      'event e:call_1:7 < call_1, 300–300 thread',
      'completion cmp_3 < e:call_1:7, 300–',
    ]);
  });

  it('P2 puts what comes late to a call into the turn of the call', () => {
    const turns = fold(
      ...turnWith('1', 100, ['call_1']),
      {
        ...{ at: 200, turn: 'msg_2', cause: by('message', 'msg_2'), inputs: ['c:2'] },
        events: [{ type: 'ToolCallDetached', toolCallId: 'call_1' }, message('msg_2'), asked('cmp_2')],
      },
      { at: 210, turn: 'msg_2', cause: by('result', 'call_1'), inputs: ['r:call_1'], events: [settled('call_1')] },
    );
    expect(lines(turns[0]).slice(1)).toEqual([
      'call call_1 < cmp_1, 105–210 result',
      'callback r:call_1 < call_1, 210–210 accepted',
    ]);
    expect(turns[0]).toMatchObject({ endedAt: 200 });
    expect(lines(turns[1])).toEqual(['completion cmp_2 < none, 200–']);
  });

  it('P1 counts the opening to the turn that it serves', () => {
    const schedule = { type: 'TimerSet', timerId: 'tmr_1', due: 900, reason: 'schedule', scheduleId: 'sch_1' } as const;
    const opening: Written = { at: 50, turn: 'open:thr_1', cause: by('request', 'open:thr_1'), events: [opened] };
    const set: Written = { at: 60, turn: 'req_1', cause: by('request', 'req_1'), events: [schedule] };
    expect(fold(opening, set)).toEqual([]);
    const turns = fold(opening, set, ...turnWith('1', 100, []));
    expect(turns.map(({ turnId }) => turnId)).toEqual(['msg_1']);
    expect(lines(turns[0])).toEqual(['timer tmr_1 < none, 60–', 'completion cmp_1 < none, 100–105 stop']);
  });

  it('P6 keeps so many steps, and counts the others', () => {
    const calls = Array.from({ length: stepsPerTurnMax + 3 }, (_, index) => `call_${index}`);
    const [turn] = fold(...turnWith('1', 100, calls));
    expect([turn?.steps.length, turn?.stepsOmitted]).toEqual([stepsPerTurnMax, 4]);
  });
});

describe('the traces of a turn', () => {
  it('are those of the commits, and a result in a later trace is linked', () => {
    const [turn] = fold(
      ...turnWith('1', 100, ['call_1'], 'a'),
      result(900, 'msg_1', 'call_1', 'cmp_2', 'b'),
      answer(910, 'msg_1', 'cmp_2', 'b'),
    );
    expect(turn?.traceId).toBe('a'.repeat(32));
    const [first, call, callback, second] = turn?.steps ?? [];
    expect([first?.traceId, call?.traceId, second?.traceId]).toEqual(['a', 'a', 'b'].map((each) => each.repeat(32)));
    expect(callback).toMatchObject(callbackSpan(key, 'r:call_1'));
    expect(first?.links).toBeUndefined();
    expect(second?.links).toEqual([{ traceId: call?.traceId, spanId: call?.spanId }]);
  });

  it('are absent with tracing off, and everything else is the same', () => {
    const without = (step: object): object =>
      Object.fromEntries(Object.entries(step).filter(([name]) => !['traceId', 'spanId', 'links'].includes(name)));
    const log = (trace?: string): readonly Turn[] =>
      fold(...turnWith('1', 100, ['call_1'], trace), result(120, 'msg_1', 'call_1', 'cmp_2', trace));
    const [off] = log();
    expect(off?.traceId).toBeNull();
    expect(off?.steps).toEqual(log('a')[0]?.steps.map(without));
  });

  it('begin with the request of a queued message', () => {
    const queued = { type: 'MessageQueued', messageId: 'msg_2', content: [] } as const;
    const turns = fold(
      ...turnWith('1', 100, [], 'a').slice(0, 1),
      { at: 102, turn: 'msg_1', cause: by('message', 'msg_2'), inputs: ['c:2'], trace: 'b', events: [queued] },
      { at: 105, turn: 'msg_1', cause: by('completion', 'cmp_1'), trace: 'a', events: [said('cmp_1')] },
      { at: 105, turn: 'msg_2', cause: by('message', 'msg_2'), trace: 'a', events: [message('msg_2'), asked('cmp_2')] },
    );
    expect(turns.map(({ traceId }) => traceId?.charAt(0))).toEqual(['a', 'b']);
    expect(turns[1]?.steps[0]?.traceId).toBe('b'.repeat(32));
  });
});
