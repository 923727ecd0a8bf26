// Child threads: opened by an event or by the model, with the family's tools and the parent's history by reference;
// they report, and an event's child closes when it has nothing left to do. RAP subscription-events, Threads
//
// Invariants:
//   Y1. A child's id is a function of the parent's log: deciding again, or paying again, opens the same child. I-18
//   Y2. A report enters the parent once, under the child's id and the occasion.
//   Y3. Above the limit of open children events wait in order; a child that closes makes room for the oldest.
import { type Content, externalEventNote, plainText } from '../content.ts';
import type { StableRefusal } from '../decision.ts';
import type { Draft } from '../draft.ts';
import {
  type ArrivedEvent,
  type ChildReport,
  type ExternalEvent,
  inputIds,
  type ParentMessage,
  type ReceivedEvent,
  type SpawnedBy,
  type ThreadOpening,
} from '../input.ts';
import { openChildrenMaxAt, threadLimits } from '../policy.ts';
import { type QueuedEvent, type Subscription, type Thread, timerOf } from '../thread.ts';
import { setThreadTimer } from './call.ts';
import { beginsTurn, wake } from './wake.ts';

const hasRoomForChild = ({ children, ancestors }: Thread): boolean =>
  Object.keys(children).length < openChildrenMaxAt(ancestors.length);

/** Whether a child may be opened now: it gets the family's tools, so they must not be changing. */
export const mayOpenChild = (thread: Thread): boolean =>
  thread.status === 'open' && thread.loading === null && thread.migrating === null && hasRoomForChild(thread);

interface Spawn {
  readonly childId: string;
  readonly spawnedBy: SpawnedBy;
  readonly events?: readonly ArrivedEvent[];
  readonly queuedEvents?: number;
  readonly instructions?: string | null;
}

function spawnedByEvent(of: Subscription | QueuedEvent): SpawnedBy {
  return { kind: 'event', toolCallId: of.toolCallId, operation: of.operation, arguments: of.arguments };
}

/** A threaded event gets a child of its own, at once, also while calls are open here. R74 */
export function openEventChild(draft: Draft, subscription: Subscription, event: ReceivedEvent): void {
  const childId = draft.mint('thr');
  draft.emit({ type: 'SubscriptionEventReceived', ...event, into: 'child', childId });
  open(draft, { childId, spawnedBy: spawnedByEvent(subscription), events: [arrivedEvent(event)] });
}

/** (Y3) Events that came too fast share children at the end of their minute; the others get one each. */
export function openQueuedChildren(draft: Draft): void {
  for (let opened = 0; mayOpenChild(draft.thread); opened++) {
    if (opened === threadLimits.childrenPerCommitMax) return goOnSoon(draft);
    const events = nextQueued(draft);
    const [first] = events;
    if (first === undefined) return;
    const spawn = { childId: draft.mint('thr'), spawnedBy: spawnedByEvent(first), events: events.map(arrivedEvent) };
    open(draft, { ...spawn, queuedEvents: events.length });
  }
}

/** A commit stays small, however many events are queued. */
function goOnSoon(draft: Draft): void {
  if (draft.thread.queuedEvents.length > 0 && timerOf(draft.thread, 'event_rate') === undefined)
    setThreadTimer(draft, 'event_rate', draft.moment.now + 1_000);
}

function nextQueued({ thread }: Draft): readonly QueuedEvent[] {
  const [first] = thread.queuedEvents;
  if (first === undefined) return [];
  if (!first.merged) return [first];
  if (timerOf(thread, 'event_rate') !== undefined) return []; // its minute is not over
  const same = thread.queuedEvents.filter((queued) => queued.toolCallId === first.toolCallId);
  const { eventsPerChildMax, charactersPerChildMax } = threadLimits;
  let size = 0;
  const tooMany = same.findIndex((queued) => (size += queued.size) > charactersPerChildMax);
  return same.slice(0, Math.min(eventsPerChildMax, tooMany === -1 ? same.length : Math.max(1, tooMany)));
}

/** The model requested a child. Returns its id, or why there is none. */
export function spawnThread(
  draft: Draft,
  toolCallId: string,
  instructions: string,
): { readonly childId: string } | { readonly problem: string } {
  const { ancestors } = draft.thread;
  if (ancestors.length >= threadLimits.depthMax)
    return { problem: `threads may be nested ${threadLimits.depthMax} deep, and this one is` };
  if (!hasRoomForChild(draft.thread))
    return { problem: `${openChildrenMaxAt(ancestors.length)} child threads are open already` };
  if (draft.moment.quota?.isFull('threads') === true)
    return { problem: 'the tenant has as many open threads as it may' };
  const childId = draft.mint('thr');
  open(draft, { childId, spawnedBy: { kind: 'call', toolCallId }, instructions });
  return { childId };
}

function open(draft: Draft, spawn: Spawn): void {
  const { childId, spawnedBy, events = [], queuedEvents = 0, instructions = null } = spawn;
  const { kind, toolCallId } = spawnedBy;
  const told = instructions === null ? {} : { instructions };
  draft.emit({ type: 'ChildSpawned', childId, reason: kind, toolCallId, queuedEvents, ...told });
  const { id, agent, model, toolServers, policies, limits, userId, ancestors, toolsets, position, baseUrls } =
    draft.thread;
  const opening: ThreadOpening = {
    kind: 'ThreadOpening',
    id: inputIds.opening(childId),
    agent: { ...agent, model, toolServers, policies, limits },
    userId,
    title: null,
    message: null,
    child: {
      parent: { threadId: id, position },
      ancestors: [...ancestors, id],
      spawnedBy,
      toolsets,
      ...(Object.keys(baseUrls).length === 0 ? {} : { baseUrls }),
      events,
      instructions,
    },
  };
  draft.owe({ do: 'SpawnChild', id: childId, childId, family: ancestors[0] ?? id, opening });
}

const arrivedEvent = ({ toolCallId, eventId, content, final }: ArrivedEvent): ArrivedEvent => ({
  toolCallId,
  eventId,
  content,
  final,
});

/** Owes the parent a report. `occasion` distinguishes it from this child's other reports. (Y2) */
export function reportToParent(draft: Draft, occasion: string, report: Content, closed: boolean): void {
  const { id, parent } = draft.thread;
  if (parent === null) return;
  const effectId = inputIds.childReport(id, occasion);
  draft.owe({ do: 'ReportToParent', id: effectId, parentId: parent.threadId, report, closed });
}

/** An event that belongs to nothing in this thread: it enters the thread, or begins a child of its own. */
export function takeExternalEvent(draft: Draft, input: ExternalEvent): void {
  const { source, eventId, content, associative, requestId } = input;
  const { thread } = draft;
  const hasChild = !associative && thread.ancestors.length < threadLimits.depthMax && mayOpenChild(thread);
  const childId = hasChild ? draft.mint('thr') : null;
  const received = { source, eventId, content, associative, childId };
  draft.emit({ type: 'ExternalEventReceived', ...received }, hasChild ? undefined : beginsTurn(draft));
  if (childId !== null) {
    const spawnedBy: SpawnedBy = { kind: 'event', toolCallId: requestId, operation: source, arguments: {} };
    const instructions = `${externalEventNote(received)}\n${plainText(content)}`;
    open(draft, { childId, spawnedBy, instructions });
  }
  wake(draft);
}

export function takeReport(draft: Draft, input: ChildReport): void {
  const { childId, report, closed } = input;
  draft.emit({ type: 'ChildReported', childId, report, closed }, beginsTurn(draft));
  if (closed) openQueuedChildren(draft);
  wake(draft);
}

export function takeParentMessage(draft: Draft, input: ParentMessage): StableRefusal | void {
  if (draft.thread.parent?.threadId !== input.parentId) return 'NOT_THE_PARENT';
  draft.emit({ type: 'ParentMessageReceived', content: input.content }, beginsTurn(draft));
  wake(draft);
}
