import { describe, expect, it } from 'vitest';
import {
  answered,
  call,
  callId,
  cancel,
  choiceId,
  close,
  decided,
  dispatchFailed,
  failed,
  given,
  idle,
  interrupt,
  opening,
  play,
  rejected,
  result,
  retry,
  said,
  type Scene,
  timerFired,
  toolsLoaded,
} from './spec/scene.ts';
import { blockingCalls } from './thread.ts';
import { credentialRefreshFailed, type ThreadInput } from './input.ts';
import { statusOf } from './status.ts';

const asked = (options = {}) => [...idle(options), said('msg_1')] as const;
const calling = (options = {}, ...operations: string[]) =>
  [...asked(options), answered('', ...operations.map((operation) => call(operation)))] as const;

describe('opening', () => {
  it('fetches toolsets before the first completion', () => {
    const opened = given().when(opening());
    expect(opened.types).toEqual(['ThreadOpened', 'ToolsetsRequested']);
    expect(opened.owes).toEqual(['LoadToolsets']);
    expect(statusOf(opened.thread)).toBe('opening');
    expect(given(opening(), said('msg_1')).when(toolsLoaded).types).toEqual(['ToolsetsLoaded', 'CompletionRequested']);
  });

  it('R23 loads toolsets once for all its turns', () => {
    expect(given(...asked(), answered('done')).when(said('msg_2')).owes).toEqual(['RequestCompletion']);
  });

  it('asks at once when the agent has no tools', () => {
    expect(given(opening({ toolServers: [] })).when(said('msg_1')).types).toEqual([
      'MessageAccepted',
      'CompletionRequested',
    ]);
  });

  it('happens once', () => {
    expect(given(opening()).when(opening()).refusal).toBe('ALREADY_OPEN');
  });

  it('comes before everything else', () => {
    expect(given().when(said('msg_1')).refusal).toBe('NOT_OPEN');
  });
});

describe('a turn', () => {
  it('is message, call, result, answer: four commits', () => {
    const turn = play(...calling({}, 'weather'), result(), answered('sunny'));
    expect(
      turn.steps.slice(2).map((step) => step.decision.committed && step.decision.events.map((event) => event.type)),
    ).toEqual([
      ['MessageAccepted', 'CompletionRequested'],
      ['CompletionRecorded', 'ToolCallRequested'],
      ['ToolCallSettled', 'CompletionRequested'],
      ['CompletionRecorded'],
    ]);
    expect(statusOf(turn.thread)).toBe('idle');
  });

  it('belongs to the message that began it', () => {
    const turn = play(...calling({}, 'weather'), result(), answered('sunny'));
    expect(new Set(turn.events.slice(3).map((event) => event.turnId))).toEqual(new Set(['msg_1']));
    expect(turn.events.map((event) => event.cause.kind)).toEqual([
      'request',
      'request',
      'toolset',
      'message',
      'message',
      'completion',
      'completion',
      'result',
      'result',
      'completion',
    ]);
  });

  it('dispatches parallel calls together and asks again when the last one is settled', () => {
    const both = given(...asked()).when(answered('', call('weather'), call('clock')));
    expect(both.owes).toEqual(['InvokeTool', 'InvokeTool']);
    expect(given(...calling({}, 'weather', 'clock')).when(result(1)).types).toEqual(['ToolCallSettled']);
    expect(given(...calling({}, 'weather', 'clock'), result(1)).when(result(0)).types).toEqual([
      'ToolCallSettled',
      'CompletionRequested',
    ]);
  });

  it('R9 gives calls ids of our own, whatever the provider calls them', () => {
    const twice = play(
      ...asked(),
      answered('', call('weather'), call('weather')),
      result(0),
      result(1),
      answered('', call('weather')),
    );
    expect(new Set([0, 1, 2].map((index) => callId(twice, index))).size).toBe(3);
  });
});

describe('results', () => {
  it('R34 a result of another tool server changes nothing', () => {
    expect(given(...calling({}, 'weather')).when(result(0, 'ok', 'other')).refusal).toBe('NOT_PENDING');
  });

  it('R37 a second result changes nothing', () => {
    expect(given(...calling({}, 'weather'), result()).when(result(0, 'again')).refusal).toBe('NOT_PENDING');
  });

  it('R35 a result for a call nobody made changes nothing', () => {
    expect(given(...asked()).when(result(7)).refusal).toBe('NOT_PENDING');
  });

  it('that begin with "Error: " are errors', () => {
    const settled = given(...calling({}, 'weather')).when(result(0, 'Error: no such city'));
    expect(settled.events[0]).toMatchObject({ type: 'ToolCallSettled', outcome: 'error' });
  });

  it('R56 a failed dispatch is an error result for the model', () => {
    const settled = given(...calling({}, 'weather')).when(dispatchFailed());
    expect(settled.types).toEqual(['ToolCallSettled', 'CompletionRequested']);
    expect(JSON.stringify(settled.prompt.at(-1))).toContain('the tool server answered 404');
  });

  it('a call whose user has to log in again says so, and whose', () => {
    const ended = given(...calling({}, 'weather')).when(dispatchFailed(0, 'error', credentialRefreshFailed));
    expect(ended.events).toMatchObject([
      { type: 'CredentialRefreshFailed', toolServer: 'tools', userId: 'ann' },
      { type: 'ToolCallSettled', outcome: 'error' },
      {},
    ]);
  });

  it('an at-most-once call that may have run is settled as outcome unknown', () => {
    const unknown = given(...calling({}, 'weather')).when(dispatchFailed(0, 'unknown'));
    expect(unknown.events[0]).toMatchObject({ outcome: 'outcome_unknown' });
  });

  it('R33 a small unreadable callback leaves the call open, the fifth settles it', () => {
    const first = given(...calling({}, 'weather')).when(rejected(0, false, '1'));
    expect(first.types).toEqual(['CallbackRejected']);
    const four = ['1', '2', '3', '4'].map((body) => rejected(0, false, body));
    expect(given(...calling({}, 'weather'), ...four).when(rejected(0, false, '5')).types).toEqual([
      'CallbackRejected',
      'ToolCallSettled',
      'CompletionRequested',
    ]);
  });

  it('an unreadable callback is a problem of the thread as long as its call is open', () => {
    const problem = { code: 'RESULT_TOO_LARGE', detail: 'weather: the result is too large' };
    const open = given(...calling({}, 'weather', 'weather'), rejected(0), rejected(1));
    expect(open.when(rejected(1, false, 'b')).thread.problems).toMatchObject([problem, problem, problem]);
    expect(open.when(result(0)).thread.problems).toMatchObject([problem]);
    expect(given(...calling({}, 'weather'), rejected(0)).when(result(0)).thread.problems).toEqual([]);
    expect(given(...calling({}, 'weather'), rejected(0)).when(close()).thread.problems).toEqual([]);
  });

  it('a result that is too large settles the call with an error', () => {
    expect(given(...calling({}, 'weather')).when(rejected(0, true)).events[1]).toMatchObject({
      outcome: 'error',
      code: 'RESULT_TOO_LARGE',
    });
  });
});

describe('calls that are not sent', () => {
  it('R107 a changed toolset is fetched anew before the model is asked again', () => {
    const failed409 = (scene: Scene): ThreadInput =>
      Object.assign(dispatchFailed()(scene), { code: 'TOOLSET_CHANGED' });
    const changed = given(...calling({}, 'weather')).when(failed409);
    expect(changed.types).toEqual(['ToolCallSettled', 'ToolsetsRequested']);
    expect(changed.owes).toEqual(['LoadToolsets']);
    expect(given(...calling({}, 'weather'), failed409).when(toolsLoaded).owes).toEqual(['RequestCompletion']);
  });

  it('R7 an unknown tool is an error result and no dispatch', () => {
    const unknown = given(...asked()).when(answered('', call('teleport')));
    expect(unknown.types).toEqual([
      'CompletionRecorded',
      'ToolCallRequested',
      'ToolCallSettled',
      'CompletionRequested',
    ]);
    expect(unknown.owes).toEqual(['RequestCompletion']);
  });

  it('R8 bad arguments are an error that names the problem', () => {
    const bad = given(...asked()).when(answered('', call('weather', {}, '/city is required')));
    expect(bad.owes).toEqual(['RequestCompletion']);
    expect(bad.events[2]).toMatchObject({ code: 'ARGUMENTS_INVALID', content: [{ text: 'Error: /city is required' }] });
  });

  it('the same call again and again ends the turn, also one that is refused each time', () => {
    for (const wish of [
      call('unheard_of'),
      call('weather', {}, '/city is required'),
      call('set_title', { title: '' }),
    ]) {
      const rounds = Array.from({ length: 5 }, () => answered('', wish));
      const { types, events } = given(...asked(), ...rounds).when(answered('', wish));
      expect(types.at(-1)).toBe('BudgetExceeded');
      expect(events).toContainEqual(expect.objectContaining({ budget: 'repeated_call', used: 6, limit: 5 }));
    }
  });

  it('beyond 128 pending calls are refused one by one', () => {
    const calls = (from: number) => Array.from({ length: 65 }, (_, n) => call('weather', { n: from + n }));
    const kept = asked({ policies: { onInterrupt: 'keep' } });
    const many = given(...kept, answered('', ...calls(0)), said('msg_2')).when(answered('', ...calls(65)));
    expect(many.owes.filter((effect) => effect === 'InvokeTool')).toHaveLength(63);
    expect(many.events.filter((event) => event.type === 'ToolCallSettled')).toHaveLength(2);
  });

  it('the sixth identical call in a row stops the wake with an event that says so', () => {
    const loop = [0, 1, 2, 3, 4].flatMap((index) => [answered('', call('weather')), result(index)]);
    const stopped = given(...asked(), ...loop).when(answered('', call('weather')));
    expect(stopped.types).toEqual(['CompletionRecorded', 'ToolCallRequested', 'ToolCallSettled', 'BudgetExceeded']);
    expect(stopped.thread.completion).toBeNull();
    expect(stopped.thread.lastError).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('an endlessly calling model stops at the budget of its wake', () => {
    const limits = { completionsPerWakeMax: 3 };
    const rounds = [0, 1].flatMap((n) => [answered('', call('weather', { n })), result(n)]);
    const stopped = given(...asked({ limits }), ...rounds, answered('', call('weather', { n: 9 }))).when(result(2));
    expect(stopped.types).toEqual(['ToolCallSettled', 'BudgetExceeded']);
    expect(
      given(...asked({ limits }), ...rounds, answered('', call('weather', { n: 9 })), result(2)).when(said('msg_2'))
        .types,
    ).toContain('CompletionRequested');
  });
});

describe('a user message while calls are pending', () => {
  it('R53 cancel: the call is interrupted, servers are told, a late result changes nothing', () => {
    const message = given(...calling({}, 'weather')).when(said('msg_2'));
    expect(message.types).toEqual(['ToolCallSettled', 'MessageAccepted', 'CompletionRequested']);
    expect(message.owes).toEqual(['WithdrawCall', 'SendCancelNotices', 'RequestCompletion']);
    expect(message.events.map((event) => event.turnId)).toEqual(['msg_1', 'msg_2', 'msg_2']);
    expect(given(...calling({}, 'weather'), said('msg_2')).when(result()).refusal).toBe('NOT_PENDING');
  });

  it('keep: the call is detached, and its outcome enters later as a pair of its own', () => {
    const keep = { policies: { onInterrupt: 'keep' } } as const;
    const message = given(...calling(keep, 'weather')).when(said('msg_2'));
    expect(message.types).toEqual(['ToolCallDetached', 'MessageAccepted', 'CompletionRequested']);
    expect(message.owes).toEqual(['RequestCompletion']);
    const late = given(...calling(keep, 'weather'), said('msg_2'), answered('meanwhile')).when(result());
    expect(late.types).toEqual(['ToolCallSettled', 'CompletionRequested']);
    expect(late.prompt.map((entry) => entry.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
      'assistant',
      'tool',
    ]);
  });

  it('queue: the message waits and has its turn when the round is over', () => {
    const queue = { policies: { onInterrupt: 'queue' } } as const;
    expect(given(...calling(queue, 'weather')).when(said('msg_2')).types).toEqual(['MessageQueued']);
    const settled = given(...calling(queue, 'weather'), said('msg_2'), said('msg_3')).when(result());
    expect(settled.types).toEqual(['ToolCallSettled', 'MessageAccepted', 'MessageAccepted', 'CompletionRequested']);
    expect(settled.events.map((event) => event.turnId)).toEqual(['msg_1', 'msg_2', 'msg_2', 'msg_2']);
  });

  it('queue: a thousand messages wait, and the next one is refused', () => {
    const queue = { policies: { onInterrupt: 'queue' } } as const;
    const thousand = Array.from({ length: 1_000 }, (_, place) => said(`msg_${place + 2}`));
    const full = given(...calling(queue, 'weather'), ...thousand).when(said('msg_one_more'));
    expect(full.events).toMatchObject([{ type: 'MessageRefused', code: 'QUEUE_FULL' }]);
    expect(full.thread.queue).toHaveLength(1_000);
  });

  it('reject: the refusal is recorded', () => {
    const reject = { policies: { onInterrupt: 'reject' } } as const;
    expect(given(...calling(reject, 'weather')).when(said('msg_2')).events[0]).toMatchObject({
      type: 'MessageRefused',
      code: 'CALLS_PENDING',
    });
  });

  it('R52 the part of a running completion that people saw is kept, in the same commit', () => {
    const message = given(...asked()).when({ happening: said('msg_2'), streamed: 'Let me th' });
    expect(message.types).toEqual(['CompletionRecorded', 'MessageAccepted', 'CompletionRequested']);
    expect(message.events[0]).toMatchObject({ interrupted: true, message: { text: 'Let me th' } });
    expect(message.prompt.map((entry) => entry.role)).toEqual(['user', 'assistant', 'user']);
  });

  it('a completion that was superseded answers in vain', () => {
    const first = play(...asked());
    const late = { ...answered('too late')(first) };
    expect(given(...asked(), said('msg_2')).when(late).refusal).toBe('SUPERSEDED');
  });
});

describe('stopping', () => {
  it('an interrupt settles what is pending and asks nothing', () => {
    const stopped = given(...calling({}, 'weather', 'clock')).when(interrupt());
    expect(stopped.types).toEqual(['ToolCallSettled', 'ToolCallSettled', 'TurnInterrupted']);
    expect(statusOf(stopped.thread)).toBe('idle');
  });

  it('an interrupt while the model speaks keeps what was said and asks nothing', () => {
    const stopped = given(...asked()).when({ happening: interrupt(), streamed: 'Let me' });
    expect(stopped.types).toEqual(['CompletionRecorded', 'TurnInterrupted']);
    expect(stopped.events[0]).toMatchObject({ interrupted: true, message: { text: 'Let me' } });
    expect(statusOf(stopped.thread)).toBe('idle');
  });

  it('an interrupt gives queued messages their turn', () => {
    const queue = { policies: { onInterrupt: 'queue' } } as const;
    expect(
      given(...calling(queue, 'weather'), said('msg_2'))
        .when(interrupt())
        .types.slice(-2),
    ).toEqual(['MessageAccepted', 'CompletionRequested']);
  });

  it('with nothing to stop the refusal is recorded', () => {
    expect(given(...idle()).when(interrupt()).events[0]).toMatchObject({
      type: 'RequestRefused',
      code: 'NOTHING_TO_STOP',
      request: 'interrupt',
    });
  });

  it('one call can be cancelled, and the round goes on without it', () => {
    expect(given(...calling({}, 'weather', 'clock')).when(cancel(0)).types).toEqual(['ToolCallSettled']);
    expect(given(...calling({}, 'weather')).when(cancel(0)).types).toEqual(['ToolCallSettled', 'CompletionRequested']);
    expect(given(...calling({}, 'weather'), result()).when(cancel(0)).events[0]).toMatchObject({
      code: 'NOTHING_TO_STOP',
    });
  });

  it('R58 a call that takes too long is settled with an error, and its late result is ignored', () => {
    const limits = { toolTimeoutMs: { default: 1_000 } };
    const timedOut = given(...calling({ limits }, 'weather')).when(timerFired());
    expect(timedOut.types).toEqual(['TimerFired', 'ToolCallSettled', 'CompletionRequested']);
    expect(timedOut.owes).toEqual(['WithdrawCall', 'SendCancelNotices', 'RequestCompletion']);
    expect(given(...calling({ limits }, 'weather'), timerFired()).when(result()).refusal).toBe('NOT_PENDING');
    expect(given(...calling({ limits }, 'weather'), result()).when(timerFired()).refusal).toBe('NO_TIMER');
  });
});

describe('approvals', () => {
  it('R27 a destructive tool is shown to a person before anything is sent', () => {
    const wish = given(...asked()).when(answered('', call('delete_everything', { really: true })));
    expect(wish.types).toEqual(['CompletionRecorded', 'ToolCallRequested', 'ChoiceRequested', 'TimerSet']);
    expect(wish.owes).toEqual(['SetTimer']);
    expect(wish.events[2]).toMatchObject({ arguments: { really: true } });
  });

  it('allowing dispatches exactly what was shown, at most once', () => {
    const allowed = given(...calling({}, 'delete_everything')).when(decided('allow'));
    expect(allowed.types).toEqual(['ChoiceSettled']);
    expect(allowed.effects[0]).toMatchObject({
      do: 'InvokeTool',
      operation: 'delete_everything',
      delivery: 'at_most_once',
    });
  });

  it('denying is an outcome the model sees', () => {
    expect(given(...calling({}, 'delete_everything')).when(decided('deny')).types).toEqual([
      'ChoiceSettled',
      'ToolCallSettled',
      'CompletionRequested',
    ]);
  });

  it('a second answer is refused and recorded', () => {
    expect(
      given(...calling({}, 'delete_everything'), decided('deny')).when(decided('allow', 0, 'req_2')).events[0],
    ).toMatchObject({
      type: 'RequestRefused',
      code: 'CHOICE_SETTLED',
    });
  });

  it('an allowance for the thread covers later calls of the same tool', () => {
    const again = given(...calling({}, 'delete_everything'), decided('allow_for_thread'), result()).when(
      answered('', call('delete_everything', { n: 2 })),
    );
    expect(again.owes).toEqual(['InvokeTool']);
  });

  it('a call that a person allowed is with its tool server from then on', () => {
    const waiting = given(...asked()).when(answered('', call('delete_everything'))).thread;
    expect(waiting.calls[0]?.resumedAt).toBeUndefined();
    const allowed = given(...calling({}, 'delete_everything')).when(decided('allow')).thread;
    expect(allowed.calls[0]?.resumedAt).toBe(allowed.updatedAt);
    expect(allowed.calls[0]?.resumedAt).toBeGreaterThan(allowed.calls[0]?.since ?? Infinity);
  });

  it('a message meanwhile is answered at once, and the approval stays open', () => {
    const message = given(...calling({}, 'delete_everything')).when(said('msg_2'));
    expect(message.types).toEqual(['ToolCallDetached', 'MessageAccepted', 'CompletionRequested']);
    expect(Object.keys(message.thread.choices)).toHaveLength(1);
    const late = given(...calling({}, 'delete_everything'), said('msg_2'), answered('ok'), decided('allow')).when(
      result(),
    );
    expect(late.types).toEqual(['ToolCallSettled', 'CompletionRequested']);
  });

  it('nobody answers: denied at the deadline', () => {
    expect(given(...calling({}, 'delete_everything')).when(timerFired()).events[2]).toMatchObject({
      outcome: 'denied',
    });
  });

  it('a plain interrupt leaves an approval open, include_human withdraws it without telling anybody', () => {
    expect(given(...calling({}, 'delete_everything')).when(interrupt()).events[0]).toMatchObject({
      code: 'NOTHING_TO_STOP',
    });
    const withdrawn = given(...calling({}, 'delete_everything')).when(interrupt('req_i', true));
    expect(withdrawn.types).toEqual(['ChoiceSettled', 'ToolCallSettled', 'TurnInterrupted']);
    expect(withdrawn.owes).toEqual([]);
    expect(choiceId(withdrawn.scene)).not.toBe('chc_none');
  });
});

describe('model failure', () => {
  it('R55 keeps the input and goes on with the next message or a retry', () => {
    const failure = given(...asked()).when(failed);
    expect(failure.types).toEqual(['CompletionFailed']);
    expect(failure.thread.lastError).toMatchObject({ code: 'MODEL_FAILED' });
    expect(given(...asked(), failed).when(retry()).types).toEqual(['CompletionRequested']);
    expect(given(...asked(), failed).when(said('msg_2')).prompt).toHaveLength(2);
  });

  it('a retry of nothing is refused and recorded', () => {
    expect(given(...idle()).when(retry()).events[0]).toMatchObject({ code: 'NOTHING_TO_RETRY' });
  });
});

describe('closing', () => {
  it('(V9) settles every call, refuses the queue, sends closure notices and no cancel notices', () => {
    const queue = { policies: { onInterrupt: 'queue' } } as const;
    const closed = given(...calling(queue, 'weather', 'delete_everything'), said('msg_2')).when(close());
    expect(closed.types).toEqual([
      'ToolCallSettled',
      'ChoiceSettled',
      'ToolCallSettled',
      'MessageRefused',
      'ThreadClosed',
    ]);
    expect(closed.owes).toEqual(['WithdrawCall', 'SendCloseNotices']);
    expect(blockingCalls(closed.thread)).toEqual([]);
  });

  it('afterwards every client input is recorded as refused, everything else changes nothing', () => {
    const closed = [...calling({}, 'weather'), close()] as const;
    expect(given(...closed).when(said('msg_2')).events[0]).toMatchObject({
      type: 'MessageRefused',
      code: 'THREAD_CLOSED',
    });
    for (const request of [interrupt(), retry(), close('req_y'), cancel(0), decided('allow')]) {
      expect(given(...closed).when(request).events[0]).toMatchObject({ type: 'RequestRefused', code: 'THREAD_CLOSED' });
    }
    for (const input of [result(), dispatchFailed(), rejected(), timerFired(), answered('x'), failed]) {
      expect(given(...closed).when(input).refusal).toBe('CLOSED');
    }
  });
});
