// A thread that a page shows: followed while it is watched, and what the page sends to it.
//
// Invariants:
//   T1. A thread of a client has one store, however many components show it, and one connection. The connection begins
//       with the first watcher and ends with the last one; a watcher that comes in the same tick keeps it. What a page
//       has loaded and nothing watches within `unwatchedMsMax` ends too.
//   T2. A store that goes on after its end begins at the position that it has seen.
//   T3. Listeners are called at most once per `frameMs`, however many frames come.
//   T4. What a page sends never throws: its message, the choice or `error` says what went wrong.
import { ApiProblem } from '../api-problem.ts';
import { ask, type Client, whole } from '../client.ts';
import { freshKey } from '../fresh-key.ts';
import type { components } from '../generated/openapi.ts';
import { pause } from '../retrying-fetch.ts';
import {
  afterFrame,
  answering,
  messagesOf,
  notSent,
  sending,
  taken,
  type ThreadMessage,
  type ThreadState,
  unknownThread,
  withConnection,
  withHistory,
  withoutChoice,
  withoutSent,
} from './thread-state.ts';

export type ChoiceAnswer = components['schemas']['ChoiceAnswer'];

export interface ThreadSnapshot extends Pick<
  ThreadState,
  'connection' | 'status' | 'waitingOn' | 'choices' | 'logins' | 'error' | 'position'
> {
  readonly messages: readonly ThreadMessage[];
  /** Nothing of the thread is here yet. */
  readonly isLoading: boolean;
}

export interface ThreadActions {
  /** Shown at once. Resolves to whether it was taken. (T4) */
  send(text: string): Promise<boolean>;
  /** The same words again, or no more, for a message in the state `failed`. */
  resend(key: string): Promise<boolean>;
  discard(key: string): void;
  /** An approval with `allow` is bound to the arguments that were shown. Resolves to whether it was taken. (T4) */
  answer(choiceId: string, answer: Partial<ChoiceAnswer>): Promise<boolean>;
  interrupt(): Promise<boolean>;
}

export interface ThreadStore {
  readonly actions: ThreadActions;
  readonly snapshot: () => ThreadSnapshot;
  /** Follows while there is a listener. (T1) */
  readonly subscribe: (listener: () => void) => () => void;
  /** The beginning, also before anything watches. @throws what keeps it from being read. */
  loaded(): Promise<void>;
}

const unwatchedMsMax = 10_000;
const frameMs = 16;
const againAfterMs = 5_000;

const stores = new WeakMap<Client, Map<string, ThreadStore>>();

/** (T1) */
export function threadStoreOf(client: Client, threadId: string): ThreadStore {
  const ofClient = stores.get(client) ?? new Map<string, ThreadStore>();
  stores.set(client, ofClient);
  const known = ofClient.get(threadId);
  if (known !== undefined) return known;
  const store = createThreadStore(client, threadId, (isInUse) => {
    if (isInUse) ofClient.set(threadId, store);
    else if (ofClient.get(threadId) === store) ofClient.delete(threadId);
  });
  ofClient.set(threadId, store);
  return store;
}

/** `use` is told when the store begins to be used, and when it ends. */
export function createThreadStore(
  client: Client,
  threadId: string,
  use: (isInUse: boolean) => void = () => {},
): ThreadStore {
  const { api } = client;
  const listeners = new Set<() => void>();
  let state = unknownThread;
  let shown = snapshotOf(state);
  let publishing: ReturnType<typeof setTimeout> | null = null;
  let unwatched: ReturnType<typeof setTimeout> | null = null;
  let running: AbortController | null = null;
  let beginning = deferred();

  function publish(): void {
    publishing ??= setTimeout(() => {
      publishing = null; // (T3)
      shown = snapshotOf(state);
      for (const listener of listeners) listener();
    }, frameMs);
  }

  function set(next: ThreadState): void {
    if (next === state) return;
    state = next;
    publish();
  }

  /** At once: what a person has done is seen before anything else happens. */
  function setNow(next: ThreadState): void {
    state = next;
    shown = snapshotOf(state);
    for (const listener of listeners) listener();
  }

  async function load(signal: AbortSignal): Promise<void> {
    const path = { id: threadId };
    const { position, status } = await ask(api.GET('/v1/threads/{id}', { params: { path }, signal }));
    const rows = await whole((query) =>
      ask(api.GET('/v1/threads/{id}/messages', { params: { path, query: { ...query, limit: 200 } }, signal })),
    );
    setNow({ ...withHistory(state, rows, position), status });
  }

  async function follow(signal: AbortSignal): Promise<void> {
    if (state.status === null) await load(signal); // (T2)
    beginning.resolve();
    const onReconnect = (): void => set(withConnection(state, 'reconnecting'));
    for await (const frame of client.follow(threadId, { after: state.position, signal, onReconnect })) {
      if (signal.aborted) return;
      set(afterFrame(state, frame));
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        return await follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        const isFinal = error instanceof ApiProblem && error.status < 500;
        if (isFinal) beginning.reject(error);
        set(withConnection(state, isFinal ? 'failed' : 'reconnecting', errorOf(error)));
        if (isFinal) return;
        await pause(againAfterMs, signal).catch(() => {}); // aborted: the loop ends
      }
    }
  }

  function start(): void {
    if (unwatched !== null) clearTimeout(unwatched);
    unwatched = null;
    if (running !== null) return;
    use(true);
    running = new AbortController();
    if (state.connection === 'ended') return;
    if (state.connection === 'failed') beginning = deferred();
    state = { ...withConnection(state, 'connecting'), error: null };
    shown = snapshotOf(state);
    void run(running.signal);
  }

  function stopUnlessWatched(afterMs: number): void {
    if (unwatched !== null) clearTimeout(unwatched);
    unwatched = setTimeout(() => {
      if (listeners.size > 0) return;
      running?.abort(new Error('nothing watches the thread'));
      running = null;
      if (publishing !== null) clearTimeout(publishing);
      publishing = null;
      use(false);
    }, afterMs);
  }

  const attempt = async (work: () => Promise<unknown>, failed: (error: Error) => void): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      failed(errorOf(error)); // (T4)
      return false;
    }
  };

  async function post(key: string, text: string): Promise<boolean> {
    return attempt(
      async () => {
        const headers = { 'idempotency-key': key }; // sent twice, said once
        const params = { path: { id: threadId } };
        const { id } = await ask(api.POST('/v1/threads/{id}/messages', { params, headers, body: { text } }));
        set(taken(state, key, id));
      },
      (error) => set(notSent(state, key, error)),
    );
  }

  const fail = (error: Error): void => set({ ...state, error });

  const actions: ThreadActions = {
    send(text) {
      const key = freshKey();
      setNow(sending(state, key, text));
      return post(key, text);
    },
    async resend(key) {
      const failed = state.sent.find((sent) => sent.key === key && sent.error !== null);
      if (failed === undefined) return false;
      const next = failed.messageId === null ? key : freshKey(); // the thread refused it: another message
      setNow(sending(withoutSent(state, key), next, failed.text));
      return post(next, failed.text);
    },
    discard: (key) => setNow(withoutSent(state, key)),
    answer(choiceId, given) {
      const choice = state.choices.find(({ id }) => id === choiceId);
      const path = { id: choice?.thread_id ?? threadId, chc: choiceId };
      const shownArguments = given.decision === 'allow' ? choice?.arguments_hash : undefined;
      const body = { ...(shownArguments === undefined ? {} : { arguments_hash: shownArguments }), ...given };
      setNow(answering(state, choiceId, true));
      return attempt(
        async () => {
          await ask(api.POST('/v1/threads/{id}/choices/{chc}', { params: { path }, body: body as ChoiceAnswer }));
          set(withoutChoice(state, choiceId));
        },
        (error) => {
          const isOver = error instanceof ApiProblem && error.code === 'CHOICE_SETTLED';
          set({ ...(isOver ? withoutChoice(state, choiceId) : answering(state, choiceId, false)), error });
        },
      );
    },
    interrupt: () =>
      attempt(() => ask(api.POST('/v1/threads/{id}/interrupt', { params: { path: { id: threadId } } })), fail),
  };

  return {
    actions,
    snapshot: () => shown,
    subscribe(listener) {
      const own = (): void => listener(); // one function may listen twice
      listeners.add(own);
      start();
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stopUnlessWatched(0); // (T1)
      };
    },
    loaded() {
      if (running === null) {
        start();
        stopUnlessWatched(unwatchedMsMax);
      }
      return beginning.promise;
    },
  };
}

function snapshotOf(state: ThreadState): ThreadSnapshot {
  const { connection, status, waitingOn, choices, logins, error, position } = state;
  return {
    ...{ connection, status, waitingOn, choices, logins, error, position },
    messages: messagesOf(state),
    isLoading: status === null,
  };
}

interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

function deferred(): Deferred {
  const made: { -readonly [Part in keyof Deferred]?: Deferred[Part] } = {};
  made.promise = new Promise<void>((resolve, reject) => Object.assign(made, { resolve, reject }));
  made.promise.catch(() => {}); // it is thrown to those that ask
  return made as Deferred;
}

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
