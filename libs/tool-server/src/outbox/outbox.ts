/**
 * Owns: messages to a callback URL, until each was accepted, refused for good, or has become too old.
 * Not here: the content of the messages; the POST itself (`callback-delivery.ts`).
 *
 * O1. A message is stored before anything is sent, in the transaction of what caused it; its body never changes. T15
 * O2. In order: one message at a time per callback URL and thread; the next one waits until the one before is decided.
 * O3. Retried after 5xx, timeouts and broken connections, with growing pauses; never after 4xx. T15 T16
 * O4. Waiting messages survive a restart: attempts and due time are stored too. T26
 * O5. URL and body are sealed in the store. T32
 * O6. Where a request's timers and connections end with it, the lane that it has begun is taken up by a later request.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallbackDelivery, DeliveryAnswer, Post } from './callback-delivery.ts';
import type { MessageRow, Store } from '../store/store.ts';
import { beginAttempt, type MessageTrace, traceOfMessage } from '../trace/call-trace.ts';

const retries = {
  firstPauseMs: 500,
  pauseMsMax: 60_000,
  /** From a message's creation; then it is given up and logged. */
  totalMsMax: 86_400_000,
  /** Of one attempt. */
  timeoutMs: 10_000,
};

/** The retries of callbacks. All in milliseconds. */
export type DeliverySettings = Readonly<typeof retries>;

export const deliverySettings: DeliverySettings = retries;

export interface OutgoingMessage {
  readonly callbackUrl: string;
  readonly threadId: string;
  /** JSON text, final. */
  readonly body: string;
  /** The same in every attempt; a receiver may use it to recognise a repetition. Random when absent. */
  readonly messageId?: string;
  /** `traceparent` of the POST of its call. */
  readonly trace?: string;
  /** Set on events: they are dropped when their subscription ends by cancellation. T30 */
  readonly subscriptionId?: string;
  /** Not before this time. */
  readonly dueAt?: number;
}

export interface Outbox {
  /** Stores the message; part of the caller's transaction if there is one. */
  readonly add: (message: OutgoingMessage) => void;
  /** Begins to send, including messages of an earlier process. */
  readonly start: () => void;
  readonly dropEvents: (subscriptionId: string) => void;
  readonly waitingEvents: (subscriptionId: string) => number;
  readonly size: () => number;
  /** Waits until everything is sent, at most `ms`; returns earlier when nothing is due in that time. */
  readonly flush: (ms: number) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Goes on with the lanes of requests that have ended in the middle of a step. (O6) */
  readonly takeUp: () => void;
}

/** Thread and trace are absent in messages of older releases. */
interface SealedMessage {
  readonly url: string;
  readonly body: string;
  readonly threadId?: string;
  readonly trace?: MessageTrace;
}

interface Lane {
  readonly waiting: number[];
  /** The time of the next attempt; null during an attempt. */
  restsUntil: number | null;
  /** Its step has ended by then. (O6) */
  stepEndsBy: number;
  /** Ends a rest early. */
  wake: () => void;
  done: Promise<void>;
}

/** How late a step may end before its lane counts as abandoned. (O6) */
const lateMsMax = 5_000;

export function createOutbox(options: {
  readonly store: Store;
  readonly delivery: CallbackDelivery;
  readonly settings: DeliverySettings;
  readonly log: (line: string) => void;
  /** An event was refused: the runtime no longer wants this subscription, or rejects this message. */
  readonly onRefusedEvent: (subscriptionId: string, status: number) => void;
}): Outbox {
  const { store, delivery, settings, log, onRefusedEvent } = options;
  const { messages, vault } = store;
  const lanes = new Map<string, Lane>();
  const attempts = new Set<AbortController>(); // one per attempt: workerd binds a signal to the request that made it
  let isStarted = false;
  let isStopped = false;

  function enqueue(key: string, seq: number): void {
    const known = lanes.get(key);
    if (known === undefined) begin(key, [seq]);
    else known.waiting.push(seq);
  }

  function begin(key: string, waiting: number[]): void {
    const lane: Lane = {
      waiting,
      restsUntil: null,
      stepEndsBy: Date.now(),
      wake: () => {},
      done: Promise.resolve(),
    };
    lanes.set(key, lane);
    const isCurrent = (): boolean => !isStopped && lanes.get(key) === lane; // another lane may have taken it up (O6)
    lane.done = drain(lane, isCurrent)
      .catch((error: unknown) => log(`outbox: a lane broke: ${String(error)}`))
      .finally(() => {
        if (lanes.get(key) === lane) lanes.delete(key);
      });
  }

  async function drain(lane: Lane, isCurrent: () => boolean): Promise<void> {
    await Promise.resolve(); // after the caller's transaction
    for (let seq = lane.waiting[0]; seq !== undefined && isCurrent(); seq = lane.waiting[0]) {
      const row = messages.get(seq);
      lane.stepEndsBy = Date.now() + settings.timeoutMs;
      if (row === undefined)
        lane.waiting.shift(); // dropped, or its transaction was rolled back
      else if (row.due > Date.now()) await rest(lane, row.due);
      else if (await attempt(row)) lane.waiting.shift();
    }
  }

  async function rest(lane: Lane, until: number): Promise<void> {
    Object.assign(lane, { restsUntil: until, stepEndsBy: until });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(until - Date.now(), 2 ** 31 - 1));
      lane.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    lane.restsUntil = null;
  }

  async function post(message: Omit<Post, 'signal'>): Promise<DeliveryAnswer> {
    const abort = new AbortController();
    attempts.add(abort);
    try {
      return await delivery.post({ ...message, signal: abort.signal });
    } finally {
      attempts.delete(abort);
    }
  }

  /** True when the message is decided and gone. */
  async function attempt(row: MessageRow): Promise<boolean> {
    const { url, body, threadId = '', trace = {} } = vault.open('message', row.sealed) as SealedMessage; // (O5)
    const { seq, message, at } = row;
    const attempts = row.attempts + 1;
    const sent = beginAttempt(trace, { callbackUrl: url, threadId, attempt: attempts });
    const { traceparent } = sent;
    const answer = await sent.run(() => post({ callbackUrl: url, messageId: message, body, traceparent }));
    sent.end(answer);
    if (isStopped && answer.kind === 'again') return false; // left for the next process
    const pauseMs = Math.min(settings.firstPauseMs * 2 ** Math.min(attempts - 1, 30), settings.pauseMsMax);
    const due = Date.now() + (answer.kind === 'again' ? (answer.afterMs ?? pauseMs * (0.5 + Math.random() / 2)) : 0);
    if (answer.kind === 'again' && due <= at + settings.totalMsMax) {
      messages.retry(seq, attempts, Math.ceil(due)); // (O3) (O4)
      return false;
    }
    messages.delete(seq);
    const verdict = answer.kind === 'again' ? `given up (${answer.reason})` : `${answer.kind} (${answer.status})`;
    if (answer.kind !== 'accepted' || attempts > 1) log(`message ${message} ${verdict} after ${attempts} attempt(s)`);
    if (answer.kind === 'refused' && row.subscription !== null) onRefusedEvent(row.subscription, answer.status);
    return true;
  }

  return {
    add({ callbackUrl, threadId, body, messageId = randomUUID(), subscriptionId = null, dueAt, trace: ofCall }) {
      const now = Date.now();
      const lane = vault.digest(JSON.stringify([callbackUrl, threadId])); // (O2)
      const trace = traceOfMessage(ofCall, subscriptionId !== null);
      const sealed = vault.seal('message', { url: callbackUrl, body, threadId, trace } satisfies SealedMessage);
      const row = { lane, message: messageId, sealed, subscription: subscriptionId, at: now, due: dueAt ?? now };
      const seq = messages.add(row);
      if (isStarted) enqueue(lane, seq);
    },
    start() {
      isStarted = true;
      for (const { seq, lane } of messages.all()) enqueue(lane, seq);
    },
    dropEvents(subscriptionId) {
      if (messages.deleteOf(subscriptionId) === 0) return;
      for (const lane of lanes.values()) lane.wake();
    },
    waitingEvents: messages.countOf,
    size: messages.count,
    async flush(ms) {
      const until = Date.now() + ms;
      const isBusy = (lane: Lane): boolean => lane.restsUntil === null || lane.restsUntil < until;
      while (Date.now() < until && [...lanes.values()].some(isBusy)) await sleep(5);
    },
    async stop() {
      isStopped = true;
      for (const lane of lanes.values()) lane.wake();
      for (const attempt of attempts) attempt.abort();
      await Promise.all([...lanes.values()].map((lane) => lane.done));
    },
    takeUp() {
      for (const [key, { waiting, stepEndsBy }] of lanes)
        if (stepEndsBy + lateMsMax < Date.now()) begin(key, [...waiting]);
    },
  };
}
