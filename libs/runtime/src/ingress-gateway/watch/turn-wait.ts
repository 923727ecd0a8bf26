// `Prefer: wait`: the end of the turn that a message began, if it comes in time.
//
// Invariants:
//   Y1. The answer is about the thread after this message was decided, never about the rest before it.
//   Y2. A turn has ended when the thread is at rest: idle, failed, closed, or waiting for a person; then the answer is
//       given at once. Waiting longer than asked answers null, and nothing is lost: the message is in the log.
//   Y3. A thread that was waited for before is known up to there; another is read once, before the message is posted.
//       Newer commits come with the hints. Nothing more is read until the time is up; then the log is, once, for a lost
//       hint.
//   Y4. A hint that brings the events and the thread spares reading and folding them again.
//   Y5. The answer is on its way before the watch is taken down.
import { ThreadMap, onAbort } from '@dormouse/collections';
import type { Commit, FoldedCommit, ThreadKey, ThreadLog } from '@dormouse/ports';
import {
  evolve,
  isAtRest,
  type OpenStatus,
  type RecordedEvent,
  statusOf,
  type Thread,
  type WaitingOn,
  waitingOn,
} from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { loadThread } from '../../log/thread-reader.ts';
import { type FollowPorts, type HintStream, isBeyond, joins, openHints } from './follow-commits.ts';
import { commitsAfter, placedEvents } from '../read/log-scan.ts';
import type { PostedMessage } from '../write/messages.ts';

export interface TurnAnswer {
  readonly id: string;
  readonly position: number;
  readonly status: OpenStatus;
  readonly message?: { readonly text: string };
  readonly lastError?: { readonly code: string; readonly detail: string };
  readonly waitingOn?: readonly WaitingOn[];
}

export interface TurnWatch {
  /** Once, after the message was posted, and then there is nothing to drop. Null when the turn does not end in time. */
  end(message: PostedMessage): Promise<TurnAnswer | null>;
  /** The message was not posted after all. */
  drop(): void;
}

/** Begins to watch; to be called before the message is posted. Ends by itself after `withinMs`, or with the signal. */
export type WatchTurn = (key: ThreadKey, withinMs: number, signal: AbortSignal) => Promise<TurnWatch>;

export type TurnWaitPorts = FollowPorts & Pick<IngressParts, 'snapshots'>;

export function createTurnWait(ports: TurnWaitPorts): WatchTurn {
  const known = new KnownThreads();

  return async (key, withinMs, signal) => {
    const hints = await openHints(ports, key, withinMs, ({ hint }) => hint === 'committed');
    if (signal.aborted) hints.close(); // an aborted signal calls no listener any more
    const stay = onAbort(signal, () => hints.close());
    const drop = (): void => {
      stay();
      hints.close();
    };
    try {
      const read = known.has(key) ? null : (await loadThread(ports, key)).thread; // (Y3)
      return {
        drop,
        end: (message) => turnEnd(ports, known, { key, hints, before: known.take(key) ?? read, drop }, message),
      };
    } catch (error) {
      drop();
      throw error;
    }
  };
}

interface Watch {
  readonly key: ThreadKey;
  /** Subscribed since before the message was posted. */
  readonly hints: HintStream;
  /** The thread at some time before the message was posted; null when it was not read. */
  readonly before: Thread | null;
  /** Takes the watch down. */
  readonly drop: () => void;
}

async function turnEnd(
  ports: TurnWaitPorts,
  known: KnownThreads,
  { key, hints, before, drop }: Watch,
  message: PostedMessage,
): Promise<TurnAnswer | null> {
  const isNew = before !== null && !message.mayBeOld;
  let turn: WatchedTurn | null = null;
  try {
    turn = new WatchedTurn(isNew ? before : await threadBefore(ports, key, message, before), message);
    if (!isNew) for await (const commit of commitsAfter(ports.log, key, turn.position)) turn.see(commit);
    while (!turn.isOver()) {
      const hint = hints.held() ?? (await hints.take());
      if (hint === 'lagged') return null;
      if (hint === 'over') {
        await readOn(ports.log, key, turn); // (Y3)
        return turn.isOver() ? turn.answer() : null;
      }
      if (hint !== 'nothing' && hint.hint !== 'committed') continue;
      if (hint !== 'nothing' && joins(hint.commit, turn.position)) turn.see(hint.commit, hint.after);
      else if (hint === 'nothing' || isBeyond(hint.commit, turn.position)) await readOn(ports.log, key, turn);
    }
    return turn.answer();
  } finally {
    if (turn !== null) known.keep(key, turn.state);
    setImmediate(drop); // (Y5)
  }
}

/** Reads what the hints did not bring: up to the end of the turn, if the log has it. (Y2) */
async function readOn(log: ThreadLog, key: ThreadKey, turn: WatchedTurn): Promise<void> {
  for await (const commit of commitsAfter(log, key, turn.position)) {
    turn.see(commit);
    if (turn.isOver()) return;
  }
}

/**
 * The thread as it was at some time before the message was decided. (Y1) The thread is read first, then whether the
 * message is decided: in the other order, a message decided between the two would be missed.
 */
async function threadBefore(
  ports: TurnWaitPorts,
  key: ThreadKey,
  message: PostedMessage,
  known: Thread | null,
): Promise<Thread> {
  const thread = known ?? (await loadThread(ports, key)).thread;
  const [decided] = await ports.log.findByInputs(key, [message.inputId]);
  if (!decided || decided.version >= thread.position) return thread;
  return (await loadThread(ports, key, decided.version)).thread;
}

/** Threads that were waited for lately, as far as they were seen. */
class KnownThreads {
  private readonly threads = new ThreadMap<Thread>();
  private static readonly threadsMax = 1_000;
  private static readonly callsMax = 16;

  has(key: ThreadKey): boolean {
    return this.threads.has(key);
  }

  take(key: ThreadKey): Thread | null {
    const known = this.threads.get(key) ?? null;
    this.threads.delete(key);
    return known;
  }

  keep(key: ThreadKey, state: Thread): void {
    if (state.queue.length > 0 || state.calls.length > KnownThreads.callsMax) return; // rare, and large
    this.threads.setWithin(KnownThreads.threadsMax, key, state);
  }
}

/** The turn as far as it was read. */
class WatchedTurn {
  private readonly message: PostedMessage;
  private thread: Thread;
  private decided = false;
  private text: string | null = null;
  private refusal: { readonly code: string; readonly detail: string } | null = null;

  constructor(thread: Thread, message: PostedMessage) {
    this.thread = thread;
    this.message = message;
  }

  get position(): number {
    return this.thread.position;
  }

  get state(): Thread {
    return this.thread;
  }

  see(commit: Commit, after?: FoldedCommit): void {
    this.decided ||= commit.inputs.includes(this.message.inputId); // (Y1)
    if (after === undefined) return this.read(commit);
    if (this.decided) for (const event of after.events) this.hear(event);
    this.thread = after.thread; // (Y4)
  }

  private read(commit: Commit): void {
    for (const { event, at } of placedEvents(commit, this.thread.position)) {
      this.thread = evolve(this.thread, event, at);
      if (this.decided) this.hear(event);
    }
  }

  private hear(event: RecordedEvent): void {
    if (event.type === 'CompletionRecorded' && event.final) this.text = event.message.text;
    if (event.type === 'MessageRefused' && event.messageId === this.message.id) this.refusal = event;
  }

  isOver(): boolean {
    if (!this.decided) return false;
    const queued = this.thread.queue.some(({ messageId }) => messageId === this.message.id);
    return this.refusal !== null || (!queued && (this.thread.status === 'closed' || isAtRest(this.thread))); // (Y2)
  }

  answer(): TurnAnswer {
    const { thread, refusal } = this;
    const about = { id: this.message.id, position: thread.position, status: statusOf(thread) };
    const error = refusal ?? (thread.stalled ? thread.lastError : null);
    if (error !== null) return { ...about, lastError: { code: error.code, detail: error.detail } };
    const open = waitingOn(thread);
    return {
      ...about,
      ...(this.text === null ? {} : { message: { text: this.text } }),
      ...(open.length === 0 ? {} : { waitingOn: open }),
    };
  }
}
