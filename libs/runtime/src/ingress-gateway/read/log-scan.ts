// Reads the events of a log in order, in blocks, from any position, and backwards from one.
//
// Invariants:
//   L1. `position` of the event at index i of a commit is `version + i + 1`; positions are 1..n.
//   L2. A block is bounded, so that a log of any length is read in bounded memory.
import type { Commit, ThreadKey, ThreadLog } from '@dormouse/ports';
import type { RecordedEvent } from '@dormouse/thread';
import { openCommit } from '../../log/envelope.ts';

export interface PlacedEvent {
  readonly position: number;
  /** Time of the commit, milliseconds since the epoch. */
  readonly at: number;
  readonly event: RecordedEvent;
}

const blockCommits = 200;

/** The events of one commit after `after`. */
export function placedEvents(commit: Commit, after = 0): readonly PlacedEvent[] {
  const placed: PlacedEvent[] = [];
  for (const [index, event] of openCommit(commit).events.entries()) {
    const position = commit.version + index + 1; // (L1)
    if (position > after) placed.push({ position, at: commit.at, event });
  }
  return placed;
}

/** Those before `before` (a position), the last one first. */
export const placedBefore = (commit: Commit, before: number): readonly PlacedEvent[] =>
  placedEvents(commit)
    .filter(({ position }) => position < before)
    .toReversed();

/** Events up to the end of a commit; 0 for none. */
export const endOf = (commit: Pick<Commit, 'version' | 'count'> | null | undefined): number =>
  commit ? commit.version + commit.count : 0;

/** Commits from the one that holds the event after `after`, in order. */
export async function* commitsAfter(log: ThreadLog, key: ThreadKey, after: number): AsyncGenerator<Commit> {
  const first = after === 0 ? null : await log.at(key, after + 1);
  if (after > 0 && first === null) return;
  let from = first?.version ?? 0;
  for (;;) {
    const block = await log.read(key, from, blockCommits); // (L2)
    yield* block;
    if (block.length < blockCommits) return;
    from = endOf(block.at(-1));
  }
}

export async function* eventsAfter(log: ThreadLog, key: ThreadKey, after: number): AsyncGenerator<PlacedEvent> {
  for await (const commit of commitsAfter(log, key, after)) yield* placedEvents(commit, after);
}

/** Commits from the one that holds the event before `before` (a position), or the last one, back to the first. */
export async function* commitsBefore(log: ThreadLog, key: ThreadKey, before: number): AsyncGenerator<Commit> {
  for (let end = before; end > 1;) {
    const first = Number.isFinite(end) ? await log.at(key, Math.max(1, end - blockCommits)) : null; // (L2)
    if (first === null) {
      const afterLast = endOf(await log.head(key)) + 1;
      if (afterLast >= end) return;
      end = afterLast;
      continue;
    }
    const block = await log.read(key, first.version, blockCommits + 1);
    yield* block.filter(({ version }) => version + 1 < end).toReversed();
    end = first.version + 1;
  }
}

/** Likewise, event by event. */
export async function* eventsBefore(log: ThreadLog, key: ThreadKey, before: number): AsyncGenerator<PlacedEvent> {
  for await (const commit of commitsBefore(log, key, before)) yield* placedBefore(commit, before);
}

/** The last event before `before` (a position) for which `holds`, or null. */
export async function lastEventBefore(
  log: ThreadLog,
  key: ThreadKey,
  before: number,
  holds: (event: RecordedEvent) => boolean,
): Promise<PlacedEvent | null> {
  for await (const placed of eventsBefore(log, key, before)) if (holds(placed.event)) return placed;
  return null;
}
