// The log of one thread as a stream that goes on: what is stored, then what comes, without gap and without repeat.
//
// Invariants:
//   F1. Subscribe first, then read the log, then forward what is newer: nothing falls between. design §6
//   F2. The feed is a hint: a commit that does not join the last one makes us read the log, and without any hint the log is
//       read again every `pollMs`. Losing hints costs time, never correctness.
//   F3. What waits for a slow reader is bounded; past that the stream says `lagged` and ends.
import type { Clock, Commit, Delta, Hint, LiveFeed, ThreadKey, ThreadLog } from '@dormouse/ports';
import { commitsAfter } from './log-scan.ts';

export type Followed =
  | { readonly what: 'commit'; readonly commit: Commit }
  | { readonly what: 'delta'; readonly delta: Delta }
  /** Everything that was stored when the stream began has been given. */
  | { readonly what: 'caught_up'; readonly soFar: readonly Delta[] }
  | { readonly what: 'lagged' };

export interface FollowPorts {
  readonly log: ThreadLog;
  readonly feed: LiveFeed;
  readonly clock: Clock;
}

const waitingHintsMax = 5_000;
const pollMs = 15_000;

/** Follows from the commit that holds the event after `after` until the signal aborts. */
export async function* followCommits(
  ports: FollowPorts,
  key: ThreadKey,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  const inbox = new HintInbox(ports.clock, signal);
  const unsubscribe = await ports.feed.subscribe(key, (hint) => inbox.put(hint)); // (F1)
  try {
    let position = after;
    for await (const commit of commitsAfter(ports.log, key, position)) {
      yield { what: 'commit', commit };
      position = commit.version + commit.count;
    }
    yield { what: 'caught_up', soFar: await ports.feed.soFar(key) };
    while (!signal.aborted) {
      const hint = await inbox.take();
      if (hint === 'lagged') {
        yield { what: 'lagged' }; // (F3)
        return;
      }
      if (hint !== 'nothing' && hint.hint === 'delta') {
        yield { what: 'delta', delta: hint.delta };
      } else if (hint !== 'nothing' && joins(hint.commit, position)) {
        yield { what: 'commit', commit: hint.commit };
        position = hint.commit.version + hint.commit.count;
      } else if (hint === 'nothing' || hint.commit.version > position) {
        for await (const commit of commitsAfter(ports.log, key, position)) {
          yield { what: 'commit', commit }; // (F2)
          position = commit.version + commit.count;
        }
      }
    }
  } finally {
    unsubscribe();
  }
}

const joins = (commit: Commit, position: number): boolean =>
  commit.version <= position && commit.version + commit.count > position;

/** Hints that wait for the reader, in order. */
class HintInbox {
  private readonly hints: Hint[] = [];
  private readonly clock: Clock;
  private readonly signal: AbortSignal;
  private wake: (() => void) | null = null;
  private lagged = false;

  constructor(clock: Clock, signal: AbortSignal) {
    this.clock = clock;
    this.signal = signal;
  }

  put(hint: Hint): void {
    if (this.hints.length >= waitingHintsMax) this.lagged = true;
    else this.hints.push(hint);
    this.wake?.();
  }

  /** The next hint; 'nothing' after `pollMs` or when the signal aborts. */
  async take(): Promise<Hint | 'nothing' | 'lagged'> {
    if (this.lagged) return 'lagged';
    const next = this.hints.shift();
    if (next !== undefined || this.signal.aborted) return next ?? 'nothing';
    await this.waited();
    return this.lagged ? 'lagged' : (this.hints.shift() ?? 'nothing');
  }

  private async waited(): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.signal]);
    await Promise.race([new Promise<void>((resolve) => (this.wake = resolve)), this.clock.sleep(pollMs, signal)]);
    this.wake = null;
    stop.abort();
  }
}
