// `Prefer: wait`: the end of the turn that a message began, if it comes in time.
//
// Invariants:
//   Y1. The answer is about the thread after this message was decided, never about the rest before it.
//   Y2. A turn has ended when the thread is at rest: idle, failed, closed, or waiting for a person; then the answer is given
//       at once. Waiting longer than asked answers null, and nothing is lost: the message is in the log.
import type { Clock, Commit, Snapshots, ThreadKey } from '@dormouse/ports';
import { evolve, isAtRest, type OpenStatus, statusOf, type Thread, type WaitingOn, waitingOn } from '@dormouse/thread';
import { loadThread } from '../thread-reader.ts';
import { followCommits, type FollowPorts } from './follow-commits.ts';
import { placedEvents } from './log-scan.ts';
import type { PostedMessage } from './messages.ts';

export interface TurnAnswer {
  readonly id: string;
  readonly position: number;
  readonly status: OpenStatus;
  readonly message?: { readonly text: string };
  readonly lastError?: { readonly code: string; readonly detail: string };
  readonly waitingOn?: readonly WaitingOn[];
}

export type TurnWait = (
  key: ThreadKey,
  message: PostedMessage,
  withinMs: number,
  signal: AbortSignal,
) => Promise<TurnAnswer | null>;

export interface TurnWaitPorts extends FollowPorts {
  readonly snapshots: Snapshots;
  readonly clock: Clock;
}

export function createTurnWait(ports: TurnWaitPorts): TurnWait {
  return async (key, message, withinMs, signal) => {
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    const late = ports.clock.sleep(withinMs, ended).then(() => null);
    try {
      return await Promise.race([turnEnd(ports, key, message, ended), late]);
    } finally {
      stop.abort();
    }
  };
}

async function turnEnd(
  ports: TurnWaitPorts,
  key: ThreadKey,
  message: PostedMessage,
  signal: AbortSignal,
): Promise<TurnAnswer | null> {
  const [decided] = await ports.log.findByInputs(key, [message.inputId]);
  const { thread } = await loadThread(ports, key, decided?.version);
  const turn = new WatchedTurn(thread, message);
  for await (const item of followCommits(ports, key, thread.position, signal)) {
    if (item.what === 'lagged') return null;
    if (item.what === 'commit') turn.see(item.commit);
    // Nothing is judged before all that is stored has been seen: the turn may have gone on.
    if (item.what !== 'delta' && turn.isOver()) return turn.answer();
  }
  return null;
}

/** What is known of the turn so far. */
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

  see(commit: Commit): void {
    this.decided ||= commit.inputs.includes(this.message.inputId); // (Y1)
    for (const { event, at } of placedEvents(commit, this.thread.position)) {
      this.thread = evolve(this.thread, event, at);
      if (!this.decided) continue;
      if (event.type === 'CompletionRecorded' && event.final) this.text = event.message.text;
      if (event.type === 'MessageRefused' && event.messageId === this.message.id) this.refusal = event;
    }
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
    const people = waitingOn(thread);
    return {
      ...about,
      ...(this.text === null ? {} : { message: { text: this.text } }),
      ...(people.length === 0 ? {} : { waitingOn: people }),
    };
  }
}
