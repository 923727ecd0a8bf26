// Everything that may happen to one call and its thread, in every order: result, duplicate, late confirmation, cancel,
// event, approval, timeout, interruption, close; between any two of them the process dies and the state is read back
// from its JSON.
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import type { RecordedEvent } from './event.ts';
import type { ThreadInput } from './input.ts';
import {
  answered,
  call,
  cancel,
  close,
  decided,
  happened,
  interrupt,
  loginAsked,
  moment,
  opening,
  play,
  result,
  said,
  type Scene,
  subscribed,
  toolsLoaded,
} from './spec/scene.ts';
import type { Thread } from './thread.ts';
import { transcript } from './transcript.ts';

/** A thread with one call that waits for a person's approval and has a timeout once it is sent. */
const before = play(
  opening({ limits: { toolTimeoutMs: { default: 60_000 } } }),
  toolsLoaded,
  said('m1'),
  answered('', call('delete_everything')),
);

const fromTheBeginning = (make: (scene: Scene) => ThreadInput): ThreadInput => make(before);
const timeout = (thread: Thread): ThreadInput => {
  const timer = Object.values(thread.timers)[0];
  return { kind: 'TimerFiring', id: `t:${timer?.timerId}`, timerId: timer?.timerId ?? 'tmr_none', scheduledFor: 0 };
};

/** Inputs by name; those that need the state are made when they are played. */
const happenings: Readonly<Record<string, ThreadInput | ((thread: Thread) => ThreadInput)>> = {
  result: fromTheBeginning(result()),
  duplicate: { ...fromTheBeginning(result(0, 'another')), id: fromTheBeginning(result()).id },
  confirmation: { ...fromTheBeginning(subscribed()), id: 'r:second-post' },
  cancel: fromTheBeginning(cancel()),
  event: fromTheBeginning(happened(0, 'news', { id: 'e1', associative: true })),
  login: fromTheBeginning(loginAsked()),
  approval: fromTheBeginning(decided('allow')),
  timeout,
  interruption: interrupt('req_i', true),
  close: close(),
};

interface Happened {
  readonly order: readonly string[];
  readonly thread: Thread;
  readonly events: readonly RecordedEvent[];
  /** Inputs that are in the log. */
  readonly inputs: ReadonlySet<string>;
}

/**
 * One more input, as the processor handles it: an input that is in the log is not decided again; a call that was not
 * sent has no callback. The process dies before it.
 */
function then(happened: Happened, name: string): Happened {
  const { thread, inputs } = happened;
  const order = [...happened.order, name];
  const given = happenings[name];
  const input = typeof given === 'function' ? given(thread) : given;
  const wasSent = thread.status === 'closed' || thread.calls.every((one) => one.waiting.for !== 'approval');
  if (input === undefined || inputs.has(input.id) || (cannotHappenUnsent.has(name) && !wasSent))
    return { ...happened, order };
  const revived = JSON.parse(JSON.stringify(thread)) as Thread;
  const decision = decide(revived, input, moment(revived, revived.updatedAt + 1_000));
  if (!decision.committed) return { ...happened, order };
  return {
    order,
    thread: decision.thread,
    events: [...happened.events, ...decision.events],
    inputs: new Set([...inputs, input.id]),
  };
}

const cannotHappenUnsent = new Set(['result', 'duplicate', 'confirmation', 'event', 'login']);

/** Plays every order of this many of these inputs, with all its prefixes; returns how many orders were completed. */
function explore(names: readonly string[], length: number, happened: Happened): number {
  const bad = faultsOf(happened.thread, happened.events);
  if (bad.length > 0) expect({ order: happened.order, bad }).toEqual({ order: happened.order, bad: [] });
  if (length === 0) return 1;
  return names.reduce(
    (seen, name) =>
      seen +
      explore(
        names.filter((other) => other !== name),
        length - 1,
        then(happened, name),
      ),
    0,
  );
}

describe('every order of what may happen to a call', () => {
  const nothing: Happened = { order: [], thread: before.thread, events: before.events, inputs: new Set() };
  const all = Object.keys(happenings);
  const sent = then(nothing, 'approval');
  const afterwards = all.filter((name) => name !== 'approval');

  it('I-10 I-12 I-15 all 6 of 10, with a death between any two', () => {
    expect(all).toHaveLength(10);
    expect(explore(all, 6, nothing)).toBe(151_200);
  });

  it('I-10 I-12 I-15 all 7 of the 9 that may follow the approval', () => {
    expect(explore(afterwards, 7, sent)).toBe(181_440);
  });

  it(
    'I-10 I-12 I-15 result, duplicate, cancel, event, timeout, interruption and close to the last',
    { timeout: 120_000 },
    () => {
      const named = ['result', 'duplicate', 'cancel', 'event', 'timeout', 'interruption', 'close'];
      expect(explore(named, named.length, sent)).toBe(5_040);
      expect(explore(named, named.length, then(sent, 'login'))).toBe(5_040);
      expect(explore(named, named.length, then(sent, 'confirmation'))).toBe(5_040);
      expect(explore([...named, 'approval'], named.length + 1, nothing)).toBe(40_320);
    },
  );
});

function faultsOf(thread: Thread, events: readonly RecordedEvent[]): readonly string[] {
  const bad: string[] = [];
  const count = (type: RecordedEvent['type']): number => events.filter((event) => event.type === type).length;
  if (count('ToolCallSettled') + thread.calls.length !== count('ToolCallRequested'))
    bad.push('a call is not settled exactly once');
  if (count('ChoiceRequested') !== count('ChoiceSettled') + Object.keys(thread.choices).length)
    bad.push('a choice is not settled exactly once');
  if (count('SubscriptionOpened') !== count('SubscriptionClosed') + Object.keys(thread.subscriptions).length)
    bad.push('a subscription is neither open nor closed');
  if (count('SubscriptionEventReceived') > count('SubscriptionOpened')) bad.push('an event nobody subscribed to');
  if (
    thread.status === 'closed' &&
    thread.calls.length + Object.keys({ ...thread.timers, ...thread.subscriptions }).length > 0
  )
    bad.push('something is open in a closed thread');
  const closedAt = events.findIndex(({ type }) => type === 'ThreadClosed');
  const after = closedAt < 0 ? [] : events.slice(closedAt + 1);
  if (after.some(({ type }) => type !== 'RequestRefused' && type !== 'MessageRefused'))
    bad.push('something happened after the end');
  try {
    transcript(events);
  } catch (error) {
    bad.push(`the prompt is not legal: ${String(error)}`);
  }
  return bad;
}
