// Everything that may happen to one call and its thread, in every order: result, duplicate, late confirmation, cancel, event,
// approval, timeout, interruption, close; between any two of them the process dies and the state comes back from its JSON.
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

/** A thread with one call that waits for a person's word and has a timeout once it is sent. */
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

/** Each by name; those that need the state are made when their turn has come. */
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

const orderLength = 6;

function* orders(names: readonly string[], length: number): Generator<readonly string[]> {
  if (length === 0) return yield [];
  for (const name of names)
    for (const rest of orders(
      names.filter((other) => other !== name),
      length - 1,
    ))
      yield [name, ...rest];
}

interface Outcome {
  readonly thread: Thread;
  readonly events: readonly RecordedEvent[];
}

/** As the processor does it: an input that is in the log is not decided again; a call that was not sent has no callback. */
function run(order: readonly string[]): Outcome {
  let { thread } = before;
  const events: RecordedEvent[] = [...before.events];
  const decidedInputs = new Set<string>();
  for (const name of order) {
    const given = happenings[name];
    if (given === undefined) continue;
    const input = typeof given === 'function' ? given(thread) : given;
    const wasSent =
      thread.status === 'closed' || Object.values(thread.calls).every((one) => one.waiting.for !== 'approval');
    if (decidedInputs.has(input.id) || (cannotHappenUnsent.has(name) && !wasSent)) continue;
    const revived = JSON.parse(JSON.stringify(thread)) as Thread; // the process died
    const decision = decide(revived, input, moment(revived, revived.updatedAt + 1_000));
    if (!decision.committed) continue;
    decidedInputs.add(input.id);
    events.push(...decision.events);
    thread = decision.thread;
  }
  return { thread, events };
}

const cannotHappenUnsent = new Set(['result', 'duplicate', 'confirmation', 'event', 'login']);

describe('every order of what may happen to a call', () => {
  it(
    `I-10 I-12 I-15 all ${orderLength} of ${Object.keys(happenings).length}, with a death between any two`,
    { timeout: 180_000 },
    () => {
      let tried = 0;
      for (const order of orders(Object.keys(happenings), orderLength)) {
        const { thread, events } = run(order);
        const bad = faultsOf(thread, events);
        if (bad.length > 0) expect({ order, bad }).toEqual({ order, bad: [] });
        tried += 1;
      }
      expect(tried).toBe(151_200);
    },
  );
});

function faultsOf(thread: Thread, events: readonly RecordedEvent[]): readonly string[] {
  const bad: string[] = [];
  const count = (type: RecordedEvent['type']): number => events.filter((event) => event.type === type).length;
  if (count('ToolCallSettled') + Object.keys(thread.calls).length !== count('ToolCallRequested'))
    bad.push('a call is not settled exactly once');
  if (count('ChoiceRequested') !== count('ChoiceSettled') + Object.keys(thread.choices).length)
    bad.push('a choice is not settled exactly once');
  if (count('SubscriptionOpened') !== count('SubscriptionClosed') + Object.keys(thread.subscriptions).length)
    bad.push('a subscription is neither open nor closed');
  if (count('SubscriptionEventReceived') > count('SubscriptionOpened')) bad.push('an event nobody subscribed to');
  if (
    thread.status === 'closed' &&
    Object.keys({ ...thread.calls, ...thread.timers, ...thread.subscriptions }).length > 0
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
