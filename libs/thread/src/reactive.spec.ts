// The reactive half of the heart: subscriptions, children, sleep, schedules, logins and choices.
import { describe, expect, it } from 'vitest';
import {
  answered,
  call,
  callId,
  childId,
  choiceAsked,
  chosen,
  close,
  given,
  happened,
  idle,
  interrupt,
  loginAsked,
  opening,
  openingOf,
  play,
  reported,
  result,
  said,
  startOfTime,
  subscribed,
  timerFired,
  toolsLoaded,
} from './spec/scene.ts';
import { waitingOn } from './status.ts';
import type { ThreadInput } from './input.ts';
import { emptyTail, extendTranscript, inherit } from './transcript.ts';

const watching = [...idle(), said('m1'), answered('', call('weather', { city: 'Graz' })), subscribed(), answered('ok')];
const lastWords = (prompt: readonly { readonly role: string }[]): string => JSON.stringify(prompt.slice(-2));

describe('subscriptions', () => {
  it('R69 a result with subscription: true is recorded with the thread', () => {
    const { thread, types } = given(...watching.slice(0, 4)).when(subscribed());
    expect(types).toEqual(['SubscriptionOpened', 'ToolCallSettled', 'CompletionRequested']);
    expect(Object.values(thread.subscriptions)).toMatchObject([{ operation: 'weather', events: 0 }]);
  });

  it('R69 R76 the model reads the id that cancels it beside the confirmation, once', () => {
    const before = watching.slice(0, 4);
    const id = callId(play(...before));
    const read = (...words: string[]): unknown =>
      given(...before)
        .when(subscribed(0, ...words))
        .prompt.flatMap((message) => (message.role === 'tool' ? message.results : []))
        .map(({ content }) => content.map((item) => ('text' in item ? item.text : '')));
    expect(read('Watching Graz.')).toEqual([['Watching Graz.', `[Subscription ID: ${id}]`]]);
    expect(read(`Watching. Subscription ID: ${id}.`)).toEqual([[`Watching. Subscription ID: ${id}.`]]);
  });

  it('an error result opens nothing (the gateway says so), and a result of another server neither', () => {
    expect(given(...watching.slice(0, 4)).when(subscribed(0, 'x', 'other')).refusal).toBe('NOT_PENDING');
  });

  it('R70 R71 R73 an associative event is an injected pair, never a second result of its call', () => {
    const { types, prompt } = given(...watching).when(happened(0, 'it rains', { associative: true }));
    expect(types).toEqual(['SubscriptionEventReceived', 'CompletionRequested']);
    const subscribedCall = callId(play(...watching));
    expect(lastWords(prompt)).toContain(`interrupt:${subscribedCall} (subscription remains active)`);
    expect(lastWords(prompt)).toContain('"city":"Graz"');
    expect(lastWords(prompt)).toContain('it rains');
    const ids = prompt.flatMap((message) => (message.role === 'tool' ? message.results.map((r) => r.toolCallId) : []));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('R75 final ends it; a later event is discarded (R82)', () => {
    const last = happened(0, 'over', { associative: true, final: true });
    const { thread, types, prompt } = given(...watching).when(last);
    expect(types).toEqual(['SubscriptionEventReceived', 'SubscriptionClosed', 'CompletionRequested']);
    expect(thread.subscriptions).toEqual({});
    expect(lastWords(prompt)).toContain('(subscription ended)');
    expect(given(...watching, last).when(happened()).refusal).toBe('NOT_SUBSCRIBED');
  });

  it('R82 events of unknown calls, of calls without a subscription and of other servers are discarded', () => {
    expect(given(...watching).when(happened(7)).refusal).toBe('NOT_SUBSCRIBED');
    const plain = [...watching.slice(0, 4), result(), answered('ok')];
    expect(given(...plain).when(happened()).refusal).toBe('NOT_SUBSCRIBED');
    expect(given(...watching).when(happened(0, 'x', { toolServer: 'other' })).refusal).toBe('NOT_SUBSCRIBED');
  });

  it('an event that overtakes its confirmation is held and comes right after it, in order', () => {
    const early = [...watching.slice(0, 4), happened(0, 'one', { associative: true }), happened(0, 'two')];
    const { types, scene } = given(...early).when(subscribed());
    expect(types).toEqual([
      'SubscriptionOpened',
      'ToolCallSettled',
      'SubscriptionEventReceived',
      'SubscriptionEventReceived',
      'ChildSpawned',
      'CompletionRequested',
    ]);
    expect(scene.thread.held).toEqual([]);
  });

  it('held events of a call that did not subscribe are dropped with it', () => {
    const { thread } = given(...watching.slice(0, 4), happened()).when(result());
    expect(thread.held).toEqual([]);
    expect(thread.children).toEqual({});
  });

  it('R83 one subscription too many: an error for the model and a cancel for the servers', () => {
    const many = Array.from({ length: 50 }, (_, n) => [
      said(`n${n}`),
      answered('', call('weather', { n })),
      subscribed(n),
      answered('ok'),
    ]).flat();
    const { events, owes, thread } = given(...idle(), ...many, said('last'), answered('', call('weather'))).when(
      subscribed(50),
    );
    expect(events[0]).toMatchObject({ type: 'ToolCallSettled', outcome: 'error', code: 'LIMIT_REACHED' });
    expect(owes).toContain('SendCancelNotices');
    expect(Object.keys(thread.subscriptions)).toHaveLength(50);
  });

  it('R76 R78 R79 cancel_subscription settles in the same commit, tells every server and asks the model again', () => {
    const scene = play(...watching, said('stop it'));
    const wish = answered('', call('cancel_subscription', { tool_call_id: callId(scene) }));
    const { types, owes, thread } = given(...watching, said('stop it')).when(wish);
    expect(types.slice(1)).toEqual([
      'ToolCallRequested',
      'SubscriptionClosed',
      'ToolCallSettled',
      'CompletionRequested',
    ]);
    expect(owes).toEqual(['SendCancelNotices', 'RequestCompletion']);
    expect(thread.subscriptions).toEqual({});
  });

  it("R77 another thread's or an unknown id is an error", () => {
    const { events } = given(...watching, said('x')).when(
      answered('', call('cancel_subscription', { tool_call_id: 'call_other' })),
    );
    expect(events).toContainEqual(expect.objectContaining({ type: 'ToolCallSettled', outcome: 'error' }));
  });

  it('a late confirmation of an interrupted call is told to stop, once', () => {
    const { types, owes } = given(...watching.slice(0, 4), interrupt()).when(subscribed());
    expect(types).toEqual(['ToolCallLateResult']);
    expect(owes).toEqual(['SendCancelNotices']);
  });

  it('R80 closing drops them without cancels, and with them when the agent says so', () => {
    const closed = given(...watching).when(close());
    expect(closed.owes).toEqual(['SendCloseNotices']);
    const polite = [...idle({ policies: { cancelSubscriptionsOnClose: true } }), ...watching.slice(2)];
    expect(given(...polite).when(close()).owes).toEqual(['SendCancelNotices', 'SendCloseNotices']);
    expect(given(...watching, close()).when(happened()).refusal).toBe('CLOSED'); // R81
  });

  it('above sixty a minute events are recorded and wake the thread together', () => {
    const storm = Array.from({ length: 60 }, (_, n) => [
      { at: startOfTime + 10_000 + n, input: happened(0, `e${n}`, { associative: true }) },
      { at: startOfTime + 10_000 + n, input: answered('seen') },
    ]).flat();
    const extra = { at: startOfTime + 10_100, input: happened(0, 'one too many', { associative: true }) };
    const { types, thread, scene } = given(...watching, ...storm).when(extra);
    expect(types).toEqual(['SubscriptionEventReceived', 'TimerSet']);
    expect(thread.unseen).toBe(1);
    const { due } = Object.values(thread.timers)[0] ?? { due: 0 };
    expect(given(...watching, ...storm, extra).when({ at: due, input: timerFired() }).types).toEqual([
      'TimerFired',
      'CompletionRequested',
    ]);
    expect(scene.events.filter((event) => event.type === 'SubscriptionEventReceived')).toHaveLength(61);
  });

  it('an event during a slow round enters after the waiting time: the call is detached', () => {
    const slow = [...watching, said('and now?'), answered('', call('clock'))];
    const { types } = given(...slow).when(happened(0, 'news', { associative: true }));
    expect(types).toEqual(['SubscriptionEventReceived', 'TimerSet']);
    const late = given(...slow, happened(0, 'news', { associative: true })).when(timerFired());
    expect(late.types).toEqual(['TimerFired', 'ToolCallDetached', 'CompletionRequested']);
    expect(JSON.stringify(late.prompt)).toContain('Still running');
  });
});

describe('child threads', () => {
  it('R74 a threaded event opens a child with the history up to here and the pair at its end', () => {
    const { types, owes, scene } = given(...watching).when(happened(0, 'a commit'));
    expect(types).toEqual(['SubscriptionEventReceived', 'ChildSpawned']);
    expect(owes).toEqual(['SpawnChild']);
    const opening = openingOf(scene);
    expect(opening.child).toMatchObject({
      parent: { threadId: 'thr_1', position: scene.thread.position },
      ancestors: ['thr_1'],
    });
    const child = play(opening);
    expect(child.events.map(({ type }) => type)).toEqual([
      'ThreadOpened',
      'ToolsetsLoaded',
      'SubscriptionEventReceived',
      'CompletionRequested',
    ]);
    expect(JSON.stringify(child.events.at(-2))).toContain('a commit');
  });

  it('an event child closes when it is idle and reports; the parent is woken by the report', () => {
    const child = play(openingOf(play(...watching, happened())));
    const { types, effects, thread } = given(openingOf(play(...watching, happened()))).when(answered('handled it'));
    expect(types).toEqual(['CompletionRecorded', 'ThreadClosed']);
    expect(thread.status).toBe('closed');
    expect(effects).toContainEqual(
      expect.objectContaining({
        do: 'ReportToParent',
        parentId: 'thr_1',
        closed: true,
        report: [{ type: 'text', text: 'handled it' }],
      }),
    );
    expect(child.thread.ancestors).toEqual(['thr_1']);
    const parent = given(...watching, happened()).when(reported(0, 'handled it'));
    expect(parent.types).toEqual(['ChildReported', 'CompletionRequested']);
    expect(parent.thread.children).toEqual({});
    expect(lastWords(parent.prompt)).toContain('handled it');
  });

  it('with event_children: keep it stays', () => {
    const kept = [...idle({ policies: { eventChildren: 'keep' } }), ...watching.slice(2)];
    expect(given(openingOf(play(...kept, happened()))).when(answered('handled')).types).toEqual(['CompletionRecorded']);
  });

  it('spawn_thread answers with the id; the instructions are the first user message; the child may report and close', () => {
    const spawning = [...idle(), said('m'), answered('', call('spawn_thread', { instructions: 'count to ten' }))];
    const scene = play(...spawning);
    expect(scene.events.map(({ type }) => type).slice(-4)).toEqual([
      'ToolCallRequested',
      'ChildSpawned',
      'ToolCallSettled',
      'CompletionRequested',
    ]);
    const child = given(openingOf(scene)).when(answered('', call('report_to_parent', { report: 'five' })));
    expect(child.effects).toContainEqual(expect.objectContaining({ do: 'ReportToParent', closed: false }));
    expect(JSON.stringify(child.prompt)).toContain('count to ten');
    const end = given(openingOf(scene)).when(answered('', call('close_thread', { report: 'ten' })));
    expect(end.types).toContain('ThreadClosed');
    expect(end.effects).toContainEqual(
      expect.objectContaining({ do: 'ReportToParent', closed: true, report: [{ type: 'text', text: 'ten' }] }),
    );
  });

  it('a root thread has no parent to report to', () => {
    const { events } = given(...idle(), said('m')).when(answered('', call('close_thread', {})));
    expect(events).toContainEqual(expect.objectContaining({ type: 'ToolCallSettled', code: 'TOOL_UNKNOWN' }));
  });

  it('a message to a child that is open is sent, to another it is an error', () => {
    const spawning = [...idle(), said('m'), answered('', call('spawn_thread', { instructions: 'x' }))];
    const child = childId(play(...spawning));
    const sent = given(...spawning).when(
      answered('', call('send_message_to_child', { child_id: child, text: 'hurry' })),
    );
    expect(sent.effects).toContainEqual(expect.objectContaining({ do: 'SendToChild', childId: child }));
    const lost = given(...spawning).when(
      answered('', call('send_message_to_child', { child_id: 'thr_x', text: 'hurry' })),
    );
    expect(lost.owes).not.toContain('SendToChild');
  });

  it('above a hundred open children events queue in order; a child that closes makes room for the oldest', () => {
    const crowd = Array.from({ length: 102 }, (_, n) => ({
      at: startOfTime + 100_000 + n * 2_000,
      input: happened(0, `e${n}`),
    }));
    const { thread } = given(...watching, ...crowd.slice(0, 101)).when(crowd[101] ?? happened());
    expect(Object.keys(thread.children)).toHaveLength(100);
    expect(thread.queuedEvents).toHaveLength(2);
    const freed = given(...watching, ...crowd).when(reported(3));
    expect(freed.types).toEqual(['ChildReported', 'ChildSpawned', 'CompletionRequested']);
    expect(JSON.stringify(freed.effects)).toContain('e100');
    expect(freed.thread.queuedEvents).toHaveLength(1);
  });

  it('five generations down an event is taken inline and spawning is an error', () => {
    let scene = play(...watching, happened());
    for (let depth = 1; depth < 5; depth++) {
      const deeper = [openingOf(scene), answered('', call('spawn_thread', { instructions: 'deeper' }))];
      scene = play(...deeper);
    }
    const { events } = given(openingOf(scene)).when(answered('', call('spawn_thread', { instructions: 'too deep' })));
    expect(events).toContainEqual(expect.objectContaining({ type: 'ToolCallSettled', outcome: 'error' }));
  });

  it('a family stays bounded: ten children of a child, one of a grandchild', () => {
    const many = Array.from({ length: 12 }, (_, n) => call('spawn_thread', { instructions: `do ${n}` }));
    const child = given(openingOf(play(...watching, happened()))).when(answered('', ...many));
    expect(Object.keys(child.thread.children)).toHaveLength(10);
    const grandchild = given(openingOf(child.scene)).when(answered('', ...many));
    expect(Object.keys(grandchild.thread.children)).toHaveLength(1);
  });

  it('closing a child tells the parent; children of a closed thread live on', () => {
    const child = given(openingOf(play(...watching, happened()))).when(close());
    expect(child.effects).toContainEqual(expect.objectContaining({ do: 'ReportToParent', closed: true }));
    expect(Object.keys(given(...watching, happened()).when(close()).thread.children)).toHaveLength(1);
  });
});

describe('budgets', () => {
  it('the tokens of a day: the thread stops with an event, and goes on the next day', () => {
    const thrifty = [
      ...idle({ limits: { tokensPerDayMax: 20 } }),
      said('m1'),
      answered('one'),
      said('m2'),
      answered('two'),
    ];
    const { types, events } = given(...thrifty).when(said('m3'));
    expect(types).toEqual(['MessageAccepted', 'BudgetExceeded']);
    expect(events[1]).toMatchObject({ budget: 'tokens_per_day_thread', used: 30, limit: 20 });
    const tomorrow = { at: startOfTime + 86_400_000, input: said('m4') };
    expect(given(...thrifty, said('m3')).when(tomorrow).types).toEqual(['MessageAccepted', 'CompletionRequested']);
  });
});

describe('time', () => {
  it('sleep settles at once and ends the turn; the timer wakes the thread and says so', () => {
    const { types, thread } = given(...idle(), said('m')).when(answered('', call('sleep', { seconds: 3_600 })));
    expect(types).toEqual(['CompletionRecorded', 'ToolCallRequested', 'ToolCallSettled', 'TimerSet']);
    expect(waitingOn(thread)).toMatchObject([{ kind: 'timer' }]);
    const woken = given(...idle(), said('m'), answered('', call('sleep', { seconds: 3_600 }))).when(timerFired());
    expect(woken.types).toEqual(['TimerFired', 'CompletionRequested']);
    expect(lastWords(woken.prompt)).toContain('the timer has fired');
  });

  it('anything earlier wakes it, cancels the timer and says so', () => {
    const { types, prompt } = given(...idle(), said('m'), answered('', call('sleep', { seconds: 3_600 }))).when(
      said('hello'),
    );
    expect(types).toEqual(['MessageAccepted', 'TimerCancelled', 'CompletionRequested']);
    expect(lastWords(prompt)).toContain('woken before the timer');
  });

  it.each([
    ['sleep', { seconds: -1 }],
    ['sleep', { seconds: 1e12 }],
    ['sleep_until', { at: '1999-01-01T00:00:00Z' }],
    ['sleep_until', { at: '9999-12-31T23:59:59Z' }],
    ['sleep_until', { at: '2027-01-01T00:00:00' }],
    ['sleep_until', { at: 'tomorrow' }],
  ])('%s %j is a clear error and no timer', (operation, args) => {
    const { events, types } = given(...idle(), said('m')).when(answered('', call(operation, args)));
    expect(events).toContainEqual(expect.objectContaining({ outcome: 'error', code: 'ARGUMENTS_INVALID' }));
    expect(types).not.toContain('TimerSet');
  });

  const schedule = (missed: 'skip' | 'once', cron = '0 * * * *') =>
    ({
      kind: 'ScheduleRequest',
      id: 'c:s',
      requestId: 'req_s',
      scheduleId: 'sch_1',
      schedule: { cron, timeZone: 'UTC', message: 'stand up', missed },
    }) as const;

  it('a schedule comes again and again, each time once', () => {
    const { types, thread } = given(...idle(), schedule('once')).when({ at: 3_600_000, input: timerFired() });
    expect(types).toEqual(['TimerFired', 'ScheduleCame', 'TimerSet', 'CompletionRequested']);
    expect(Object.values(thread.timers)).toMatchObject([{ due: 7_200_000, reason: 'schedule' }]);
  });

  it('missed times: one late message that says so, or none', () => {
    const late = { at: 10 * 3_600_000 + 300_000, input: timerFired() };
    const once = given(...idle(), schedule('once')).when(late);
    expect(once.events).toContainEqual(expect.objectContaining({ type: 'ScheduleCame', missed: 9, skipped: false }));
    const skip = given(...idle(), schedule('skip')).when(late);
    expect(skip.types).toEqual(['TimerFired', 'ScheduleCame', 'TimerSet']);
    expect(Object.values(skip.thread.timers)).toMatchObject([{ due: 11 * 3_600_000 }]);
  });

  it('a line that comes twice within a minute is refused, also between the two', () => {
    for (const at of [3_600_000, 3_610_000, 3_630_000, 3_700_000]) {
      const twice = given(...idle()).when({ at, input: schedule('once', '0,30 0 * * * *') });
      expect([at, twice.types]).toEqual([at, ['RequestRefused']]);
      const once = given(...idle()).when({ at, input: schedule('once', '30 0 * * * *') });
      expect([at, once.types]).toEqual([at, ['ScheduleSet', 'TimerSet']]);
    }
  });

  it('a line that never comes is refused, and a removed one comes no more', () => {
    expect(given(...idle()).when(schedule('once', 'never')).types).toEqual(['RequestRefused']);
    const removed = given(...idle(), schedule('once')).when({
      kind: 'UnscheduleRequest',
      id: 'c:u',
      requestId: 'req_u',
      scheduleId: 'sch_1',
    });
    expect(removed.thread.timers).toEqual({});
  });
});

describe('people', () => {
  const asked = [...idle(), said('m'), answered('', call('weather'))];

  it('R85 R86 R87 a login keeps the call pending, and a message meanwhile is answered with a placeholder that says so', () => {
    const { types, owes, thread } = given(...asked).when(loginAsked());
    expect(types).toEqual(['OauthRequested', 'TimerSet']);
    expect(owes).toEqual(['SetTimer']);
    expect(waitingOn(thread)).toMatchObject([{ kind: 'oauth' }]);
    const kept = given(...asked, loginAsked()).when(said('I have logged in'));
    expect(kept.types).toEqual(['ToolCallDetached', 'MessageAccepted', 'CompletionRequested']);
    expect(JSON.stringify(kept.prompt)).toContain('Authorisation is in progress');
  });

  it('R88 the result after a login is accepted, and the sealed URL is forgotten', () => {
    const { events, owes } = given(...asked, loginAsked()).when(result());
    expect(events[0]).toMatchObject({ type: 'ToolCallSettled', outcome: 'result' });
    expect(owes).toContain('ForgetLogin');
  });

  it('a login that nobody makes times out; the servers are told', () => {
    const { events, owes } = given(...asked, loginAsked()).when(timerFired());
    expect(events).toContainEqual(expect.objectContaining({ type: 'ToolCallSettled', outcome: 'timed_out' }));
    expect(owes).toEqual(expect.arrayContaining(['ForgetLogin', 'SendCancelNotices']));
  });

  it('R90 R91 an answer is posted and the call stays pending until its result', () => {
    const { types, effects, thread } = given(...asked, choiceAsked()).when(chosen({ answer: 'selected', selected: 2 }));
    expect(types).toEqual(['ChoiceSettled']);
    expect(effects).toMatchObject([{ do: 'AnswerChoice', selected: 2, answerTo: 'sealed-url' }]);
    expect(thread.calls).toMatchObject([{ waiting: { for: 'result' } }]);
  });

  it('R91 an index out of range, and a decision for a choice, are refused and recorded', () => {
    for (const answer of [
      { answer: 'selected', selected: 3 },
      { answer: 'selected', selected: 0.5 },
      { answer: 'decision', decision: 'allow' },
    ] as const)
      expect(given(...asked, choiceAsked()).when(chosen(answer)).types).toEqual(['RequestRefused']);
  });

  it('R92 dismissal, interruption, closing and the deadline post the default', () => {
    const posted = { do: 'AnswerChoice', selected: 1 };
    for (const ending of [chosen({ answer: 'dismiss' }), interrupt('req_i', true), close(), timerFired()])
      expect(given(...asked, choiceAsked()).when(ending).effects).toContainEqual(expect.objectContaining(posted));
  });

  it('a tool that answers by itself settles its choice, and nothing is posted', () => {
    const { types, owes } = given(...asked, choiceAsked()).when(result());
    expect(types.slice(0, 2)).toEqual(['ChoiceSettled', 'ToolCallSettled']);
    expect(owes).not.toContain('AnswerChoice');
  });

  it('R94 a second question is asked anew; the tool waits for no answer to the first', () => {
    const { types, effects } = given(...asked, choiceAsked()).when(choiceAsked(0, 'b'));
    expect(types).toEqual(['ChoiceSettled', 'ChoiceRequested', 'TimerSet']);
    expect(effects).toEqual([expect.objectContaining({ do: 'SetTimer' })]);
  });

  it('R94 the same question without a message id is a repetition while it is open, and a question afterwards', () => {
    const answer = chosen({ answer: 'selected', selected: 2 });
    const first = [...asked, choiceAsked(0, 'a', 'same')] as const;
    const repeated = given(...first).when(choiceAsked(0, 'b', 'same'));
    expect(repeated.events).toMatchObject([{ type: 'CallbackRejected', code: 'REPEATED' }]);
    expect(repeated.owes).toEqual([]);
    expect(repeated.thread).toMatchObject({
      problems: [],
      calls: [{ waiting: { for: 'choice' }, rejectedCallbacks: 0 }],
    });
    expect(given(...first).when(choiceAsked(0, 'b', 'another')).types).toContain('ChoiceRequested');
    expect(given(...first, answer).when(choiceAsked(0, 'b', 'same')).types).toEqual(['ChoiceRequested', 'TimerSet']);
    const other = [...first, loginAsked(0, 'b', 'another')] as const;
    expect(given(...other).when(choiceAsked(0, 'c', 'same')).types).toContain('ChoiceRequested');
  });

  it('R94 so is the same login, and one with a message id of its own is asked anew', () => {
    const first = [...asked, loginAsked(0, 'a', 'same')] as const;
    expect(given(...first).when(loginAsked(0, 'b', 'same')).events).toMatchObject([{ code: 'REPEATED' }]);
    expect(given(...first).when(loginAsked(0, 'b', 'another')).types).toContain('OauthRequested');
    expect(given(...first, choiceAsked(0, 'b', 'c')).when(loginAsked(0, 'c', 'same')).types).toContain(
      'OauthRequested',
    );
    expect(given(...asked, loginAsked()).when(loginAsked(0, 'b')).types).toContain('OauthRequested');
    expect(given(...asked, choiceAsked()).when(choiceAsked(0, 'b')).types).toContain('ChoiceRequested');
  });

  it('characters that deceive a reader are named in the approval', () => {
    const { events } = given(...idle(), said('m')).when(
      answered('', call('delete_everything', { path: '/tmp/\u202Egnp.exe', list: ['a\u200Bb'] })),
    );
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'ChoiceRequested',
        warnings: ['/path holds the invisible character U+202E', '/list/0 holds the invisible character U+200B'],
      }),
    );
  });
});

describe('forks', () => {
  const forked = (askAgain: boolean) =>
    ({ ...opening(), fork: { from: { threadId: 'thr_0', position: 7 }, askAgain } }) as ThreadInput;

  it('a fork is a root that begins with another history; it waits, or asks the model again', () => {
    const waits = play(forked(false), toolsLoaded);
    expect(waits.events.map(({ type }) => type).slice(0, 2)).toEqual(['ThreadOpened', 'ThreadForked']);
    expect(waits.thread).toMatchObject({ parent: null, forkedFrom: { threadId: 'thr_0', position: 7 } });
    expect(waits.thread.completion).toBeNull();
    expect(play(forked(true), toolsLoaded).thread.completion).not.toBeNull();
  });

  it('what was open when it was forked reads as interrupted, and as still running for a child', () => {
    const { events } = play(...idle(), said('m'), answered('', call('weather')));
    const tail = events.reduce((folded, event) => extendTranscript(folded, event).tail, emptyTail);
    expect(JSON.stringify(inherit(tail, 'fork'))).toContain('"outcome":"interrupted"');
    expect(JSON.stringify(inherit(tail, 'child'))).toContain('"outcome":"still_running"');
  });
});
