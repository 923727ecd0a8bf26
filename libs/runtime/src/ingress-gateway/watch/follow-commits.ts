// The log of one thread as a live stream: what is stored, then what comes, without gap and without repeat.
//
// Invariants:
//   F1. Subscribe first, then read the log, then forward what is newer: nothing falls between.
//   F2. The feed is a hint: after a commit that does not join the last one the log is read, and without any hint the
//       log is read again every `pollMs`. Losing hints costs time, never correctness.
//   F3. What waits for a slow reader is bounded; past that the stream gives `lagged` and ends.
import type { Clock, Commit, Delta, Hint, Retrying, ThreadKey, View } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { commitsAfter, endOf } from '../read/log-scan.ts';

export type Followed =
  | { readonly what: 'commit'; readonly commit: Commit }
  | { readonly what: 'delta'; readonly delta: Delta }
  | { readonly what: 'view'; readonly view: View }
  | { readonly what: 'retrying'; readonly retrying: Retrying }
  /** Questions below may have changed, or it is time to look. */
  | { readonly what: 'questions' }
  /** Everything that was stored when the stream began has been given. */
  | { readonly what: 'caught_up'; readonly soFar: readonly Delta[]; readonly retrying: Retrying | null }
  | { readonly what: 'lagged' };

export type FollowPorts = Pick<IngressParts, 'log' | 'feed' | 'clock'>;

const waitingHintsMax = 5_000;
const pollMs = 15_000;

/** 'nothing' when it is time to look at the log; 'over' for good, once it was closed. */
type Taken = Hint | 'nothing' | 'lagged' | 'over';

/** A subscription that holds its hints until they are read. */
export interface HintStream {
  /** What `take` would answer at once; null when there is nothing. */
  held(): Taken | null;
  take(): Promise<Taken>;
}

/** The holder must close it. */
export interface OpenHints extends HintStream {
  close(): void;
}

/** Subscribes until the signal aborts. Resolves when the subscription is in force. (F1) */
export async function holdHints(ports: FollowPorts, key: ThreadKey, signal: AbortSignal): Promise<HintStream> {
  const hints = await openHints(ports, key, Number.POSITIVE_INFINITY, () => true);
  if (signal.aborted) hints.close();
  else signal.addEventListener('abort', () => hints.close(), { once: true });
  return hints;
}

/** Subscribes until closed, which it does by itself after `withinMs`. Answers when that is in force. (F1) */
export async function openHints(
  { feed, clock }: FollowPorts,
  key: ThreadKey,
  withinMs: number,
  wants: (hint: Hint) => boolean,
): Promise<OpenHints> {
  const inbox = new HintInbox(clock, clock.now() + withinMs);
  const unsubscribe = await feed.subscribe(key, (hint) => {
    if (wants(hint)) inbox.put(hint);
  });
  return inbox.open(unsubscribe);
}

/** Follows from the commit with the event after `after`, until `hints`, opened before any other read, are closed. */
export async function* followCommits(
  ports: FollowPorts,
  key: ThreadKey,
  after: number,
  hints: HintStream,
): AsyncGenerator<Followed> {
  let position = after;
  async function* newer(): AsyncGenerator<Followed> {
    for await (const commit of commitsAfter(ports.log, key, position)) {
      yield { what: 'commit', commit };
      position = endOf(commit);
    }
  }
  yield* newer();
  yield { what: 'caught_up', soFar: await ports.feed.soFar(key), retrying: await ports.feed.retrying(key) };
  for (;;) {
    const hint = await hints.take();
    if (hint === 'over') return;
    if (hint === 'lagged') return yield { what: 'lagged' }; // (F3)
    if (hint === 'nothing') {
      yield* newer();
      yield { what: 'questions' };
    } else if (hint.hint === 'delta') yield { what: 'delta', delta: hint.delta };
    else if (hint.hint === 'view') yield { what: 'view', view: hint.view };
    else if (hint.hint === 'retrying') yield { what: 'retrying', retrying: hint.retrying };
    else if (hint.hint === 'questions') yield { what: 'questions' };
    else if (joins(hint.commit, position)) {
      yield { what: 'commit', commit: hint.commit };
      position = endOf(hint.commit);
    } else if (isBeyond(hint.commit, position)) yield* newer(); // (F2)
  }
}

/** The commit continues where everything is known up to `position`. */
export const joins = (commit: Commit, position: number): boolean =>
  commit.version <= position && endOf(commit) > position;

/** Something between `position` and the commit was missed. (F2) */
export const isBeyond = (commit: Commit, position: number): boolean => commit.version > position;

/** Hints that wait for the reader, in order. */
class HintInbox implements OpenHints {
  private readonly hints: Hint[] = [];
  private wake: (() => void) | null = null;
  private lagged = false;
  private poked = false;
  private closed = false;
  private stopAlarm: () => void = () => {};
  private unsubscribe: () => void = () => {};
  private readonly clock: Clock;
  private readonly until: number;

  constructor(clock: Clock, until: number) {
    this.clock = clock;
    this.until = until;
  }

  /** Once, when the subscription is in force. */
  open(unsubscribe: () => void): this {
    this.unsubscribe = unsubscribe;
    this.wait();
    return this;
  }

  private wait(): void {
    const leftMs = this.until - this.clock.now();
    if (leftMs <= 0) return this.close();
    this.stopAlarm = this.clock.alarm(Math.min(pollMs, leftMs), () => {
      this.poked = true; // (F2)
      this.wait(); // it may be over
      this.wake?.();
    });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.stopAlarm();
    this.wake?.();
    this.unsubscribe();
  }

  put(hint: Hint): void {
    if (this.hints.length >= waitingHintsMax) this.lagged = true;
    else this.hints.push(hint);
    this.wake?.();
  }

  held(): Taken | null {
    if (this.closed) return 'over';
    if (this.lagged) return 'lagged';
    const next = this.hints.shift();
    if (next !== undefined) return next;
    if (!this.poked) return null;
    this.poked = false;
    return 'nothing';
  }

  take(): Promise<Taken> {
    return new Promise((resolve) => {
      const look = (): void => {
        const held = this.held();
        this.wake = held === null ? look : null;
        if (held !== null) resolve(held);
      };
      look();
    });
  }
}
