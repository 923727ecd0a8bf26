// Subscriptions and their events: into the thread, into its queue, or into a child.
import type { Event } from '../event.ts';
import { threadLimits } from '../policy.ts';
import { callOf, own, type Subscription, type Thread } from '../thread.ts';
import { arrived } from './turn.ts';

export function openSubscription(thread: Thread, toolCallId: string, at: number): Thread {
  const call = callOf(thread, toolCallId);
  const toolServer = call?.toolServer ?? null;
  if (call === undefined || toolServer === null) return thread;
  const { operation } = call;
  const subscription: Subscription = {
    toolCallId,
    operation,
    toolServer,
    arguments: call.arguments,
    since: at,
    events: 0,
    lastEventAt: null,
    minute: { since: at, events: 0 },
  };
  return { ...thread, subscriptions: { ...thread.subscriptions, [toolCallId]: subscription } };
}

/** The minute that an event at this time belongs to, with it. */
export function minuteWith(minute: Subscription['minute'], at: number): Subscription['minute'] {
  return at - minute.since >= 60_000 ? { since: at, events: 1 } : { since: minute.since, events: minute.events + 1 };
}

export function receiveEvent(before: Thread, event: Event<'SubscriptionEventReceived'>, at: number): Thread {
  const subscription = own(before.subscriptions, event.toolCallId);
  // A child is given the event it was opened for; the subscription is its parent's.
  if (subscription === undefined) return event.into === 'thread' ? arrived(before, event.turnId, at) : before;
  const minute = minuteWith(subscription.minute, at);
  const counted = { ...subscription, events: subscription.events + 1, lastEventAt: at, minute };
  const thread = { ...before, subscriptions: { ...before.subscriptions, [event.toolCallId]: counted } };
  if (event.into === 'child') return thread;
  const merged = minute.events > threadLimits.eventsPerMinuteMax;
  if (event.into === 'thread')
    return arrived(merged ? { ...thread, merged: thread.merged + 1 } : thread, event.turnId, at);
  const { toolCallId, eventId, content, final } = event;
  const size = JSON.stringify(content).length;
  const { operation } = subscription;
  const queued = { toolCallId, eventId, content, final, operation, arguments: subscription.arguments, merged, size };
  return { ...thread, queuedEvents: [...thread.queuedEvents, queued] };
}
