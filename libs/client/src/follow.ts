// Follows a thread's event stream until it ends.
//
// Invariants:
//   F1. Durable events come gapless, in order, each once, whatever happens to connections: the next connection begins
//       at the last position seen, and what it repeats is dropped. I-19
//   F2. Live frames (delta, retrying, status, choice, oauth, view) are passed on as they come and may repeat after a
//       reconnection.
//   F3. `end`, or 204, ends it: the thread is closed and everything was seen. Nothing else ends it silently.
//   F4. A connection without a byte for longer than three heartbeats is dead.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { ApiProblem, ConnectionProblem, problemOf } from './api-problem.ts';
import { jittered, pause, reasonOf, type RetrySettings } from './retrying-fetch.ts';
import type { components } from './generated/openapi.ts';
import type { ThreadEvent } from './thread-event.ts';

type WaitingOn = components['schemas']['WaitingOn'];

export interface Delta {
  readonly completion_id: string;
  readonly attempt: number;
  readonly offset: number;
  readonly kind: 'text' | 'reasoning' | 'tool_input';
  readonly index: number;
  readonly text: string;
}

/** The model call failed or broke off; it is retried. */
export interface Retrying {
  readonly completion_id: string;
  /** The attempt that failed. */
  readonly attempt: number;
  readonly code: string;
  readonly detail: string;
  readonly host: string | null;
  readonly next_at: string;
}

export type StreamFrame =
  | { readonly frame: 'event'; readonly event: ThreadEvent }
  | { readonly frame: 'delta'; readonly delta: Delta }
  | { readonly frame: 'retrying'; readonly retrying: Retrying }
  | { readonly frame: 'status'; readonly status: string; readonly waitingOn: readonly WaitingOn[] }
  | { readonly frame: 'choice'; readonly choice: components['schemas']['Choice'] }
  | {
      readonly frame: 'oauth';
      readonly toolCallId: string;
      readonly authUrl: string;
      readonly expiresAt: string;
      /** Of a thread below. */
      readonly threadId?: string;
    }
  | { readonly frame: 'view'; readonly viewType: string; readonly content: unknown }
  | { readonly frame: 'end' };

export interface FollowOptions {
  /** The last position already known; 0 (default) for the beginning. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  /** Called each time the connection is lost, with the reason and the next attempt. */
  readonly onReconnect?: (reason: string, inMs: number) => void;
}

interface Connection {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  readonly retry: RetrySettings;
}

const silenceMsMax = 50_000;
const silenceCheckMs = 5_000;
/** After the first connection, a server that is away may come back within this time. */
const awayMsMax = 600_000;

export async function* followThread(
  connection: Connection,
  thread: string,
  options: FollowOptions,
): AsyncGenerator<StreamFrame, void, undefined> {
  const url = `${connection.baseUrl}/v1/threads/${encodeURIComponent(thread)}/events`;
  const { signal } = options;
  let position = options.after ?? 0;
  let pauseMs = connection.retry.firstPauseMs;
  let lastHeard = Date.now();
  let silentMsMax = connection.retry.totalMsMax;
  for (;;) {
    let reason = 'the stream ended';
    try {
      for await (const message of messages(connection, `${url}?after=${position}`, signal)) {
        [lastHeard, silentMsMax, pauseMs] = [Date.now(), awayMsMax, connection.retry.firstPauseMs];
        if (message.event === 'lagged') {
          reason = 'this reader was too slow'; // the log has the missed events
          break;
        }
        const frame = frameOf(message);
        if (frame?.frame === 'event' && !isNext(frame.event, position, connection.baseUrl)) continue;
        if (frame?.frame === 'event') position = frame.event.position;
        if (frame !== null) yield frame;
        if (frame?.frame === 'end') return; // (F3)
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
    options.onReconnect?.(reason, waitMs);
    await pause(waitMs, signal);
    pauseMs = Math.min(pauseMs * 2, connection.retry.pauseMsMax);
  }
}

/** (F1) */
function isNext(event: ThreadEvent, position: number, baseUrl: string): boolean {
  if (event.position <= position) return false;
  if (event.position === position + 1) return true;
  throw new ConnectionProblem(baseUrl, `sent event ${event.position} after ${position}: its stream has a gap`);
}

/** The reason to reconnect; throws an error that reconnecting does not repair. */
function reconnectReason(error: unknown): string {
  if (error instanceof ApiProblem) {
    if (error.status === 503 || error.status === 429 || error.status >= 500) return `status ${error.status}`;
    throw error;
  }
  if (error instanceof ConnectionProblem) throw error;
  return reasonOf(error);
}

async function* messages(
  connection: Connection,
  url: string,
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
    if (Date.now() - heardAt > silenceMsMax) dead.abort(new Error('no heartbeat')); // (F4)
  }, silenceCheckMs);
  try {
    const decoder = new TextDecoder();
    // A reader: not every browser can iterate over a body.
    const reader = response.body?.getReader();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      heardAt = Date.now();
      parser.feed(decoder.decode(read.value, { stream: true }));
      yield* received.splice(0);
    }
  } finally {
    clearInterval(silence);
    dead.abort();
  }
}

/** Null for a frame that this client does not know: new ones may appear. */
function frameOf(message: EventSourceMessage): StreamFrame | null {
  const data = JSON.parse(message.data === '' ? '{}' : message.data) as Record<string, never>;
  switch (message.event) {
    case 'delta':
      return { frame: 'delta', delta: data as unknown as Delta };
    case 'retrying':
      return { frame: 'retrying', retrying: data as unknown as Retrying };
    case 'status':
      return { frame: 'status', status: data['status'] ?? '', waitingOn: data['waiting_on'] ?? [] };
    case 'choice':
      return { frame: 'choice', choice: data as unknown as components['schemas']['Choice'] };
    case 'oauth':
      return {
        frame: 'oauth',
        toolCallId: data['tool_call_id'] ?? '',
        authUrl: data['auth_url'] ?? '',
        expiresAt: data['expires_at'] ?? '',
        ...(data['thread_id'] === undefined ? {} : { threadId: data['thread_id'] }),
      };
    case 'view':
      return { frame: 'view', viewType: data['view_type'] ?? '', content: data['content'] };
    case 'end':
      return { frame: 'end' };
    default:
      return isThreadEvent(data) ? { frame: 'event', event: data } : null;
  }
}

function isThreadEvent(data: object): data is ThreadEvent {
  return 'position' in data && typeof data.position === 'number' && 'type' in data && typeof data.type === 'string';
}
