// Guarantees to senders: once, in order, or visibly refused. I-01, I-02, I-04, V3
import { inputIds } from '@dormouse/thread';
import type { SentRequest } from './history.ts';
import { ofType, type Reading, type ReadingThread, threadName } from './reading.ts';

/** I-01: every input that was answered 2xx takes effect exactly once, or is refused for good. */
export function acknowledgedIsDecidedOnce(reading: Reading): readonly string[] {
  const { history, byName } = reading;
  if (history.unrest === null) return [];
  const bad: string[] = [];
  for (const request of history.requests) {
    if (request.answeredAt === null) continue;
    const times = byName.get(threadName(request.key))?.decided.get(request.inputId) ?? 0;
    if (times !== 1) bad.push(`${nameOf(request)} was answered 2xx and is in the log ${times} times`);
    else if (request.messageId !== null && endsOf(byName.get(threadName(request.key)), request.messageId) !== 1)
      bad.push(`${nameOf(request)} is not accepted or refused exactly once`);
  }
  bad.push(...lostResults(reading));
  return bad;
}

/** A result that was answered 200 is in the log, or was refused for good because its call had been settled before. */
function lostResults({ history, calls, byName }: Reading): readonly string[] {
  const refused =
    history.finalRefusals === null
      ? null
      : new Set(history.finalRefusals.map(({ key, inputId }) => `${threadName(key)} ${inputId}`));
  const taken = history.callbacks.filter(
    ({ status, type, legitimate }) => status === 200 && type === 'tool_result' && legitimate,
  );
  return taken.flatMap(({ key, toolCallId }) => {
    if (calls.get(toolCallId)?.settled.length === 0)
      return [`the result of ${toolCallId} was answered 200 and its call is open`];
    const isKnown = [inputIds.result(toolCallId), inputIds.confirmation(toolCallId)].some(
      (inputId) =>
        byName.get(threadName(key))?.decided.has(inputId) === true ||
        refused === null ||
        refused.has(`${threadName(key)} ${inputId}`),
    );
    return isKnown ? [] : [`the result of ${toolCallId} was answered 200 and is neither in the log nor refused`];
  });
}

/** How often a message was accepted or refused, or is still in the queue. */
function endsOf(thread: ReadingThread | undefined, messageId: string): number {
  if (thread === undefined) return 0;
  const ends = [
    ...ofType(thread, 'MessageAccepted'),
    ...ofType(thread, 'MessageRefused'),
    ...(thread.end?.queue ?? []),
  ];
  return ends.filter((end) => end.messageId === messageId).length;
}

/** I-02: nothing that was sent is in the log twice, answered or not. */
export function nothingIsDecidedTwice({ threads, history, byName }: Reading): readonly string[] {
  const twice = threads.flatMap((thread) =>
    [...thread.decided]
      .filter(([, times]) => times > 1)
      .map(([input, times]) => `${thread.name}: input ${input} was decided ${times} times`),
  );
  const doubled = history.requests.filter(
    ({ key, messageId }) => messageId !== null && endsOf(byName.get(threadName(key)), messageId) > 1,
  );
  return [...twice, ...doubled.map((request) => `${nameOf(request)} entered twice`)];
}

/** I-04: an input that was sent after another had been acknowledged stands behind it. */
export function orderIsKept({ history, byName }: Reading): readonly string[] {
  const bad: string[] = [];
  for (const [name, requests] of Map.groupBy(history.requests, ({ key }) => threadName(key))) {
    const thread = byName.get(name);
    if (thread === undefined) continue;
    const places = placesOf(thread);
    for (const first of requests) {
      const firstPlace = places.get(first.inputId);
      if (first.answeredAt === null || firstPlace === undefined) continue;
      for (const second of requests) {
        const secondPlace = places.get(second.inputId);
        if (second.sentAt > first.answeredAt && secondPlace !== undefined && secondPlace < firstPlace)
          bad.push(`${nameOf(second)} was sent after ${nameOf(first)} was acknowledged and stands before it`);
      }
    }
  }
  return bad;
}

/** Input to its place among all decided inputs of the thread. */
function placesOf({ commits }: ReadingThread): ReadonlyMap<string, number> {
  return new Map(commits.flatMap((commit) => commit.inputs).map((input, place) => [input, place]));
}

/** V3: an input that was refused for good without a commit never enters. */
export function refusalsAreFinal({ history, byName }: Reading): readonly string[] {
  return (history.finalRefusals ?? [])
    .filter(({ key, inputId }) => byName.get(threadName(key))?.decided.has(inputId) === true)
    .map(({ key, inputId }) => `${threadName(key)}: ${inputId} was refused for good and is in the log`);
}

const nameOf = ({ key, kind, inputId }: SentRequest): string => `${kind} ${inputId} of ${threadName(key)}`;
