// Subscriptions and children: events count only while the subscription is open, once under their id; every child is
// opened once and its last message arrives once. I-12, I-13, I-18
import { inputIds } from '@dormouse/thread';
import { ofType, type Reading, type ReadingThread, repeated, threadName } from './reading.ts';

/** I-12: in the order of the log an event lies between the opening of its subscription and its end. */
export function eventsNeedASubscription({ threads }: Reading): readonly string[] {
  return threads.flatMap((thread) => {
    const open = new Set<string>();
    const bad: string[] = [];
    for (const { event } of thread.events) {
      if (event.type === 'SubscriptionOpened') open.add(event.toolCallId);
      if (event.type === 'ThreadOpened' && event.spawnedBy?.kind === 'event') open.add(event.spawnedBy.toolCallId);
      if (event.type === 'SubscriptionEventReceived' && !open.has(event.toolCallId))
        bad.push(`${thread.name}: an event of ${event.toolCallId} entered, which has no open subscription`);
      if (event.type === 'SubscriptionClosed' && !open.delete(event.toolCallId))
        bad.push(`${thread.name}: the subscription of ${event.toolCallId} was closed and was not open`);
      if (event.type === 'ThreadClosed') open.clear();
    }
    return bad;
  });
}

/** I-13: an event with an id enters once; one that was answered 200 entered, or was refused for good. */
export function identifiedEventsAreOnce({ threads, history, byName }: Reading): readonly string[] {
  const bad: string[] = [];
  for (const thread of threads) {
    const own = ofType(thread, 'SubscriptionEventReceived').filter(() => thread.end?.spawnedBy?.kind !== 'event');
    const ids = own.flatMap(({ toolCallId, eventId }) => (eventId === null ? [] : [`${toolCallId} ${eventId}`]));
    for (const id of repeated(ids)) bad.push(`${thread.name}: event ${id} entered twice`);
  }
  if (history.finalRefusals === null || history.unrest === null) return bad;
  const refused = new Set(history.finalRefusals.map(({ key, inputId }) => `${threadName(key)} ${inputId}`));
  for (const { key, toolCallId, eventId = null, status, legitimate } of history.callbacks) {
    if (eventId === null || status !== 200 || !legitimate) continue;
    const inputId = inputIds.subscriptionEvent(toolCallId, eventId);
    const isDecided = byName.get(threadName(key))?.decided.has(inputId) === true;
    if (!isDecided && !refused.has(`${threadName(key)} ${inputId}`))
      bad.push(`event ${eventId} of ${toolCallId} was answered 200 and is neither in the log nor refused`);
  }
  return bad;
}

/** I-18: a child per spawn, with this parent and place; every closed child's last message is with its parent, once. */
export function childrenAreOpenedOnce({ threads, byName, history }: Reading): readonly string[] {
  const bad: string[] = [];
  const spawned = new Map<string, ReadingThread>();
  for (const parent of threads)
    for (const { event, position } of parent.events) {
      if (event.type !== 'ChildSpawned') continue;
      if (spawned.has(event.childId)) bad.push(`${event.childId} was spawned twice`);
      spawned.set(event.childId, parent);
      const child = byName.get(threadName({ tenant: parent.key.tenant, thread: event.childId }));
      const opened = child === undefined ? undefined : ofType(child, 'ThreadOpened');
      const from = opened?.[0]?.parent;
      if (opened === undefined) {
        if (history.unrest !== null) bad.push(`${parent.name}: child ${event.childId} was never opened`);
      } else if (opened.length !== 1 || from?.threadId !== parent.key.thread || from.position !== position)
        bad.push(`${event.childId} was not opened once, at the place it was spawned`);
    }
  for (const thread of threads) {
    const parent = spawned.get(thread.key.thread);
    if (ofType(thread, 'ThreadOpened')[0]?.parent !== undefined && parent === undefined)
      bad.push(`${thread.name} is nobody's child`);
    if (parent !== undefined) bad.push(...lastWord(thread, parent, history.unrest !== null));
  }
  return bad;
}

function lastWord(child: ReadingThread, parent: ReadingThread, atRest: boolean): readonly string[] {
  const heard = ofType(parent, 'ChildReported').filter(({ childId, closed }) => childId === child.key.thread && closed);
  if (heard.length > 1) return [`${parent.name} heard the last word of ${child.name} ${heard.length} times`];
  const isMissing = child.end?.status === 'closed' && parent.end?.status === 'open' && heard.length === 0;
  return isMissing && atRest ? [`${parent.name} never heard the last word of ${child.name}`] : [];
}
