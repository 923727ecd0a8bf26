// Follows a thread's event stream until it ends.
//
// Invariants:
//   F1. Durable events come gapless, in order, each once, whatever happens to connections: the next connection begins
//       at the last position seen, and what it repeats is dropped. I-19
//   F2. Live frames (delta, retrying, status, choice, oauth, view) are passed on as they come and may repeat after a
//       reconnection.
//   F3. `end`, or 204, ends it: the thread is closed and everything was seen. Nothing else ends it silently.
import type { EventSourceMessage } from 'eventsource-parser';
import { ConnectionProblem } from './api-problem.ts';
import { type Connection, reconnecting, type ReconnectOptions } from './reconnecting.ts';
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

export interface FollowOptions extends ReconnectOptions {
  /** The last position already known; 0 (default) for the beginning. */
  readonly after?: number;
}

export async function* followThread(
  connection: Connection,
  thread: string,
  options: FollowOptions,
): AsyncGenerator<StreamFrame, void, undefined> {
  const url = `${connection.baseUrl}/v1/threads/${encodeURIComponent(thread)}/events`;
  let position = options.after ?? 0;
  for await (const message of reconnecting(connection, () => `${url}?after=${position}`, options)) {
    const frame = frameOf(message);
    if (frame?.frame === 'event' && !isNext(frame.event, position, connection.baseUrl)) continue;
    if (frame?.frame === 'event') position = frame.event.position;
    if (frame !== null) yield frame;
    if (frame?.frame === 'end') return; // (F3)
  }
}

/** (F1) */
function isNext(event: ThreadEvent, position: number, baseUrl: string): boolean {
  if (event.position <= position) return false;
  if (event.position === position + 1) return true;
  throw new ConnectionProblem(baseUrl, `sent event ${event.position} after ${position}: its stream has a gap`);
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
