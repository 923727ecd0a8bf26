// A thread as it happens: its log, what streams beside it, and the questions that are open.
//
// Invariants:
//   L1. The last chunk is loaded first; the stream goes on behind it, so no event is missed or shown twice.
//   L2. Frames are shown at most once per animation frame, however many come.
//   L3. After a lost connection open questions, logins and views are forgotten: the stream sends them again.
//   L4. A new attempt replaces the draft of the one before, and a recorded completion removes it.
import { ApiProblem, isEvent, type Delta, type Retrying, type StreamFrame, type ThreadEvent } from '@dormouse/client';
import { api, ask, client, type Question, type WaitingOn } from '../../api/client.ts';
import { chunkOf, createEventLog, type EventLog } from './event-log.ts';

export interface Draft {
  readonly completionId: string;
  readonly attempt: number;
  readonly text: string;
  readonly reasoning: string;
  /** By index of the call. */
  readonly toolInputs: readonly string[];
}

export interface Login {
  readonly toolCallId: string;
  readonly authUrl: string;
  readonly expiresAt: string;
}

export interface LiveThread {
  readonly log: EventLog;
  readonly state: LiveState;
  readonly subscribe: (listener: () => void) => () => void;
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
};

export function createLiveThread(thread: string, position: number): LiveThread {
  const load = async (after: number, limit: number): Promise<readonly ThreadEvent[]> => {
    const query = { after: String(after), limit: String(limit) };
    const answer = await ask(api.GET('/v1/threads/{thread}/events', { params: { path: { thread }, query } }));
    return answer.data;
  };
  const log = createEventLog(load, position);
  const listeners = new Set<() => void>();
  let state = nothing;
  let frame = 0;

  const publish = (): void => {
    frame ||= requestAnimationFrame(() => {
      frame = 0; // (L2)
      for (const listener of listeners) listener();
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
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
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
      return { status: each.status, waitingOn: each.waitingOn };
    case 'choice':
      return { questions: [...state.questions.filter(({ id }) => id !== each.choice.id), each.choice] };
    case 'oauth': {
      const { toolCallId, authUrl, expiresAt } = each;
      const others = state.logins.filter((login) => login.toolCallId !== toolCallId);
      return { logins: [...others, { toolCallId, authUrl, expiresAt }] };
    }
    case 'view':
      return { views: new Map(state.views).set(each.viewType, each.content) };
    case 'end':
      return { drafts: [], retrying: null };
    default:
      return {}; // new frames may appear
  }
}

function afterEvent(state: LiveState, event: ThreadEvent): Partial<LiveState> {
  if (isEvent(event, 'completion_recorded') || isEvent(event, 'completion_failed'))
    return { drafts: state.drafts.filter(({ completionId }) => completionId !== event.completion_id), retrying: null }; // (L4)
  if (isEvent(event, 'choice_settled'))
    return { questions: state.questions.filter(({ id }) => id !== event.choice_id) };
  if (isEvent(event, 'tool_call_settled'))
    return {
      logins: state.logins.filter(({ toolCallId }) => toolCallId !== event.tool_call_id),
      questions: state.questions.filter(({ tool_call_id: id }) => id !== event.tool_call_id),
    };
  return {};
}

/** (L4) */
export function withDelta(drafts: readonly Draft[], delta: Delta): readonly Draft[] {
  const { completion_id: completionId, attempt, kind, index, offset, text } = delta;
  const known = drafts.find((draft) => draft.completionId === completionId);
  if (known !== undefined && known.attempt > attempt) return drafts;
  const empty: Draft = { completionId, attempt, text: '', reasoning: '', toolInputs: [] };
  const before = known?.attempt === attempt ? known : empty;
  const spliced = (so: string): string => so.slice(0, offset) + text;
  const next: Draft =
    kind === 'tool_input'
      ? { ...before, toolInputs: withInput(before.toolInputs, index, spliced(before.toolInputs[index] ?? '')) }
      : { ...before, [kind]: spliced(before[kind]) };
  return known === undefined ? [...drafts, next] : drafts.map((draft) => (draft === known ? next : draft));
}

const withInput = (inputs: readonly string[], index: number, text: string): readonly string[] =>
  Array.from({ length: Math.max(inputs.length, index + 1) }, (_, place) =>
    place === index ? text : (inputs[place] ?? ''),
  );
