// A thread as it happens: its log, what streams beside it, and the questions that are open.
//
// Invariants:
//   L1. The last chunk is loaded first; the stream goes on behind it, so no event is missed or shown twice.
//   L2. Frames are shown at most once per animation frame, however many come.
//   L3. After a lost connection open questions, logins and views are forgotten: the stream sends them again.
//   L4. A recorded completion removes its draft.
//   L5. The questions and logins of threads below are open as long as the status names them: the stream has no event of
//       their answers.
//   L6. What is spoken begins with the stream, and with the questions that are open then: the past is read, not
//       announced.
import {
  ApiProblem,
  type Draft,
  isEvent,
  type Retrying,
  type StreamFrame,
  type ThreadEvent,
  withDelta,
} from '@dormouse/client';
import { api, ask, client, type Question, type WaitingOn } from '../../api/client.ts';
import { createListeners, type Listeners } from '../../api/listeners.ts';
import { askingSpeech, speechOf } from './event-line.ts';
import { chunkOf, createEventLog, type EventLog } from './event-log.ts';

export interface Login {
  readonly toolCallId: string;
  readonly authUrl: string;
  readonly expiresAt: string;
  /** Of a thread below. */
  readonly threadId?: string;
}

export interface LiveThread {
  readonly log: EventLog;
  readonly state: LiveState;
  readonly subscribe: Listeners['subscribe'];
  /** Follows until the returned function is called. */
  readonly start: () => () => void;
}

export interface LiveState {
  readonly connection: 'loading' | 'live' | 'reconnecting' | 'ended' | 'failed';
  readonly failure: unknown;
  readonly status: string | null;
  readonly waitingOn: readonly WaitingOn[];
  readonly drafts: readonly Draft[];
  readonly retrying: Retrying | null;
  readonly questions: readonly Question[];
  readonly logins: readonly Login[];
  readonly views: ReadonlyMap<string, unknown>;
  /** Position of the last event that changed what the thread itself is: its tools, its title. */
  readonly changedAt: number;
  /** What a screen reader says of the newest answer or question; another object for each. (L6) */
  readonly spoken: { readonly text: string };
}

const nothing: LiveState = {
  connection: 'loading',
  failure: null,
  status: null,
  waitingOn: [],
  drafts: [],
  retrying: null,
  questions: [],
  logins: [],
  views: new Map(),
  changedAt: 0,
  spoken: { text: '' },
};

export function createLiveThread(thread: string, position: number): LiveThread {
  const load = async (after: number, limit: number): Promise<readonly ThreadEvent[]> => {
    const query = { after, limit };
    const answer = await ask(api.GET('/v1/threads/{id}/events', { params: { path: { id: thread }, query } }));
    return answer.data;
  };
  const log = createEventLog(load, position);
  const listeners = createListeners();
  let state = nothing;
  let frame = 0;

  const publish = (): void => {
    frame ||= requestAnimationFrame(() => {
      frame = 0; // (L2)
      listeners.call();
    });
  };
  const set = (change: Partial<LiveState>): void => {
    state = { ...state, ...change };
    publish();
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    const last = Math.max(0, chunkOf(Math.max(1, log.length)));
    await log.want(last); // (L1)
    const onReconnect = (): void =>
      set({ connection: 'reconnecting', questions: [], logins: [], views: new Map(), drafts: [], retrying: null }); // (L3)
    for await (const each of client.follow(thread, { after: log.length, signal, onReconnect })) {
      if (each.frame === 'event') log.append(each.event);
      set({ ...afterFrame(state, each), connection: each.frame === 'end' ? 'ended' : 'live' });
    }
  };

  return {
    log,
    get state() {
      return state;
    },
    subscribe: listeners.subscribe,
    start() {
      const over = new AbortController();
      const run = async (): Promise<void> => {
        try {
          await follow(over.signal);
        } catch (error) {
          if (over.signal.aborted) return;
          set({ connection: 'failed', failure: error });
          if (error instanceof ApiProblem && error.status < 500) return;
          setTimeout(() => !over.signal.aborted && void run(), 5_000);
        }
      };
      void run();
      return () => over.abort(new Error('left'));
    },
  };
}

function afterFrame(state: LiveState, each: StreamFrame): Partial<LiveState> {
  switch (each.frame) {
    case 'event':
      return afterEvent(state, each.event);
    case 'delta':
      return { drafts: withDelta(state.drafts, each.delta), retrying: null };
    case 'retrying':
      return { retrying: each.retrying };
    case 'status':
      return afterStatus(state, each);
    case 'choice':
      return {
        questions: [...state.questions.filter(({ id }) => id !== each.choice.id), each.choice],
        spoken: { text: askingSpeech(each.choice.prompt) },
      };
    case 'oauth': {
      const { frame: _, ...login } = each;
      const others = state.logins.filter(({ toolCallId }) => toolCallId !== login.toolCallId);
      return { logins: [...others, login], spoken: { text: askingSpeech('a login') } };
    }
    case 'view':
      return { views: new Map(state.views).set(each.viewType, each.content) };
    case 'end':
      return { drafts: [], retrying: null };
    default:
      return {}; // new frames may appear
  }
}

/** (L5) */
function afterStatus(state: LiveState, frame: Extract<StreamFrame, { frame: 'status' }>): Partial<LiveState> {
  const { status, waitingOn } = frame;
  const isOpen = (id: string): boolean => waitingOn.some((entry) => entry.id === id);
  return {
    status,
    waitingOn,
    questions: state.questions.filter(({ id, thread_id: below }) => below === undefined || isOpen(id)),
    logins: state.logins.filter(({ toolCallId, threadId }) => threadId === undefined || isOpen(toolCallId)),
  };
}

function afterEvent(state: LiveState, event: ThreadEvent): Partial<LiveState> {
  const spoken = speechOf(event);
  return { ...changeBy(state, event), ...(spoken === null ? {} : { spoken: { text: spoken } }) };
}

function changeBy(state: LiveState, event: ThreadEvent): Partial<LiveState> {
  if (isEvent(event, 'completion_recorded') || isEvent(event, 'completion_failed'))
    return { drafts: state.drafts.filter(({ completionId }) => completionId !== event.completion_id), retrying: null }; // (L4)
  if (isEvent(event, 'choice_settled'))
    return { questions: state.questions.filter(({ id }) => id !== event.choice_id) };
  if (isEvent(event, 'tool_call_settled'))
    return {
      logins: state.logins.filter(({ toolCallId }) => toolCallId !== event.tool_call_id),
      questions: state.questions.filter(({ tool_call_id: id }) => id !== event.tool_call_id),
    };
  if (isEvent(event, 'toolsets_loaded') || isEvent(event, 'title_set')) return { changedAt: event.position };
  return {};
}
