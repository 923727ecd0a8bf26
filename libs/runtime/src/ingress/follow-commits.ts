// The log of one thread as a stream that goes on: what is stored, then what comes, without gap and without repeat.
//
// Invariants:
//   F1. Subscribe first, then read the log, then forward what is newer: nothing falls between. design §6
//   F2. The feed is a hint: a commit that does not join the last one makes us read the log, and without any hint the log is
//       read again every `pollMs`. Losing hints costs time, never correctness.
//   F3. What waits for a slow reader is bounded; past that the stream says `lagged` and ends.
import type { Clock, Commit, Delta, FoldedCommit, Hint, LiveFeed, ThreadKey, ThreadLog, View } from '@dormouse/ports';
import { commitsAfter } from './log-scan.ts';

export type Followed =
  /** `after`: where the hint brought it. */
  | { readonly what: 'commit'; readonly commit: Commit; readonly after?: FoldedCommit | undefined }
  | { readonly what: 'delta'; readonly delta: Delta }
  | { readonly what: 'view'; readonly view: View }
  /** Everything that was stored when the stream began has been given. */
  | { readonly what: 'caught_up'; readonly soFar: readonly Delta[] }
  | { readonly what: 'lagged' };

export interface FollowPorts {
  readonly log: ThreadLog;
  readonly feed: LiveFeed;
  readonly clock: Clock;
}

/** What a reader makes of a hint: it wakes him, it may wait for one that does, or he does not want it. */
export type HintCare = 'wakes' | 'waits' | 'unwanted';

const waitingHintsMax = 5_000;
/** So many do not wait any longer. */
const patientHintsMax = 64;
const pollMs = 15_000;

/** A subscription that holds its hints until they are read. */
export interface HintStream {
  /** The next hint, once one has come that wakes; 'nothing' when it is time to look at the log, or when the signal has aborted. */
  take(): Promise<Hint | 'nothing' | 'lagged'>;
}

/** Subscribes until the signal aborts. Resolves when the subscription is in force. (F1) */
export async function holdHints(
  ports: FollowPorts,
  key: ThreadKey,
  signal: AbortSignal,
  careFor: (hint: Hint) => HintCare = () => 'wakes',
): Promise<HintStream> {
  const inbox = new HintInbox();
  const unsubscribe = await ports.feed.subscribe(key, (hint) => {
    const care = careFor(hint);
    if (care !== 'unwanted') inbox.put(hint, care);
  });
  void tick(ports.clock, inbox, signal).finally(unsubscribe);
  return inbox;
}

/**
 * Follows from the commit that holds the event after `after` until the signal aborts; whoever stops earlier aborts it too.
 * The hints are held since before anything else was read.
 */
export async function* followCommits(
  ports: FollowPorts,
  key: ThreadKey,
  after: number,
  hints: HintStream,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  let position = after;
  for await (const commit of commitsAfter(ports.log, key, position)) {
    yield { what: 'commit', commit };
    position = commit.version + commit.count;
  }
  yield { what: 'caught_up', soFar: await ports.feed.soFar(key) };
  for await (const item of followHints(ports, key, position, hints, signal)) yield item;
}

/** Goes on from a position up to which everything is known, with hints that were held since before that was so. */
export async function* followHints(
  ports: FollowPorts,
  key: ThreadKey,
  after: number,
  hints: HintStream,
  signal: AbortSignal,
): AsyncGenerator<Exclude<Followed, { readonly what: 'caught_up' }>> {
  let position = after;
  while (!signal.aborted) {
    const hint = await hints.take();
    if (hint === 'lagged') {
      yield { what: 'lagged' }; // (F3)
      return;
    }
    if (hint !== 'nothing' && hint.hint === 'delta') {
      yield { what: 'delta', delta: hint.delta };
    } else if (hint !== 'nothing' && hint.hint === 'view') {
      yield { what: 'view', view: hint.view };
    } else if (hint !== 'nothing' && joins(hint.commit, position)) {
      yield { what: 'commit', commit: hint.commit, after: hint.after };
      position = endOf(hint.commit);
    } else if (hint === 'nothing' || hint.commit.version > position) {
      for await (const commit of commitsAfter(ports.log, key, position)) {
        yield { what: 'commit', commit }; // (F2)
        position = endOf(commit);
      }
    }
  }
}

const endOf = (commit: Commit): number => commit.version + commit.count;
const joins = (commit: Commit, position: number): boolean => commit.version <= position && endOf(commit) > position;

async function tick(clock: Clock, inbox: HintInbox, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(pollMs, signal);
    inbox.poke();
  }
}

/** Hints that wait for the reader, in order. */
class HintInbox implements HintStream {
  private readonly hints: Hint[] = [];
  private wake: (() => void) | null = null;
  private lagged = false;
  private poked = false;

  put(hint: Hint, care: 'wakes' | 'waits'): void {
    if (this.hints.length >= waitingHintsMax) this.lagged = true;
    else this.hints.push(hint);
    if (care === 'wakes' || this.hints.length >= patientHintsMax) this.wake?.();
  }

  poke(): void {
    this.poked = true;
    this.wake?.();
  }

  async take(): Promise<Hint | 'nothing' | 'lagged'> {
    if (this.hints.length === 0 && !this.poked && !this.lagged) {
      await new Promise<void>((resolve) => (this.wake = resolve));
      this.wake = null;
    }
    if (this.lagged) return 'lagged';
    const next = this.hints.shift();
    if (next !== undefined) return next;
    this.poked = false;
    return 'nothing';
  }
}
