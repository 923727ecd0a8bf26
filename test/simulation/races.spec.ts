// The race matrix through the real services: result, duplicate, confirmation, event, login, cancel, interruption, close, timeout,
// approval and the end of the process, in every order. The heart alone is searched deeper, in libs/thread.
import { type RecordedEvent, transcript } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { type Ending, type Happening, race } from './races.ts';

const afterwards = [
  'result',
  'duplicate',
  'confirmation',
  'event',
  'login',
  'cancel',
  'interruption',
  'close',
  'timeout',
  'restart',
] as const;

function orders(names: readonly Happening[], length: number): readonly (readonly Happening[])[] {
  if (length === 0) return [[]];
  return names.flatMap((name) =>
    orders(
      names.filter((other) => other !== name),
      length - 1,
    ).map((rest) => [name, ...rest]),
  );
}

/** What is wrong with an ending; nothing, whatever the order was. */
function faultsOf({ events, posts, statuses }: Ending, order: readonly Happening[]): readonly string[] {
  const bad: string[] = [];
  const count = (type: RecordedEvent['type']): number => events.filter((event) => event.type === type).length;
  const sent = (path: string): number => posts.filter(({ url }) => url === `https://tools.test${path}`).length;
  const isClosed = count('ThreadClosed') === 1;
  const isOver = isClosed || ['approval', 'cancel', 'interruption'].some((name) => order.includes(name as Happening));
  if (count('ToolCallRequested') !== 1) bad.push('not one call');
  if (count('ToolCallSettled') !== (isOver ? 1 : 0)) bad.push(`${count('ToolCallSettled')} outcomes of the call`); // I-10
  if (sent('/invoke') > (count('ChoiceSettled') > 0 ? 1 : 0)) bad.push('sent before the approval, or twice'); // I-05 I-07
  if (sent('/cancel_tool_call') > 2)
    bad.push('cancelled more often than once for the call and once for its subscription');
  if (sent('/close_thread') !== (isClosed ? 1 : 0)) bad.push('not one close notice');
  if (statuses.some((status) => status !== 200)) bad.push(`a callback was answered ${statuses.join()}`);
  if (count('SubscriptionEventReceived') > count('SubscriptionOpened')) bad.push('an event nobody subscribed to'); // I-12
  const after = events.slice(events.findIndex(({ type }) => type === 'ThreadClosed') + 1);
  if (isClosed && after.some(({ type }) => type !== 'RequestRefused')) bad.push('something happened after the end');
  try {
    transcript(events); // I-15
  } catch (error) {
    bad.push(`the prompt is not legal: ${String(error)}`);
  }
  const asked = count('CompletionRequested');
  if (asked !== count('CompletionRecorded')) bad.push('a completion has no end'); // I-14
  return bad;
}

/** Everything settles between two happenings, or nothing that needs time does. */
const pausesMs = [1_500, 0];

async function expectAllSound(all: readonly (readonly Happening[])[], topology: 'standalone' | 'durable') {
  for (const pauseMs of pausesMs)
    for (const order of all) {
      const bad = faultsOf(await race(order, topology, pauseMs), order);
      if (bad.length > 0) expect({ order, pauseMs, bad }).toEqual({ order, pauseMs, bad: [] });
    }
}

describe.each(['standalone', 'durable'] as const)('one call, %s', (topology) => {
  it('I-05 I-07 I-10 I-12 any two of eleven', { timeout: 120_000 }, async () => {
    const all = orders(['approval', ...afterwards], 2);
    expect(all).toHaveLength(110);
    await expectAllSound(all, topology);
  });

  it('I-05 I-07 I-10 I-12 any three of the ten that may follow the approval', { timeout: 300_000 }, async () => {
    const all = orders(afterwards, 3).map((order): readonly Happening[] => ['approval', ...order]);
    expect(all).toHaveLength(720);
    await expectAllSound(all, topology);
  });
});
