// An imported thread after one more commit, if every later reader can read it.
//
// Invariants:
//   F1. Other work is not blocked: events are read a few at a time, and other work runs between those steps.
//   F2. No more may be open at once than threads ever have: each event would cost more than the one before.
import type { Steps } from '@dormouse/json';
import type { Commit } from '@dormouse/ports';
import {
  evolve,
  extendTranscript,
  GrowingLists,
  type RecordedEvent,
  type Thread,
  type TranscriptTail,
} from '@dormouse/thread';
import { inTurns } from '../../in-turns.ts';
import type { LoadedThread } from '../../log/thread-reader.ts';
import { apiEvent } from '../read/events.ts';

const eventsPerStep = 64;
/** Calls, timers, children and the like; our own threads have some hundred of each at most. */
const openMax = 1_000;
/** Messages, events and problems that are still queued. */
const waitingMax = 10_000;

/** The thread after the commit; null when its readers would fail, which is a function of the events alone. */
export async function readAsEverybody(
  before: LoadedThread,
  commit: Commit,
  events: readonly RecordedEvent[],
): Promise<LoadedThread | null> {
  try {
    return await inTurns(reading(before, commit, events)); // (F1)
  } catch {
    return null;
  }
}

function* reading(before: LoadedThread, commit: Commit, events: readonly RecordedEvent[]): Steps<LoadedThread> {
  const lists = new GrowingLists();
  let { thread, tail } = before;
  for (const [index, event] of events.entries()) {
    apiEvent({ position: commit.version + index + 1, at: commit.at, event });
    thread = evolve(thread, event, commit.at);
    ({ tail } = extendTranscript(tail, event, lists));
    if (index % eventsPerStep !== 0) continue;
    if (isOverfull(thread, tail)) throw new RangeError('more is open than a thread may have');
    yield;
  }
  return { ...before, thread, tail, lastHash: commit.hash, messages: [] };
}

/** (F2) */
function isOverfull(thread: Thread, tail: TranscriptTail): boolean {
  const { calls, choices, timers, subscriptions, children, schedules } = thread;
  const { detached, subscribed, round, behind } = tail;
  const open = [calls, choices, timers, subscriptions, children, schedules, detached, subscribed, round?.results ?? []];
  const waiting = [thread.queue, thread.held, thread.queuedEvents, thread.problems, behind, round?.calls ?? []];
  return open.some((one) => Object.keys(one).length > openMax) || waiting.some(({ length }) => length > waitingMax);
}
