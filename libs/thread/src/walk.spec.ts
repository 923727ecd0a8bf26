// Properties of the heart over random walks: whatever happens to a thread, in whatever order.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import type { ThreadEffect } from './effect.ts';
import { evolve } from './evolve.ts';
import type { RecordedEvent } from './event.ts';
import { credentialRefreshFailed, inputIds, type RequestedCall, type ThreadInput } from './input.ts';
import type { ModelMessage } from './model-message.ts';
import { isOwed } from './owed.ts';
import type { ApprovalMode, InterruptPolicy, Limits, Policies } from './policy.ts';
import {
  type AgentOptions,
  after,
  answered,
  call,
  cancel,
  choiceAsked,
  chosen,
  close,
  decided,
  dispatchFailed,
  emptyScene,
  external,
  failed,
  type Happening,
  happened,
  interrupt,
  loginAsked,
  moment,
  opening,
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
import { blockingCalls, callOf, timerOf } from './thread.ts';
import { emptyTail, extendTranscript, transcript } from './transcript.ts';

const policy = fc.constantFrom<InterruptPolicy>('cancel', 'keep', 'queue', 'reject');
const agents: fc.Arbitrary<AgentOptions> = fc.record({
  policies: fc.record({
    onInterrupt: policy,
    onInterruptHuman: policy,
    eventStyle: fc.constantFrom('kind' as const, 'reserved' as const),
    approve: fc.record({
      mode: fc.constantFrom<ApprovalMode>('none', 'destructive', 'all'),
      tools: fc.constantFrom<Policies['approve']['tools']>(
        {},
        {},
        { delete_everything: { mode: 'always', approvals_needed: 2, assignees: ['ann'] } },
      ),
    }),
  }),
  limits: fc.record({
    completionsPerWakeMax: fc.constantFrom(2, 50),
    toolTimeoutMs: fc.constantFrom<Limits['toolTimeoutMs']>(
      { default: null },
      { default: 1_000 },
      { default: null, weather: 5 },
    ),
  }),
  toolServers: fc.constantFrom<readonly string[]>(['tools'], ['tools', 'more'], []),
});

const wishes: fc.Arbitrary<RequestedCall> = fc
  .tuple(
    fc.constantFrom(
      'weather',
      'clock',
      'delete_everything',
      'unheard_of',
      'spawn_thread',
      'sleep',
      'cancel_subscription',
      'set_title',
    ),
    fc.nat(2),
    fc.constantFrom(null, null, null, '/city is required'),
  )
  .map(([operation, n, problem]) =>
    call(operation, { n, seconds: n * 60, instructions: `do ${n}`, title: `title ${n}` }, problem),
  );

const index = fc.nat(40);

/** Mostly one of the calls that are open, sometimes any that was ever requested. */
const some =
  (n: number, happening: (place: number) => (scene: Scene) => ThreadInput) =>
  (scene: Scene): ThreadInput => {
    const ids = ofType(scene, 'ToolCallRequested').map((event) => event.toolCallId);
    const open = ids.flatMap((id, place) => (callOf(scene.thread, id) === undefined ? [] : [place]));
    const places = n % 4 === 0 || open.length === 0 ? ids.map((_, place) => place) : open;
    return happening(places[n % Math.max(1, places.length)] ?? 0)(scene);
  };

/** Mostly a call that is subscribed or pending. */
const someSubscribed =
  (n: number, happening: (place: number) => (scene: Scene) => ThreadInput) =>
  (scene: Scene): ThreadInput => {
    const ids = ofType(scene, 'ToolCallRequested').map((event) => event.toolCallId);
    const places = ids.flatMap((id, place) => (scene.thread.subscriptions[id] === undefined ? [] : [place]));
    return places.length === 0 ? some(n, happening)(scene) : happening(places[n % places.length] ?? 0)(scene);
  };

/** The answer of a completion that was requested earlier; superseded, or perhaps still current. */
const staleAnswer = (scene: Scene, n: number): ThreadInput => {
  const completionId = ofType(scene, 'CompletionRequested').at(-1 - (n % 3))?.completionId ?? 'cmp_none';
  return { ...answered('stale')(scene), id: inputIds.completion(completionId), completionId };
};

const openChoice = (scene: Scene, n: number): string => {
  const open = Object.keys(scene.thread.choices);
  return open[n % Math.max(1, open.length)] ?? 'chc_none';
};

/** An approval of one of several people; with other arguments, or those that are shown. */
const byCredential =
  (credential: string, args: Readonly<Record<string, unknown>>, isEdit: boolean, n: number, requestId: string) =>
  (scene: Scene): ThreadInput => {
    const choiceId = openChoice(scene, n);
    const call = callOf(scene.thread, scene.thread.choices[choiceId]?.toolCallId ?? '');
    const of = `#${JSON.stringify(call?.arguments)}`;
    return {
      ...{ kind: 'ChoiceAnswer', id: `c:${requestId}`, requestId, choiceId, reason: null, decidedBy: null },
      ...{ answer: { answer: 'decision', decision: 'allow' }, credential },
      ...(isEdit ? { edit: { arguments: args, of } } : {}),
    };
  };

/** Names are unique by their place in the walk, so that no client request is sent twice under one id by accident. */
const happenings: fc.Arbitrary<(place: number) => Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.constant((place: number) => said(`msg_${place}`)) },
  {
    weight: 3,
    arbitrary: fc
      .string({ maxLength: 3 })
      .map((streamed) => (place: number) => ({ happening: said(`msg_${place}`), streamed })),
  },
  { weight: 10, arbitrary: fc.array(wishes, { maxLength: 4 }).map((calls) => () => answered('words', ...calls)) },
  { weight: 2, arbitrary: fc.constant(() => failed) },
  { weight: 3, arbitrary: index.map((n) => () => (scene: Scene) => staleAnswer(scene, n)) },
  {
    weight: 10,
    arbitrary: fc.tuple(index, fc.constantFrom('ok', 'Error: no')).map(
      ([n, words]) =>
        () =>
          result(n, words),
    ),
  },
  { weight: 1, arbitrary: index.map((n) => () => some(n, (at) => result(at, 'forged', 'other'))) },
  {
    weight: 3,
    arbitrary: fc.tuple(index, fc.constantFrom('error', 'unknown', 'login' as const)).map(
      ([n, how]) =>
        () =>
          how === 'login' ? dispatchFailed(n, 'error', credentialRefreshFailed) : dispatchFailed(n, how),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(index, fc.boolean()).map(
      ([n, settles]) =>
        (place: number) =>
          some(n, (at) => rejected(at, settles, `${place}`)),
    ),
  },
  { weight: 3, arbitrary: index.map((n) => () => timerFired(n)) },
  { weight: 3, arbitrary: fc.boolean().map((human) => (place: number) => interrupt(`req_${place}`, human)) },
  { weight: 2, arbitrary: index.map((n) => (place: number) => some(n, (at) => cancel(at, `req_${place}`))) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom('allow', 'deny', 'allow_for_thread' as const), index).map(
      ([how, n]) =>
        (place: number) =>
          decided(how, n, `req_${place}`),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom('ann', 'ben'), fc.nat(3), index).map(
      ([credential, n, at]) =>
        (place: number) =>
          byCredential(credential, { city: n }, n < 2, at, `req_${place}`),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('ann', 'ben'), index)
      .map(([label, n]) => (place: number) => (scene: Scene): ThreadInput => ({
        ...{ kind: 'AssignmentRequest', id: `c:req_${place}`, requestId: `req_${place}`, by: 'ops' },
        ...{ choiceId: openChoice(scene, n), assignees: [label] },
      })),
  },
  { weight: 2, arbitrary: fc.constant((place: number) => retry(`req_${place}`)) },
  {
    weight: 1,
    arbitrary: fc.constant((place: number): ThreadInput => ({
      kind: 'MigrationRequest',
      id: `c:req_${place}`,
      requestId: `req_${place}`,
      toolServers: { tools: `https://at-${place}.example` },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map((ok) => () => (scene: Scene): ThreadInput => {
      const migrationId = scene.thread.migrating?.migrationId ?? 'mig_none';
      const problems = ok ? [] : ['it refused'];
      return { kind: 'MigrationResult', id: `mr:${migrationId}`, migrationId, migrated: [], problems };
    }),
  },
  { weight: 5, arbitrary: index.map((n) => () => some(n, (at) => subscribed(at))) },
  {
    weight: 6,
    arbitrary: fc.record({ n: index, associative: fc.boolean(), final: fc.nat(5) }).map(
      ({ n, associative, final }) =>
        () =>
          someSubscribed(n, (at) => happened(at, 'an event', { associative, final: final === 0 })),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.boolean().map((associative) => (place: number) => external(`req_${place}`, associative)),
  },
  { weight: 1, arbitrary: index.map((n) => () => some(n, (at) => happened(at, 'forged', { toolServer: 'other' }))) },
  {
    weight: 2,
    arbitrary: index.map(
      (n) => (place: number) => some(n, (at) => loginAsked(at, `${place}`, place % 2 === 0 ? 'same' : null)),
    ),
  },
  {
    weight: 3,
    arbitrary: index.map(
      (n) => (place: number) => some(n, (at) => choiceAsked(at, `${place}`, place % 2 === 0 ? 'same' : null)),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(index, fc.integer({ min: -1, max: 3 })).map(
      ([n, selected]) =>
        (place: number) =>
          chosen(selected < 0 ? { answer: 'dismiss' } : { answer: 'selected', selected }, n, `req_${place}`),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(index, fc.boolean()).map(
      ([n, closed]) =>
        (place: number) =>
          reported(n, 'a report', closed, closed ? 'closed' : `${place}`),
    ),
  },
  {
    weight: 2,
    arbitrary: index.map((n) => (place: number) => (scene: Scene): ThreadInput => ({
      kind: 'CancelSubscriptionRequest',
      id: `c:req_${place}`,
      requestId: `req_${place}`,
      toolCallId: Object.keys(scene.thread.subscriptions)[n % 3] ?? 'call_none',
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('skip', 'once' as const).map((missed) => (place: number): ThreadInput => ({
      kind: 'ScheduleRequest',
      id: `c:req_${place}`,
      requestId: `req_${place}`,
      scheduleId: `sch_${place}`,
      schedule: { cron: '0 * * * *', timeZone: 'UTC', message: 'stand up', missed },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constant((place: number) => (scene: Scene): ThreadInput => ({
      kind: 'UnscheduleRequest',
      id: `c:req_${place}`,
      requestId: `req_${place}`,
      scheduleId: Object.keys(scene.thread.schedules)[0] ?? 'sch_none',
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constant((place: number): ThreadInput => ({
      kind: 'RefreshToolsetsRequest',
      id: `c:req_${place}`,
      requestId: `req_${place}`,
    })),
  },
  { weight: 1, arbitrary: fc.constant((place: number) => close(`req_${place}`)) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: -1, max: 1 }).map((later) => (place: number) => (scene: Scene): ThreadInput => ({
      kind: 'RetentionEnd',
      id: `re:${place}`,
      restingSince: scene.thread.updatedAt + later,
    })),
  },
  {
    weight: 2,
    arbitrary: fc.boolean().map((other) => () => (scene: Scene): ThreadInput => {
      const loaded = toolsLoaded(scene);
      return other && loaded.kind === 'ToolsetsResult'
        ? { ...loaded, toolsets: loaded.toolsets.map((set) => ({ ...set, sha256: 'manifest-2' })) }
        : loaded;
    }),
  },
);

const walks = fc.record({ agent: agents, steps: fc.array(happenings, { minLength: 5, maxLength: 80, size: 'max' }) });

/** Plays a walk as a thread's log would allow it: an input that was committed is not decided again. */
function walk(
  { agent, steps }: { agent: Parameters<typeof opening>[0]; steps: readonly ((place: number) => Happening)[] },
  each: (before: Scene, scene: Scene) => void = () => {},
): Scene {
  let scene = emptyScene;
  const committed = new Set<string>();
  for (const [place, happening] of [() => opening(agent), () => toolsLoaded, ...steps].entries()) {
    const next = after(scene, happening(place));
    const step = next.steps[next.steps.length - 1];
    if (step === undefined || committed.has(step.input.id)) continue;
    if (step.decision.committed) committed.add(step.input.id);
    each(scene, next);
    scene = next;
  }
  return scene;
}

const clientKinds = new Set([
  'UserMessage',
  'InterruptRequest',
  'RetryRequest',
  'CloseRequest',
  'CancelCallRequest',
  'CancelSubscriptionRequest',
  'RefreshToolsetsRequest',
  'ScheduleRequest',
  'UnscheduleRequest',
  'ChoiceAnswer',
]);
const ofType = <Type extends RecordedEvent['type']>(scene: Scene, type: Type) =>
  scene.events.filter((event): event is Extract<RecordedEvent, { readonly type: Type }> => event.type === type);
const runs = { numRuns: 400 };

describe('over random walks', () => {
  it('I-16 deciding again gives the same, folding the events gives the same, and a snapshot of the state decides the same', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        walk(plan, (before, scene) => {
          const step = scene.steps[scene.steps.length - 1];
          if (step?.decision.committed !== true) return;
          const revived = JSON.parse(JSON.stringify(before.thread)) as typeof before.thread;
          const streamed = step.input.kind === 'UserMessage' ? streamedIn(step.decision.events) : null;
          expect(decide(revived, step.input, moment(revived, step.at, streamed))).toEqual(step.decision);
          expect(step.decision.events.reduce((thread, event) => evolve(thread, event, step.at), before.thread)).toEqual(
            scene.thread,
          );
        });
      }),
      runs,
    );
  });

  it('(N2) what a client sent is always committed once the thread is open', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        for (const { input, decision } of walk(plan).steps.slice(1))
          if (clientKinds.has(input.kind)) expect(decision.committed).toBe(true);
      }),
      runs,
    );
  });

  it('(V3) an uncommitted refusal stays a refusal in every later state', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        const refused: ThreadInput[] = [];
        walk(plan, (before, scene) => {
          const step = scene.steps[scene.steps.length - 1];
          if (step?.decision.committed === false && canHappen(before, step.input)) refused.push(step.input);
          for (const input of refused)
            expect(decide(scene.thread, input, moment(scene.thread, step?.at ?? 0)).committed).toBe(false);
        });
      }),
      runs,
    );
  });

  it('I-10 each call is settled at most once, after it was requested; closing leaves none open', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        const scene = walk(plan);
        const requested = ofType(scene, 'ToolCallRequested').map((event) => event.toolCallId);
        const settled = ofType(scene, 'ToolCallSettled').map((event) => event.toolCallId);
        expect(new Set(requested).size).toBe(requested.length);
        expect(new Set(settled).size).toBe(settled.length);
        const open = scene.thread.calls.map(({ toolCallId }) => toolCallId);
        expect([...settled, ...open].sort()).toEqual([...requested].sort());
        if (scene.thread.status === 'closed') expect(open).toEqual([]);
      }),
      runs,
    );
  });

  it('I-05 every dispatch is of a call in the history, once, with its arguments', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        const scene = walk(plan);
        const requested = new Map(ofType(scene, 'ToolCallRequested').map((event) => [event.toolCallId, event]));
        const callOfChoice = new Map(
          ofType(scene, 'ChoiceRequested').map((event) => [event.choiceId, event.toolCallId]),
        );
        const allowed = new Map(
          ofType(scene, 'ChoiceSettled').flatMap(({ choiceId, argumentsAllowed }) =>
            argumentsAllowed === undefined ? [] : [[callOfChoice.get(choiceId), argumentsAllowed]],
          ),
        );
        const dispatched = scene.effects.filter((effect) => effect.do === 'InvokeTool');
        expect(new Set(dispatched.map((effect) => effect.id)).size).toBe(dispatched.length);
        for (const effect of dispatched) {
          const { operation, arguments: asked } = requested.get(effect.toolCallId) ?? {};
          const args = allowed.get(effect.toolCallId) ?? asked;
          expect({ operation, args }).toEqual({ operation: effect.operation, args: effect.arguments });
        }
      }),
      runs,
    );
  });

  it('I-15 every prompt is legal, and only ever extended', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        const scene = walk(plan);
        let tail = emptyTail;
        const shown: ModelMessage[] = [];
        for (const event of scene.events) {
          const step = extendTranscript(tail, event);
          tail = step.tail;
          shown.push(...step.messages);
          if (event.type === 'CompletionRequested') expectLegal(shown);
        }
        expect(tail.length).toBe(shown.length);
        expect(transcript(scene.events)).toEqual(shown);
      }),
      runs,
    );
  });

  it('I-15 a prompt shows every settled call exactly once, and every message that was accepted', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        walk(plan, (_before, scene) => {
          if (scene.events.at(-1)?.type !== 'CompletionRequested') return;
          const prompt = transcript(scene.events);
          const shown = prompt.flatMap((message) => (message.role === 'tool' ? message.results : []));
          const outcomes = shown
            .filter((entry) => entry.outcome !== 'still_running' && !entry.toolCallId.includes('_event_'))
            .map((entry) => entry.toolCallId.replace('_late', ''));
          expect(outcomes.sort()).toEqual(
            ofType(scene, 'ToolCallSettled')
              .map((event) => event.toolCallId)
              .sort(),
          );
          const inlineEvents = ofType(scene, 'SubscriptionEventReceived').filter(({ into }) => into === 'thread');
          expect(shown.filter((entry) => entry.toolCallId.includes('_event_'))).toHaveLength(inlineEvents.length);
          expect(prompt.filter((message) => message.role === 'user')).toHaveLength(
            ofType(scene, 'MessageAccepted').length +
              ofType(scene, 'ChildReported').length +
              ofType(scene, 'ExternalEventReceived').filter(({ childId }) => childId === null).length +
              ofType(scene, 'ScheduleCame').filter(({ skipped }) => !skipped).length +
              sleepsThatEnded(scene),
          );
        });
      }),
      runs,
    );
  });

  it('(T1) I-14 one completion at a time, each with at most one end, and nothing recorded that is not current', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        let current: string | null = null;
        for (const event of walk(plan).events) {
          if (event.type === 'CompletionRequested') {
            expect(current).toBeNull();
            current = event.completionId;
          }
          if (event.type === 'CompletionRecorded' || event.type === 'CompletionFailed') {
            expect(event.completionId).toBe(current);
            current = null;
          }
        }
      }),
      runs,
    );
  });

  it('I-11 a result of another tool server never enters', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        expect(JSON.stringify(walk(plan).events)).not.toContain('forged');
      }),
      runs,
    );
  });

  it('I-24 an open thread at rest owes the model nothing', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        walk(plan, (_before, { thread }) => {
          if (
            thread.status !== 'open' ||
            thread.loading !== null ||
            thread.migrating !== null ||
            thread.completion !== null ||
            blockingCalls(thread).length > 0
          )
            return;
          expect(thread.queue).toEqual([]);
          expect(thread.unseen <= thread.merged || thread.stalled).toBe(true);
        });
      }),
      runs,
    );
  });

  it('every completion, load and timer that the thread waits for is owed, and nothing else of the kind is', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        const { thread, effects } = walk(plan);
        const owed = effects.filter((effect) => isOwed(thread, effect)).map((effect) => effect.id);
        const waited = [
          thread.completion?.completionId,
          thread.loading === null ? undefined : `ts:${thread.loading}`,
          ...Object.keys(thread.timers),
        ];
        for (const id of waited) if (id !== undefined) expect(owed).toContain(id);
      }),
      runs,
    );
  });

  it('what is no longer owed is never owed again', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        const settled = new Set<ThreadEffect>();
        walk(plan, (_before, { thread, effects }) => {
          for (const effect of effects) {
            if (!isOwed(thread, effect)) settled.add(effect);
            else expect(settled.has(effect)).toBe(false);
          }
        });
      }),
      runs,
    );
  });

  it('the walks go everywhere: every event type is met', () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(walks, (plan) => {
        for (const event of walk(plan).events) met.add(event.type);
      }),
      { numRuns: 1_500, seed: 1 },
    );
    expect([...met].sort()).toEqual(
      [
        'ThreadOpened',
        'ToolsetsRequested',
        'ToolsetsLoaded',
        'MessageAccepted',
        'MessageQueued',
        'MessageRefused',
        'RequestRefused',
        'CompletionRequested',
        'CompletionRecorded',
        'CompletionFailed',
        'ToolCallRequested',
        'ToolCallSettled',
        'ToolCallDetached',
        'ToolCallLateResult',
        'ToolsetChanged',
        'MigrationStarted',
        'MigrationEnded',
        'SubscriptionOpened',
        'SubscriptionEventHeld',
        'SubscriptionEventReceived',
        'ExternalEventReceived',
        'SubscriptionClosed',
        'ChildSpawned',
        'ChildReported',
        'TitleSet',
        'OauthRequested',
        'TimerCancelled',
        'ScheduleSet',
        'ScheduleCame',
        'ScheduleRemoved',
        'CredentialRefreshFailed',
        'CallbackRejected',
        'ChoiceRequested',
        'ChoiceSettled',
        'ChoiceAssigned',
        'ApprovalCounted',
        'TimerSet',
        'TimerFired',
        'TurnInterrupted',
        'BudgetExceeded',
        'ThreadClosed',
      ].sort(),
    );
  });

  it('Q1 every choice that was asked is settled once, or open', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        const scene = walk(plan);
        const asked = ofType(scene, 'ChoiceRequested').map((event) => event.choiceId);
        const settled = ofType(scene, 'ChoiceSettled').map((event) => event.choiceId);
        expect([...settled, ...Object.keys(scene.thread.choices)].sort()).toEqual([...asked].sort());
      }),
      runs,
    );
  });

  it('G1 a thread at rest with something to show has a reason to wake, and a migrating one asks nobody', () => {
    fc.assert(
      fc.property(walks, (plan) => {
        const { thread } = walk(plan, (before, scene) => {
          if (before.thread.migrating !== null && scene.thread.migrating !== null)
            expect(scene.thread.completions).toBe(before.thread.completions);
        });
        const rests = thread.status === 'open' && !thread.stalled && thread.completion === null;
        if (!rests || thread.loading !== null || thread.migrating !== null || blockingCalls(thread).length > 0) return;
        expect(thread.unseen).toBeLessThanOrEqual(thread.merged);
        if (thread.merged > 0 || thread.queuedEvents.length > 0)
          expect(timerOf(thread, 'event_rate') !== undefined || Object.keys(thread.children).length > 0).toBe(true);
      }),
      runs,
    );
  });
});

function sleepsThatEnded(scene: Scene): number {
  const sleeps = new Set(
    ofType(scene, 'TimerSet').flatMap(({ timerId, reason }) => (reason === 'sleep' ? [timerId] : [])),
  );
  const ended = [...ofType(scene, 'TimerFired'), ...ofType(scene, 'TimerCancelled')];
  return ended.filter(({ timerId }) => sleeps.has(timerId)).length;
}

/** A call that was never sent has no callback URL: its result, failure or rejection cannot happen yet. */
function canHappen({ thread, events }: Scene, input: ThreadInput): boolean {
  if (!('toolCallId' in input)) return true;
  const known = events.some((event) => event.type === 'ToolCallRequested' && event.toolCallId === input.toolCallId);
  return known && callOf(thread, input.toolCallId)?.waiting.for !== 'approval';
}

function streamedIn(events: readonly RecordedEvent[]) {
  const kept = events.find((event) => event.type === 'CompletionRecorded');
  return kept?.type === 'CompletionRecorded'
    ? { completionId: kept.completionId, text: kept.message.text, reasoning: '' }
    : null;
}

function expectLegal(messages: readonly ModelMessage[]): void {
  const ids = new Set<string>();
  for (const [place, message] of messages.entries()) {
    const next = messages[place + 1];
    if (message.role === 'tool') expect(messages[place - 1]?.role).toBe('assistant');
    if (message.role !== 'assistant' || message.toolCalls.length === 0) continue;
    expect(next?.role === 'tool' ? next.results.map((entry) => entry.toolCallId) : []).toEqual(
      message.toolCalls.map((entry) => entry.toolCallId),
    );
    for (const { toolCallId } of message.toolCalls) {
      expect(ids.has(toolCallId)).toBe(false);
      ids.add(toolCallId);
    }
  }
}
