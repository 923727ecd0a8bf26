// Subscriptions of a thread: opened by a result, fed by events, ended by `final`, a cancel, or the thread's end. Limits
// merge wakes and never drop an event. RAP subscription-events
//
// Invariants:
//   U1. An event counts only while its call's subscription is open; one before the confirmation is held for it. R82
//   U2. Every accepted event is recorded once, on arrival, whatever the thread is doing. I-13
//   U3. `final` closes the subscription, also when the event itself still waits for a child. R75
import type { StableRefusal } from '../decision.ts';
import type { Draft } from '../draft.ts';
import { minuteWith } from '../evolve/subscription.ts';
import type { CancelSubscriptionRequest, ReceivedEvent, SubscriptionEvent } from '../input.ts';
import { threadLimits } from '../policy.ts';
import { type Call, own, type Subscription, timerOf } from '../thread.ts';
import { notifyCancel, sentCall, setThreadTimer } from './call.ts';
import { mayOpenChild, openEventChild, openQueuedChildren } from './child.ts';
import { refuseRequest } from './refusal.ts';
import { beginsTurn, wake } from './wake.ts';

/** Why no further subscription may be opened; null when one may. R83 */
export function subscriptionProblem({ thread, moment }: Draft): string | null {
  const { subscriptionsMax } = threadLimits;
  if (Object.keys(thread.subscriptions).length >= subscriptionsMax)
    return `a thread has at most ${subscriptionsMax} subscriptions`;
  return moment.quota?.isFull('subscriptions') === true ? 'the tenant has as many subscriptions as it may' : null;
}

/** The events that came before this call's confirmation, in the order of their arrival. */
export const heldFor = (draft: Draft, call: Call): readonly ReceivedEvent[] =>
  draft.thread.held.filter((event) => event.toolCallId === call.toolCallId);

export function takeEvent(draft: Draft, input: SubscriptionEvent): StableRefusal | void {
  const { toolCallId, eventId, content, associative, final } = input;
  const event: ReceivedEvent = { toolCallId, eventId, content, associative, final };
  const subscription = own(draft.thread.subscriptions, toolCallId);
  if (subscription === undefined) return hold(draft, input, event);
  if (subscription.toolServer !== input.toolServer) return 'NOT_SUBSCRIBED';
  receive(draft, subscription, event);
  openQueuedChildren(draft);
  wake(draft);
}

/** (U1) A call that may still confirm holds its events; other events are discarded. R82 */
function hold(draft: Draft, input: SubscriptionEvent, event: ReceivedEvent): StableRefusal | void {
  const call = sentCall(draft, input.toolCallId);
  if (call?.toolServer !== input.toolServer) return 'NOT_SUBSCRIBED';
  if (hasRoom(draft, call, event)) draft.emit({ type: 'SubscriptionEventHeld', ...event });
  else
    draft.emit({
      type: 'CallbackRejected',
      toolCallId: call.toolCallId,
      reason: 'more events came before the subscription was confirmed than can be kept',
      code: 'LIMIT_REACHED',
    });
}

function hasRoom(draft: Draft, call: Call, event: ReceivedEvent): boolean {
  const characters = [...draft.thread.held, event].reduce(
    (sum, { content }) => sum + JSON.stringify(content).length,
    0,
  );
  return heldFor(draft, call).length < threadLimits.heldEventsMax && characters <= threadLimits.heldCharactersMax;
}

/** Records one event of an open subscription and assigns it: to this thread, a child, or the queue for one. (U2) */
export function receive(draft: Draft, subscription: Subscription, event: ReceivedEvent): void {
  const { toolCallId } = subscription;
  const minute = minuteWith(subscription.minute, draft.moment.now);
  const tooFast = minute.events > threadLimits.eventsPerMinuteMax;
  const place = event.associative ? 'thread' : placeOf(draft, tooFast);
  if (place === 'child') openEventChild(draft, subscription, event);
  else {
    const turnId = place === 'thread' ? beginsTurn(draft) : undefined;
    draft.emit({ ...event, type: 'SubscriptionEventReceived', into: place, childId: null }, turnId);
  }
  if (tooFast && timerOf(draft.thread, 'event_rate') === undefined)
    setThreadTimer(draft, 'event_rate', minute.since + 60_000);
  if (event.final) draft.emit({ type: 'SubscriptionClosed', toolCallId, reason: 'final' }); // (U3)
}

function placeOf({ thread }: Draft, tooFast: boolean): 'thread' | 'child' | 'queue' {
  if (thread.ancestors.length >= threadLimits.depthMax) return 'thread';
  const { queuedEventsMax, queuedCharactersMax } = threadLimits;
  if (thread.queuedEvents.length >= queuedEventsMax) return 'thread';
  if (thread.queuedEvents.reduce((sum, { size }) => sum + size, 0) >= queuedCharactersMax) return 'thread';
  return !mayOpenChild(thread) || tooFast || thread.queuedEvents.length > 0 ? 'queue' : 'child';
}

/** Ends a subscription of this thread and notifies every tool server. R76, R78 */
export function cancelSubscription(draft: Draft, toolCallId: string): boolean {
  if (own(draft.thread.subscriptions, toolCallId) === undefined) return false;
  draft.emit({ type: 'SubscriptionClosed', toolCallId, reason: 'cancelled' });
  notifyCancel(draft, toolCallId);
  return true;
}

export function requestCancelSubscription(draft: Draft, input: CancelSubscriptionRequest): void {
  if (!cancelSubscription(draft, input.toolCallId))
    return refuseRequest(draft, input, 'NOTHING_TO_STOP', 'this thread has no such subscription');
}
