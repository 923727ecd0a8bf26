// The messages of an event stream across connections, as one sequence.
//
// Invariants:
//   R1. Each connection begins where its reader is by then: `url` is asked anew.
//   R2. A refusal that reconnecting does not repair ends it, and a server that does not come back in time: counted from
//       the last byte, which may be a heartbeat.
//   R3. A connection without a byte for longer than three heartbeats is dead.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { ApiProblem, ConnectionProblem, problemOf } from './api-problem.ts';
import { jittered, pause, reasonOf, type RetrySettings } from './retrying-fetch.ts';

export interface Connection {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  readonly retry: RetrySettings;
}

export interface ReconnectOptions {
  readonly signal?: AbortSignal;
  /** Called each time the connection is lost, with the reason and the next attempt. */
  readonly onReconnect?: (reason: string, inMs: number) => void;
}

const silenceMsMax = 50_000;
const silenceCheckMs = 5_000;
/** After the first connection, a server that is away may come back within this time. */
const awayMsMax = 600_000;

/** Never ends by itself. @throws ApiProblem, ConnectionProblem (R2), the signal's reason. */
export async function* reconnecting(
  connection: Connection,
  url: () => string,
  { signal, onReconnect }: ReconnectOptions,
): AsyncGenerator<EventSourceMessage, never, undefined> {
  let pauseMs = connection.retry.firstPauseMs;
  let lastHeard = Date.now();
  let silentMsMax = connection.retry.totalMsMax;
  const heard = (): void => void ([lastHeard, silentMsMax] = [Date.now(), awayMsMax]);
  for (;;) {
    let reason = 'the stream ended';
    try {
      for await (const message of messages(connection, url(), heard, signal)) {
        pauseMs = connection.retry.firstPauseMs;
        if (message.event === 'lagged') {
          reason = 'this reader was too slow'; // the log has the missed events
          break;
        }
        yield message;
      }
    } catch (error) {
      signal?.throwIfAborted();
      reason = reconnectReason(error);
      if (Date.now() - lastHeard > silentMsMax)
        throw error instanceof ApiProblem
          ? error
          : new ConnectionProblem(connection.baseUrl, `does not answer (${reason})`, error);
    }
    const waitMs = jittered(pauseMs);
    onReconnect?.(reason, waitMs);
    await pause(waitMs, signal);
    pauseMs = Math.min(pauseMs * 2, connection.retry.pauseMsMax);
  }
}

/** The reason to reconnect; throws an error that reconnecting does not repair. (R2) */
function reconnectReason(error: unknown): string {
  if (error instanceof ApiProblem) {
    if (error.status === 429 || error.status >= 500) return `status ${error.status}`;
    throw error;
  }
  if (error instanceof ConnectionProblem) throw error;
  return reasonOf(error);
}

async function* messages(
  connection: Connection,
  url: string,
  heard: () => void,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const dead = new AbortController();
  const both = signal === undefined ? dead.signal : AbortSignal.any([signal, dead.signal]);
  const response = await connection.fetch(url, {
    headers: { ...connection.headers, accept: 'text/event-stream' },
    signal: both,
  });
  if (response.status === 204) return yield { event: 'end', data: '{}' };
  if (!response.ok) throw await problemOf(response);
  const received: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => received.push(message) });
  let heardAt = Date.now();
  const silence = setInterval(() => {
    if (Date.now() - heardAt > silenceMsMax) dead.abort(new Error('no heartbeat')); // (R3)
  }, silenceCheckMs);
  try {
    const decoder = new TextDecoder();
    // A reader: not every browser can iterate over a body.
    const reader = response.body?.getReader();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      heardAt = Date.now();
      heard();
      parser.feed(decoder.decode(read.value, { stream: true }));
      yield* received.splice(0);
    }
  } finally {
    clearInterval(silence);
    dead.abort();
  }
}
