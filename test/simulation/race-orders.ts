// All orders of the events, and the violations in the outcome of one.
import { type RecordedEvent, transcript } from '@dormouse/thread';
import type { Ending, Happening } from './races.ts';

/** The matrix: all events of one call, from any source. */
export const matrix = [
  'result',
  'cancel',
  'duplicate',
  'event',
  'close',
  'timeout',
  'interruption',
  'approval',
  'restart',
] as const satisfies readonly Happening[];

export type Order = readonly Happening[];

/** Every order of so many of these. */
export function orders(names: Order, length: number): readonly Order[] {
  if (length === 0) return [[]];
  return names.flatMap((name) =>
    orders(
      names.filter((other) => other !== name),
      length - 1,
    ).map((rest) => [name, ...rest]),
  );
}

/** The order with this number, of all orders of these: 0 is as they stand. */
export function orderAt(names: Order, number: number): Order {
  if (names.length === 0) return [];
  const place = number % names.length;
  const rest = names.filter((_name, index) => index !== place);
  return [names[place] as Happening, ...orderAt(rest, Math.floor(number / names.length))];
}

/** The violations in an outcome; none, whatever the order was. */
export function faultsOf({ events, posts, statuses }: Ending, order: Order): readonly string[] {
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
