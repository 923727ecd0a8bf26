// What a page shows of a thread, folded from its history, its stream and what the page itself has sent. Pure.
//
// Invariants:
//   S1. A message has one key from its first letter on: what was sent keeps its own when the thread has it, what was
//       streamed keeps its completion's.
//   S2. A message that was sent is shown once, whichever comes first: the answer to the request, or its event.
//   S3. The first frame after a connection begins drafts, choices and logins anew: the stream sends those that are open
//       again. Until then the ones of before are shown.
//   S4. History and stream may overlap: a position is shown once.
import { type Draft, withDelta } from '../draft.ts';
import type { StreamFrame } from '../follow.ts';
import type { components } from '../generated/openapi.ts';
import { isEvent, textOf, type ThreadEvent } from '../thread-event.ts';

type Schemas = components['schemas'];
type Row = Schemas['Message'];
type Choice = Schemas['Choice'];

/** A message as a page shows it: the fields of the API's, and how far it is. */
export interface ThreadMessage extends Partial<Omit<Row, 'role' | 'text'>> {
  /** Stays the same while the message lives: for React's `key`. */
  readonly key: string;
  readonly role: Row['role'];
  readonly text: string;
  /** Of a message that the model writes. */
  readonly reasoning?: string;
  /** `sending` and `accepted` are of this page's own, until the thread has them; `failed` says why in `error`. */
  readonly state: 'sending' | 'accepted' | 'streaming' | 'done' | 'failed';
  readonly error?: Error;
}

export interface OpenChoice extends Choice {
  /** An answer is under way. */
  readonly isAnswering: boolean;
}

export interface OpenLogin {
  readonly toolCallId: string;
  readonly authUrl: string;
  readonly expiresAt: string;
}

export type Connection = 'connecting' | 'open' | 'reconnecting' | 'ended' | 'failed';

/** What this page has sent and the thread does not have yet. */
interface Sent {
  readonly key: string;
  readonly text: string;
  /** Position of the last event that was seen when it was sent. */
  readonly after: number;
  /** As the API has named it. */
  readonly messageId: string | null;
  readonly error: Error | null;
}

interface KeyedRow extends Row {
  readonly key: string;
}

export interface ThreadState {
  readonly connection: Connection;
  readonly status: string | null;
  readonly waitingOn: readonly Schemas['WaitingOn'][];
  readonly choices: readonly OpenChoice[];
  readonly logins: readonly OpenLogin[];
  readonly error: Error | null;
  /** Of the last event that was seen. */
  readonly position: number;
  readonly rows: readonly KeyedRow[];
  readonly drafts: readonly Draft[];
  readonly sent: readonly Sent[];
  /** By the id of the call. */
  readonly operations: ReadonlyMap<string, string>;
  readonly isFirstFrame: boolean;
}

export const unknownThread: ThreadState = {
  ...{ connection: 'connecting', status: null, waitingOn: [], choices: [], logins: [], error: null, position: 0 },
  ...{ rows: [], drafts: [], sent: [], operations: new Map(), isFirstFrame: true },
};

const placeOf = ({ position, thread_id: inheritedFrom }: Row): string => `${inheritedFrom ?? ''} ${position}`;

/** What was there when the page came, up to `position` and perhaps a little further. */
export function withHistory(state: ThreadState, rows: readonly Row[], position: number): ThreadState {
  return { ...state, rows: rows.map((row) => ({ ...row, key: placeOf(row) })), position };
}

export function withConnection(state: ThreadState, connection: Connection, error: Error | null = null): ThreadState {
  return { ...state, connection, error: error ?? state.error, isFirstFrame: true };
}

export function afterFrame(before: ThreadState, frame: StreamFrame): ThreadState {
  const state = before.isFirstFrame
    ? { ...before, connection: 'open' as const, error: null, choices: [], logins: [], drafts: [], isFirstFrame: false }
    : before; // (S3)
  switch (frame.frame) {
    case 'event':
      return afterEvent(state, frame.event);
    case 'delta':
      return { ...state, drafts: withDelta(state.drafts, frame.delta) };
    case 'status':
      return afterStatus(state, frame.status, frame.waitingOn);
    case 'choice': {
      const others = state.choices.filter(({ id }) => id !== frame.choice.id);
      return { ...state, choices: [...others, { ...frame.choice, isAnswering: false }] };
    }
    case 'oauth': {
      const { toolCallId, authUrl, expiresAt } = frame;
      const others = state.logins.filter((login) => login.toolCallId !== toolCallId);
      return { ...state, logins: [...others, { toolCallId, authUrl, expiresAt }] };
    }
    case 'end':
      return { ...state, connection: 'ended', status: 'closed', drafts: [] };
    default:
      return state; // new frames may appear
  }
}

/** The settling of a descendant's question is no event of this thread: it no longer waits for it. */
function afterStatus(state: ThreadState, status: string, waitingOn: ThreadState['waitingOn']): ThreadState {
  const isOpen = ({ id, thread_id: thread }: OpenChoice): boolean =>
    thread === undefined || waitingOn.some((waiting) => waiting.id === id);
  return { ...state, status, waitingOn, choices: state.choices.filter(isOpen) };
}

function afterEvent(before: ThreadState, event: ThreadEvent): ThreadState {
  const state = { ...before, position: event.position };
  const row = rowOf(state, event);
  const isNew = row !== null && !state.rows.some((known) => placeOf(known) === placeOf(row)); // (S4)
  return withoutEnded(isNew ? { ...state, rows: [...state.rows, row] } : state, event);
}

/** What an event ends: a draft, a choice, a login, the wait for a message. */
function withoutEnded(state: ThreadState, event: ThreadEvent): ThreadState {
  if (isEvent(event, 'tool_call_requested'))
    return { ...state, operations: new Map(state.operations).set(event.tool_call_id, event.operation) };
  if (isEvent(event, 'message_accepted'))
    return { ...state, sent: state.sent.filter(({ messageId }) => messageId !== event.message_id) };
  if (isEvent(event, 'message_refused'))
    return withSent(state, (sent) =>
      sent.messageId === event.message_id ? { ...sent, error: new Error(`${event.code}: ${event.detail}`) } : sent,
    );
  if (isEvent(event, 'completion_recorded') || isEvent(event, 'completion_failed'))
    return { ...state, drafts: state.drafts.filter(({ completionId }) => completionId !== event.completion_id) };
  if (isEvent(event, 'choice_settled')) return withoutChoice(state, event.choice_id);
  if (!isEvent(event, 'tool_call_settled')) return state;
  return {
    ...state,
    choices: state.choices.filter(({ tool_call_id: call }) => call !== event.tool_call_id),
    logins: state.logins.filter(({ toolCallId }) => toolCallId !== event.tool_call_id),
  };
}

function rowOf(state: ThreadState, event: ThreadEvent): KeyedRow | null {
  const { position, at } = event;
  const row = (fields: Omit<Row, 'position' | 'at'>, key = placeOf({ position } as Row)): KeyedRow => ({
    ...{ position, at, ...fields, key },
  });
  if (isEvent(event, 'message_accepted')) {
    const own = state.sent.find(({ messageId }) => messageId === event.message_id);
    return row({ role: 'user', text: textOf(event.content), message_id: event.message_id }, own?.key); // (S1)
  }
  if (isEvent(event, 'completion_recorded')) {
    const { message, interrupted, completion_id: key } = event;
    if (message.text === '') return null; // only tool calls: nothing was said
    return row({ role: 'assistant', text: message.text, ...(interrupted ? { interrupted } : {}) }, key); // (S1)
  }
  if (isEvent(event, 'tool_call_settled')) {
    const { tool_call_id: call, outcome, content, display_as: [display] = [] } = event;
    const operation = state.operations.get(call) ?? state.waitingOn.find(({ id }) => id === call)?.operation;
    const named = operation === undefined ? {} : { operation };
    const shown = display === undefined ? {} : { display };
    return row({ role: 'tool', text: textOf(content), tool_call_id: call, ...named, outcome, ...shown });
  }
  if (isEvent(event, 'subscription_event_received')) {
    const { text, tool_call_id: call, child_id: child } = event;
    return row({ role: 'event', text, tool_call_id: call, ...(child === undefined ? {} : { child_id: child }) });
  }
  if (isEvent(event, 'child_reported')) return row({ role: 'event', text: event.report, child_id: event.child_id });
  if (isEvent(event, 'external_event_received')) {
    const { text, child_id: child } = event;
    return row({ role: 'event', text, ...(child === undefined ? {} : { child_id: child }) });
  }
  if (isEvent(event, 'parent_message_received')) return row({ role: 'event', text: event.text });
  if (isEvent(event, 'schedule_came') && !event.skipped) return row({ role: 'event', text: textOf(event.content) });
  return null;
}

function withSent(state: ThreadState, change: (sent: Sent) => Sent): ThreadState {
  return { ...state, sent: state.sent.map(change) };
}

export function sending(state: ThreadState, key: string, text: string): ThreadState {
  const sent: Sent = { key, text, after: state.position, messageId: null, error: null };
  return { ...state, sent: [...state.sent, sent] };
}

/** The API has taken it; where its event was faster, the row takes the key. (S1, S2) */
export function taken(state: ThreadState, key: string, messageId: string): ThreadState {
  const isThere = state.rows.some((row) => row.message_id === messageId);
  if (!isThere) return withSent(state, (sent) => (sent.key === key ? { ...sent, messageId } : sent));
  return {
    ...state,
    rows: state.rows.map((row) => (row.message_id === messageId ? { ...row, key } : row)),
    sent: state.sent.filter((sent) => sent.key !== key),
  };
}

export const notSent = (state: ThreadState, key: string, error: Error): ThreadState =>
  withSent(state, (sent) => (sent.key === key ? { ...sent, error } : sent));

export const withoutSent = (state: ThreadState, key: string): ThreadState => ({
  ...state,
  sent: state.sent.filter((sent) => sent.key !== key),
});

export const answering = (state: ThreadState, id: string, isAnswering: boolean): ThreadState => ({
  ...state,
  choices: state.choices.map((choice) => (choice.id === id ? { ...choice, isAnswering } : choice)),
});

export const withoutChoice = (state: ThreadState, id: string): ThreadState => ({
  ...state,
  choices: state.choices.filter((choice) => choice.id !== id),
});

/** History, then what the model writes, then what this page has sent. (S2) */
export function messagesOf({ rows, drafts, sent }: ThreadState): readonly ThreadMessage[] {
  const claimed = new Map<string, string>();
  const waiting: Sent[] = [];
  for (const one of sent) {
    // Its event may be here before the answer that names it: it is the first new one with these words.
    const row = rows.find(
      (each) =>
        one.messageId === null &&
        one.error === null &&
        each.role === 'user' &&
        each.position > one.after &&
        each.text === one.text &&
        !claimed.has(each.key),
    );
    if (row === undefined) waiting.push(one);
    else claimed.set(row.key, one.key);
  }
  return [
    ...rows.map((row): ThreadMessage => ({ ...row, key: claimed.get(row.key) ?? row.key, state: 'done' })),
    ...drafts
      .filter(({ text, reasoning }) => text !== '' || reasoning !== '')
      .map(({ completionId, text, reasoning }): ThreadMessage => ({
        ...{ key: completionId, role: 'assistant', text, state: 'streaming' },
        ...(reasoning === '' ? {} : { reasoning }),
      })),
    ...waiting.map(({ key, text, messageId, error }): ThreadMessage => ({
      ...{ key, role: 'user', text },
      state: error === null ? (messageId === null ? 'sending' : 'accepted') : 'failed',
      ...(error === null ? {} : { error }),
      ...(messageId === null ? {} : { message_id: messageId }),
    })),
  ];
}
