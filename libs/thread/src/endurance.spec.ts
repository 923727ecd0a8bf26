// A thread that lives for months: awaited inputs arrive, its budgets are limited, and its state stays small.
import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from './event.ts';
import type { ThreadInput } from './input.ts';
import {
  after,
  answered,
  call,
  callId,
  childId,
  choiceAsked,
  dispatchFailed,
  failed,
  given,
  happened,
  idle,
  interrupt,
  loginAsked,
  opening,
  openingOf,
  play,
  rejected,
  reported,
  result,
  retry,
  said,
  type Scene,
  subscribed,
  timerFired,
  toolsLoaded,
} from './spec/scene.ts';
import type { AgentOptions, Happening } from './spec/scene.ts';
import { upcastInput } from './upcast.ts';

const watching = (options: AgentOptions = {}): readonly Happening[] => [
  ...idle(options),
  said('m1'),
  answered('', call('weather', { city: 'Graz' })),
  subscribed(),
  answered('ok'),
];
const eventChild = (options: AgentOptions = {}): ThreadInput =>
  openingOf(play(...watching(options), happened(0, 'it rains')));
const burst = (count: number, text = 'event', associative = false): readonly Happening[] =>
  Array.from({ length: count }, (_, place) => ({
    at: 2_000_000 + place,
    input: happened(0, place === 0 ? text : `${text}${place}`, { associative }),
  }));
const reasons = (scene: Scene): readonly string[] => Object.values(scene.thread.timers).map(({ reason }) => reason);
const ofType = <Type extends RecordedEvent['type']>(scene: Scene, type: Type) =>
  scene.events.filter((event): event is Extract<RecordedEvent, { readonly type: Type }> => event.type === type);
const timerDue = (scene: Scene, reason: string, at: number): Happening => {
  const timer = Object.values(scene.thread.timers).find((one) => one.reason === reason);
  if (timer === undefined) throw new Error(`no timer ${reason}`);
  const { timerId, due } = timer;
  return { at, input: { kind: 'TimerFiring', id: `t:${timerId}`, timerId, scheduledFor: due } };
};

const migration: ThreadInput = {
  kind: 'MigrationRequest',
  id: 'c:mig',
  requestId: 'req_m',
  toolServers: { tools: 'https://new.example' },
};
const refresh: ThreadInput = { kind: 'RefreshToolsetsRequest', id: 'c:r', requestId: 'req_rr' };

describe('events that wait for a child', () => {
  it('R74 get one at the end of their minute, whatever the model was asked meanwhile', () => {
    let scene = play(...watching(), ...burst(60));
    for (let place = 0; place < 60; place++) scene = after(scene, { at: 2_001_000, input: reported(place) });
    while (scene.thread.completion !== null) scene = after(scene, { at: 2_002_000, input: answered('seen') });
    scene = after(scene, { at: 2_003_000, input: happened(0, 'fast') });
    scene = after(scene, { at: 2_004_000, input: said('hello') });
    scene = after(scene, { at: 2_005_000, input: answered('hi') });
    expect(reasons(scene)).toEqual(['event_rate']);
    scene = after(scene, timerDue(scene, 'event_rate', 2_070_000));
    expect(scene.thread.queuedEvents).toEqual([]);
    scene = after(scene, { at: 9_000_000, input: happened(0, 'calm') });
    expect(Object.keys(scene.thread.children)).toHaveLength(2);
  });

  it('are given to children in pieces that every bus and store takes', () => {
    const long = 'x'.repeat(60 * 1_024);
    const storm = play(...watching(), ...burst(300, long));
    expect(JSON.stringify(storm.thread).length).toBeLessThan(5_000_000);
    const opened = after(storm, timerDue(storm, 'event_rate', 2_060_001));
    const effects = opened.effects.slice(storm.effects.length).filter((effect) => effect.do === 'SpawnChild');
    expect(effects).toHaveLength(8);
    for (const effect of effects) expect(JSON.stringify(effect).length).toBeLessThan(300_000);
    expect(reasons(opened)).toContain('event_rate'); // the others follow
  });

  it('G1 wait for the end of a migration, and for tools that are being loaded', () => {
    const moving = given(...watching(), migration).when(happened(0, 'x'));
    expect(moving.owes).toEqual([]);
    const { migrationId } = moving.thread.migrating ?? { migrationId: '' };
    const ended = after(moving.scene, {
      kind: 'MigrationResult',
      id: 'mr',
      migrationId,
      migrated: [],
      problems: ['refused'],
    });
    expect(ofType(ended, 'ChildSpawned')).toHaveLength(1);
    const loading = given(...watching(), refresh).when(happened(0, 'x'));
    expect(loading.owes).toEqual([]);
    expect(ofType(after(loading.scene, toolsLoaded), 'ChildSpawned')).toHaveLength(1);
  });
});

describe('an event’s child', () => {
  it('goes on with what arrived during its last answer', () => {
    const more: ThreadInput = { kind: 'ParentMessage', id: 'p:1', parentId: 'thr_1', content: [] };
    expect(given(eventChild(), more).when(answered('done')).thread.status).toBe('open');
    const queueing = eventChild({ policies: { onInterrupt: 'queue' } });
    expect(given(queueing, said('m9')).when(answered('done')).thread.status).toBe('open');
  });

  it('R55 whose model fails says so and closes: its place is free again', () => {
    const { types, effects } = given(eventChild()).when(failed);
    expect(types).toEqual(['CompletionFailed', 'ThreadClosed']);
    expect(effects).toContainEqual(expect.objectContaining({ do: 'ReportToParent', closed: true }));
  });

  it('closes when the last thing that it waited for goes without another completion', () => {
    const scene = play(eventChild(), answered('', call('weather')), subscribed(0), answered('I watch it'));
    expect(scene.thread.status).toBe('open');
    const cancel = { kind: 'CancelSubscriptionRequest', id: 'c:u', requestId: 'req_u' } as const;
    const closed = after(scene, { ...cancel, toolCallId: callId(scene) });
    expect(closed.thread.status).toBe('closed');
    expect(closed.effects).toContainEqual(
      expect.objectContaining({ do: 'ReportToParent', report: [{ type: 'text', text: 'I watch it' }] }),
    );
  });

  it('has turns of its own name', () => {
    const opening = eventChild();
    expect(new Set(play(opening).events.map(({ turnId }) => turnId))).toEqual(new Set([opening.id]));
  });
});

describe('budgets over months', () => {
  it('the same sleep each hour, and the same call for each event, go on for ever', () => {
    let sleeper = play(...idle(), said('m1'));
    for (let hour = 1; hour <= 20; hour++) {
      sleeper = after(sleeper, { at: hour * 3_700_000, input: answered('', call('sleep', { seconds: 3600 })) });
      sleeper = after(sleeper, { at: hour * 3_700_000 + 3_600_000, input: timerFired(hour - 1) });
    }
    let watcher = play(...watching());
    for (let hour = 1; hour <= 20; hour++) {
      watcher = after(watcher, { at: hour * 3_700_000, input: happened(0, `e${hour}`, { associative: true }) });
      watcher = after(watcher, answered('', call('weather', { city: 'Wien' })));
      watcher = after(watcher, result(hour));
      watcher = after(watcher, answered('fine'));
    }
    expect([...ofType(sleeper, 'BudgetExceeded'), ...ofType(watcher, 'BudgetExceeded')]).toEqual([]);
  });

  it('a parent and a child that answer each other come to an end', () => {
    let scene = play(...idle(), said('m1'), answered('', call('spawn_thread', { instructions: 'go' })), answered('ok'));
    for (let round = 0; round < 100; round++) {
      scene = after(scene, reported(0, `r${round}`, false, `${round}`));
      scene = after(scene, answered('', call('send_message_to_child', { child_id: childId(scene), text: `${round}` })));
      scene = after(scene, answered('ok'));
    }
    expect(ofType(scene, 'BudgetExceeded')).toMatchObject([{ budget: 'completions_per_wake' }]);
  });

  it('a thread that sleeps for a millisecond, again and again, comes to an end', () => {
    let scene = play(...idle(), said('m1'));
    for (let round = 0; round < 100; round++) {
      scene = after(scene, answered('', call('sleep', { seconds: 0.001 + round / 1e6 })));
      scene = after(scene, timerFired(ofType(scene, 'TimerSet').length - 1));
    }
    expect(ofType(scene, 'BudgetExceeded')).toHaveLength(1);
  });

  it('many sleeps in one answer are the shortest of them', () => {
    const calls = Array.from({ length: 50 }, (_, place) => call('sleep', { seconds: 1_000 - place }));
    const { thread } = given(...idle(), said('m1')).when(answered('', ...calls));
    expect(Object.values(thread.timers)).toMatchObject([{ due: thread.updatedAt + 951_000 }]);
  });

  it('a retry grants no tokens', () => {
    const poor = { limits: { tokensPerDayMax: 1 } };
    const scene = play(...idle(poor), said('m1'), answered('spent'), said('m2'));
    expect(given(...idle(poor), said('m1'), answered('spent'), said('m2')).when(retry()).owes).toEqual([]);
    expect(scene.thread.stalled).toBe(true);
  });

  it('a short timeout writes nothing while a person is waited for, and runs anew for the tool', () => {
    const limits = { toolTimeoutMs: { default: 1_000 } };
    const scene = play(...idle({ limits }), said('m1'), answered('', call('weather')), loginAsked());
    const { due: deadline } = Object.values(scene.thread.timers).find(({ reason }) => reason === 'login_deadline') ?? {
      due: 0,
    };
    const later = after(scene, timerDue(scene, 'tool_timeout', scene.thread.updatedAt + 1_000));
    expect(Object.values(later.thread.timers).find(({ reason }) => reason === 'tool_timeout')?.due).toBe(deadline);
  });
});

describe('migration and retry', () => {
  it('G1 nothing is asked of the model while tool servers move or load', () => {
    expect(given(...idle(), said('m'), failed, migration).when(retry()).types).toEqual(['RequestRefused']);
    expect(given(...idle(), said('m'), failed, refresh).when(retry()).types).toEqual(['RequestRefused']);
  });
});

describe('an interrupt', () => {
  it('I-13 leaves what arrived meanwhile for the next completion', () => {
    const { types } = given(...watching(), said('m2'), happened(0, 'x', { associative: true })).when(interrupt());
    expect(types).toEqual(['CompletionRecorded', 'TurnInterrupted', 'CompletionRequested']);
  });

  it('during a storm does not make the next message wait for the end of the minute', () => {
    let scene = play(...watching(), ...burst(60));
    scene = after(scene, { at: 2_000_500, input: said('work') });
    for (let place = 0; place < 3; place++)
      scene = after(scene, { at: 2_000_600 + place, input: happened(0, `fast${place}`, { associative: true }) });
    scene = after(scene, { at: 2_000_700, input: interrupt() });
    scene = after(scene, { at: 2_000_800, input: said('please') });
    expect(scene.thread.completion).not.toBeNull();
  });
});

describe('questions', () => {
  const sent = [...idle(), said('m1'), answered('', call('weather'))];

  it('an answer that its tool did not take settles no call that asks something else by now', () => {
    const asked = play(...sent, choiceAsked(0, 'a'), choiceAsked(0, 'b'));
    const failure: ThreadInput = { kind: 'ChoiceAnswerFailure', id: 'qf:a', toolCallId: callId(asked), detail: '404' };
    const { types, thread } = given(...sent, choiceAsked(0, 'a'), choiceAsked(0, 'b')).when(failure);
    expect(types).toEqual(['CallbackRejected']);
    expect(Object.keys(thread.choices)).toHaveLength(1);
  });

  it.each([
    ['a dispatch that failed', dispatchFailed()],
    ['a callback that settles', rejected(0, true, 'x')],
  ])('R92 are settled with their call by %s, and the tool is told', (_what, happening) => {
    const { types, owes } = given(...sent, choiceAsked(0, 'a')).when(happening);
    expect(types.slice(0, 2)).toEqual(
      types.includes('CallbackRejected') ? ['CallbackRejected', 'ChoiceSettled'] : ['ChoiceSettled', 'ToolCallSettled'],
    );
    expect(owes).toContain('AnswerChoice');
  });

  it('R88 a login is forgotten also when its tool asked something else after it', () => {
    expect(given(...sent, loginAsked(0), choiceAsked(0, 'b')).when(result()).owes).toContain('ForgetLogin');
  });

  it('R82 events above what is held cost their call nothing', () => {
    const storm = Array.from({ length: 110 }, (_, place) => happened(0, `e${place}`));
    const { thread } = given(...sent, ...storm).when(rejected(0, false, 'one'));
    expect(thread.calls).toMatchObject([{ rejectedCallbacks: 1 }]);
    expect(thread.held).toHaveLength(100);
  });
});

describe('ids from outside', () => {
  const named = (kind: 'CancelCallRequest' | 'CancelSubscriptionRequest'): ThreadInput => ({
    kind,
    id: 'c:x',
    requestId: 'req_x',
    toolCallId: 'constructor',
  });

  it('T7 name nothing that every object has', () => {
    expect(given(...idle()).when(named('CancelCallRequest')).types).toEqual(['RequestRefused']);
    expect(given(...idle()).when(named('CancelSubscriptionRequest')).types).toEqual(['RequestRefused']);
    const unschedule = { kind: 'UnscheduleRequest', id: 'c:y', requestId: 'req_y', scheduleId: 'toString' } as const;
    expect(given(...idle()).when(unschedule).types).toEqual(['RequestRefused']);
    const mail = answered('', call('send_message_to_child', { child_id: 'constructor', text: 'x' }));
    expect(given(...idle(), said('m')).when(mail).owes).not.toContain('SendToChild');
  });
});

describe('a release beside the next one', () => {
  it('an approval that the release before answered is understood', () => {
    const policies = { approve: { mode: 'all', tools: {} } } as const;
    const asked = play(opening({ policies }), toolsLoaded, said('m1'), answered('', call('weather')));
    const [choiceId = ''] = Object.keys(asked.thread.choices);
    const recorded = `{"kind":"ChoiceAnswer","id":"c:1","requestId":"req_1","choiceId":"${choiceId}","decision":"allow","reason":null,"decidedBy":null}`;
    const input = upcastInput(JSON.parse(recorded) as ThreadInput);
    expect(ofType(after(asked, input), 'ChoiceSettled')).toMatchObject([{ decision: 'allow' }]);
  });
});
