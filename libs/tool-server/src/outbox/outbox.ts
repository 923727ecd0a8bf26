/**
 * Owns: messages to a callback URL, until each was accepted, refused for good, or has become too old.
 * Not here: the content of the messages; the POST itself (`callback-delivery.ts`).
 *
 * O1. A message is stored before anything is sent, in the transaction of what caused it; its body never changes. T15
 * O2. In order: one message at a time per callback URL and thread; the next one waits until the one before is decided.
 * O3. Retried after 5xx, timeouts and broken connections, with growing pauses; never after 4xx. T15 T16
 * O4. Waiting messages survive a restart: attempts and due time are stored too. T26
 * O5. URL and body are sealed in the database. T32
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallbackDelivery } from './callback-delivery.ts';
import type { Database } from '../call/database.ts';
import { beginAttempt, type MessageTrace, traceOfMessage } from '../trace/call-trace.ts';

/** The retries of callbacks. All in milliseconds. */
export interface DeliverySettings {
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
  /** From a message's creation; then it is given up and logged. */
  readonly totalMsMax: number;
  /** Of one attempt. */
  readonly timeoutMs: number;
}

export const deliverySettings: DeliverySettings = {
  firstPauseMs: 500,
  pauseMsMax: 60_000,
  totalMsMax: 86_400_000,
  timeoutMs: 10_000,
};

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
  wake: AbortController;
  done: Promise<void>;
}

export function createOutbox(options: {
  readonly database: Database;
  readonly delivery: CallbackDelivery;
  readonly settings: DeliverySettings;
  readonly log: (line: string) => void;
  /** An event was refused: the runtime no longer wants this subscription, or rejects this message. */
  readonly onRefusedEvent: (subscriptionId: string, status: number) => void;
}): Outbox {
  const { database, delivery, settings, log, onRefusedEvent } = options;
  const lanes = new Map<string, Lane>();
  const stopping = new AbortController();
  let isStarted = false;

  function enqueue(key: string, seq: number): void {
    const lane = lanes.get(key) ?? {
      waiting: [],
      restsUntil: null,
      wake: new AbortController(),
      done: Promise.resolve(),
    };
    lane.waiting.push(seq);
    if (lanes.has(key)) return;
    lanes.set(key, lane);
    lane.done = drain(lane)
      .catch((error: unknown) => log(`outbox: a lane broke: ${String(error)}`))
      .finally(() => lanes.delete(key));
  }

  async function drain(lane: Lane): Promise<void> {
    await Promise.resolve(); // after the caller's transaction
    for (let seq = lane.waiting[0]; seq !== undefined && !stopping.signal.aborted; seq = lane.waiting[0]) {
      const row = database.one('SELECT * FROM outbox WHERE seq = ?', seq);
      if (row === undefined)
        lane.waiting.shift(); // dropped, or its transaction was rolled back
      else if (Number(row['due']) > Date.now()) await rest(lane, Number(row['due']));
      else if (await attempt(seq, row)) lane.waiting.shift();
    }
  }

  async function rest(lane: Lane, until: number): Promise<void> {
    lane.restsUntil = until;
    lane.wake = new AbortController();
    const signal = AbortSignal.any([stopping.signal, lane.wake.signal]);
    await sleep(Math.min(until - Date.now(), 2 ** 31 - 1), undefined, { signal }).catch(() => {}); // an abort ends it early
    lane.restsUntil = null;
  }

  /** True when the message is decided and gone. */
  async function attempt(seq: number, row: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { url, body, threadId = '', trace = {} } = database.vault.open('message', row['sealed']) as SealedMessage; // (O5)
    const [message, attempts, at] = [String(row['message']), Number(row['attempts']) + 1, Number(row['at'])];
    const sent = beginAttempt(trace, { callbackUrl: url, threadId, attempt: attempts });
    const post = { callbackUrl: url, messageId: message, body, traceparent: sent.traceparent, signal: stopping.signal };
    const answer = await sent.run(() => delivery.post(post));
    sent.end(answer);
    if (stopping.signal.aborted && answer.kind === 'again') return false; // left for the next process
    const pauseMs = Math.min(settings.firstPauseMs * 2 ** Math.min(attempts - 1, 30), settings.pauseMsMax);
    const due = Date.now() + (answer.kind === 'again' ? (answer.afterMs ?? pauseMs * (0.5 + Math.random() / 2)) : 0);
    if (answer.kind === 'again' && due <= at + settings.totalMsMax) {
      database.run('UPDATE outbox SET attempts = ?, due = ? WHERE seq = ?', attempts, Math.ceil(due), seq); // (O3) (O4)
      return false;
    }
    database.run('DELETE FROM outbox WHERE seq = ?', seq);
    const verdict = answer.kind === 'again' ? `given up (${answer.reason})` : `${answer.kind} (${answer.status})`;
    if (answer.kind !== 'accepted' || attempts > 1) log(`message ${message} ${verdict} after ${attempts} attempt(s)`);
    if (answer.kind === 'refused' && typeof row['subscription'] === 'string')
      onRefusedEvent(row['subscription'], answer.status);
    return true;
  }

  return {
    add({ callbackUrl, threadId, body, messageId = randomUUID(), subscriptionId = null, dueAt, trace: ofCall }) {
      const now = Date.now();
      const lane = database.vault.digest(JSON.stringify([callbackUrl, threadId])); // (O2)
      const trace = traceOfMessage(ofCall, subscriptionId !== null);
      const sealed = database.vault.seal('message', {
        url: callbackUrl,
        body,
        threadId,
        trace,
      } satisfies SealedMessage);
      const insert =
        'INSERT INTO outbox (lane, message, sealed, subscription, at, due) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq';
      const row = database.one(insert, lane, messageId, sealed, subscriptionId, now, dueAt ?? now);
      if (isStarted) enqueue(lane, Number(row?.['seq']));
    },
    start() {
      isStarted = true;
      for (const row of database.all('SELECT seq, lane FROM outbox ORDER BY seq'))
        enqueue(String(row['lane']), Number(row['seq']));
    },
    dropEvents(subscriptionId) {
      if (database.run('DELETE FROM outbox WHERE subscription = ?', subscriptionId) === 0) return;
      for (const lane of lanes.values()) lane.wake.abort();
    },
    waitingEvents: (subscriptionId) =>
      Number(database.one('SELECT count(*) AS n FROM outbox WHERE subscription = ?', subscriptionId)?.['n']),
    size: () => Number(database.one('SELECT count(*) AS n FROM outbox')?.['n']),
    async flush(ms) {
      const until = Date.now() + ms;
      const isBusy = (lane: Lane): boolean => lane.restsUntil === null || lane.restsUntil < until;
      while (Date.now() < until && [...lanes.values()].some(isBusy)) await sleep(5);
    },
    async stop() {
      stopping.abort();
      await Promise.all([...lanes.values()].map((lane) => lane.done));
    },
  };
}
