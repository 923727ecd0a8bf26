/**
 * Owns: the subscriptions of this server, and the events that they send.
 * Not here: where events come from; a handler subscribes (`context.ts`).
 *
 * S1. Callback URL, thread and call are stored, sealed, in the transaction of the confirmation. T27 T28 T32
 * S2. Nothing is sent after a final event, nor after a cancellation; what still waited then is dropped. T30
 * S3. An event id counts once per subscription; the message it becomes has the same id in every attempt.
 * S4. Events are paced, not lost: a burst passes, the rest is sent later; a full backlog is reported to the emitter.
 *     T23
 * S5. A subscription ends by itself at last, with a final event: cancellations may never arrive. T37
 */
import { randomUUID } from 'node:crypto';
import { encodeCallback } from '@dormouse/protocol';
import { addressOf, type CallAddress, type TakenCall } from './call-address.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Store } from '../store/store.ts';
import type { ThreadStore } from './thread-store.ts';
import { ToolError } from '../define/tool-output.ts';

/**
 * `ended`: events are no longer wanted. `backlog_full`: the runtime takes them more slowly than they come.
 * `server_closed`: this process has closed its server; the subscription lives on in the data directory.
 */
export type EmitOutcome = 'emitted' | 'duplicate' | 'ended' | 'backlog_full' | 'server_closed';

export interface EmitOptions {
  /** Belongs to the work that opened the subscription, such as output that streams. Default: an event of its own. */
  readonly associative?: boolean;
  /** The last one. */
  readonly final?: boolean;
  /** The source's id of this event; the same id is sent once. */
  readonly eventId?: string;
}

export interface Subscription {
  readonly id: string;
  /** The call that subscribed, and its thread. */
  readonly callId: string;
  readonly threadId: string;
  /** Name of the tool. */
  readonly tool: string;
  /** The argument of `ctx.subscribe`. */
  readonly data: unknown;
  readonly openedAt: number;
  /** Aborted when it ends, and when the server closes. */
  readonly signal: AbortSignal;
  /** Sends one event; an object is sent as JSON. @throws RangeError for a text that is too large. T29 */
  readonly emit: (text: string | object, options?: EmitOptions) => EmitOutcome;
  /** Shows state beside the conversation; `{}` clears it. T44 */
  readonly view: (type: string, content: object) => void;
}

export interface SubscriptionLimits {
  readonly eventsPerSecond: number;
  readonly eventsBurst: number;
  readonly eventsWaitingMax: number;
  readonly subscriptionsPerThreadMax: number;
  readonly subscriptionMsMax: number;
}

/** A subscription in the form that is sent to another server. */
export interface MovedSubscription {
  /** Absent in pieces from older releases. */
  readonly id?: string;
  readonly address: CallAddress;
  readonly family: string;
  readonly tool: string;
  readonly data: unknown;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  readonly expiresAt: number;
}

export interface Subscriptions {
  /** Stores a subscription; `confirm` runs in the same transaction and returns false when the call has ended. */
  readonly open: (
    call: TakenCall,
    tool: string,
    options: { readonly data?: unknown; readonly ttlMs?: number },
    confirm: () => boolean,
  ) => Subscription | null;
  /** Ends the subscriptions of calls of this id; the runtime may have used it more than once. */
  readonly cancel: (threadId: string, callId: string) => void;
  /** The subscription of this call, while it lives. */
  readonly of: (call: TakenCall) => Subscription | undefined;
  readonly closeThread: (threadId: string) => void;
  readonly live: (tool?: string) => readonly Subscription[];
  /** Those of a root thread and of the threads that were opened from it. */
  readonly family: (rootThreadId: string) => readonly MovedSubscription[];
  /** Adopts one from another server; null when it is here already. */
  readonly adopt: (moved: MovedSubscription) => Subscription | null;
  /** It lives elsewhere now: nothing more is emitted here, and no message is sent. */
  readonly letGo: (id: string) => void;
  /** The runtime refused an event with this status. */
  readonly refused: (id: string, status: number) => void;
  /** (S5) */
  readonly sweep: () => void;
  /** The process ends, and nothing of this is durable: sends a final event for every subscription. */
  readonly endAll: (text: string) => void;
  /** The process ends: nothing is emitted any more, and what is stored stays for the next one. */
  readonly release: () => void;
}

/** Answers that mean that the URL itself is not wanted any more. */
const deadUrlStatuses = new Set([401, 403, 404, 410]);

interface Stored {
  readonly address: CallAddress;
  /** Absent in data from older releases: then the thread is its own. */
  readonly family?: string;
  readonly data?: unknown;
}

export function createSubscriptions(options: {
  readonly store: Store;
  readonly outbox: Outbox;
  readonly threads: ThreadStore;
  readonly limits: SubscriptionLimits;
  readonly clean: (text: string) => string;
  readonly ended: (subscription: Subscription) => void;
}): Subscriptions {
  const { store, outbox, threads, limits, clean, ended } = options;
  const { vault } = store;
  let isReleased = false;
  const lives = new Map<string, { readonly subscription: Subscription; readonly abort: AbortController }>();
  const idOf = ({ key }: TakenCall): string => `sub_${key}`;
  const movedIdOf = ({ id, address }: MovedSubscription): string =>
    id ?? `sub_${vault.digest(JSON.stringify([address.groupId, address.id])).slice(0, 22)}`;

  for (const { id, tool, sealed, at } of store.subscriptions.all()) {
    const { address, data } = vault.open('subscription', sealed) as Stored;
    revive(id, address, tool, data, at);
  }

  function revive(id: string, address: CallAddress, tool: string, data: unknown, openedAt: number): Subscription {
    const abort = new AbortController();
    const paced = pacer(limits);
    const subscription: Subscription = {
      id,
      callId: address.id,
      threadId: address.groupId,
      tool,
      data,
      openedAt,
      signal: abort.signal,
      emit(text, { associative = false, final = false, eventId } = {}) {
        if (isReleased) return 'server_closed';
        if (!lives.has(id)) return 'ended'; // (S2)
        if (!final && outbox.waitingEvents(id) >= limits.eventsWaitingMax) return 'backlog_full'; // (S4)
        const said = clean(typeof text === 'string' ? text : JSON.stringify(text));
        const body = eventBody(address, said, associative, final);
        const isNew = store.transaction(() => {
          if (eventId !== undefined && !remember(id, eventId)) return false;
          const messageId = `evt_${eventId === undefined ? randomUUID() : vault.digest(`${id} ${eventId}`)}`; // (S3)
          const { callbackUrl, groupId: threadId, trace } = address;
          outbox.add({ callbackUrl, threadId, body, messageId, subscriptionId: id, dueAt: paced(), trace });
          if (final) store.subscriptions.delete(id);
          return true;
        });
        if (final && isNew) finish(id);
        return isNew ? 'emitted' : 'duplicate';
      },
      view: (type, content) => {
        if (lives.has(id)) threads.sendView(address, type, content, clean);
      },
    };
    lives.set(id, { subscription, abort });
    return subscription;
  }

  const remember = (id: string, eventId: string): boolean => store.events.add(id, vault.digest(eventId), Date.now());

  function finish(id: string): void {
    const live = lives.get(id);
    lives.delete(id);
    if (live === undefined) return;
    live.abort.abort();
    ended(live.subscription);
  }

  function insert(moved: MovedSubscription): boolean {
    const { address, family, tool, data, openedAt, expiresAt } = moved;
    const { groupId, id: callId } = address;
    const id = movedIdOf(moved);
    const sealed = vault.seal('subscription', { address: addressOf(address), family, data } satisfies Stored); // (S1)
    const row = { id, thread: groupId, call: callId, tool, sealed, at: openedAt, expires: Math.round(expiresAt) };
    return store.subscriptions.add(row);
  }

  /** Ends without a message, and removes its waiting events. (S2) */
  function drop(id: string): void {
    outbox.dropEvents(id); // also of a subscription that ended by a final event that is not sent yet
    store.subscriptions.delete(id);
    finish(id);
  }

  return {
    open(call, tool, { data, ttlMs }, confirm) {
      const id = idOf(call);
      const now = Date.now();
      if (store.subscriptions.of(call.groupId).length >= limits.subscriptionsPerThreadMax)
        throw new ToolError(
          `this conversation has ${limits.subscriptionsPerThreadMax} subscriptions here already; cancel one first.`,
        );
      const isOpen = store.transaction(() => {
        if (!confirm()) return false;
        const expiresAt = now + Math.min(ttlMs ?? Number.POSITIVE_INFINITY, limits.subscriptionMsMax);
        return insert({ id, address: call, family: call.rootThreadId, tool, data, openedAt: now, expiresAt });
      });
      return isOpen ? revive(id, addressOf(call), tool, data, now) : null;
    },
    cancel(threadId, callId) {
      const ended = store.calls.keysOf(threadId, callId).map((key) => `sub_${key}`); // its last event may wait
      const open = store.subscriptions.of(threadId).filter(({ call }) => call === callId);
      for (const id of new Set([...open.map((row) => row.id), ...ended])) drop(id);
    },
    of: (call) => lives.get(idOf(call))?.subscription,
    closeThread(threadId) {
      for (const { id } of store.subscriptions.of(threadId)) drop(id);
    },
    live: (tool) =>
      [...lives.values()].map((each) => each.subscription).filter((each) => tool === undefined || each.tool === tool),
    family: (root) =>
      store.subscriptions.all().flatMap(({ id, tool, sealed, at, expires }): MovedSubscription[] => {
        const { address, family = address.groupId, data } = vault.open('subscription', sealed) as Stored;
        if (family !== root) return [];
        return [{ id, address, family, tool, data, openedAt: at, expiresAt: expires }];
      }),
    adopt(moved) {
      const { address, tool, data, openedAt } = moved;
      const isNew = store.transaction(() => {
        threads.seen(address.groupId, moved.family);
        return insert(moved);
      });
      return isNew ? revive(movedIdOf(moved), address, tool, data, openedAt) : null;
    },
    letGo(id) {
      store.subscriptions.delete(id);
      lives.get(id)?.abort.abort();
      lives.delete(id);
    },
    refused(id, status) {
      if (deadUrlStatuses.has(status)) drop(id);
    },
    sweep() {
      const over = 'The subscription has ended: it was open for its longest time.'; // (S5)
      for (const id of store.subscriptions.expired(Date.now())) lives.get(id)?.subscription.emit(over, { final: true });
      store.events.sweep(Date.now() - limits.subscriptionMsMax, Date.now() - 86_400_000);
    },
    endAll(text) {
      for (const { subscription } of [...lives.values()]) subscription.emit(text, { final: true });
    },
    release() {
      isReleased = true;
      for (const { abort } of lives.values()) abort.abort();
      lives.clear();
    },
  };
}

function eventBody(address: CallAddress, text: string, associative: boolean, final: boolean): string {
  const { groupId, id: toolCallId } = address;
  return JSON.stringify(encodeCallback({ type: 'subscription_event', groupId, toolCallId, text, associative, final }));
}

/** When the next event may go: at once within the burst, evenly spaced beyond it. (S4) */
function pacer({ eventsPerSecond, eventsBurst }: SubscriptionLimits): () => number {
  const spacingMs = 1_000 / eventsPerSecond;
  let nextAt = 0;
  return () => {
    const now = Date.now();
    nextAt = Math.max(now, nextAt) + spacingMs;
    return Math.max(now, Math.round(nextAt - eventsBurst * spacingMs));
  };
}
