// Loads a thread from what is stored: snapshot and the commits after it. Used by every reader but the processor, which
// has its own cache. A read that fails throws: state that cannot be loaded is never "empty". R54
import { readJson } from '@dormouse/json';
import type { Snapshots, Stores, ThreadKey } from '@dormouse/ports';
import type { TraceState } from '../tracing/trace-state.ts';
import {
  emptyTail,
  evolve,
  extendTranscript,
  GrowingLists,
  type ModelMessage,
  type RecordedEvent,
  type Thread,
  type TranscriptTail,
  unopenedThread,
} from '@dormouse/thread';
import { openCommit } from './envelope.ts';

/** Shape of the snapshot's JSON; a change of `Thread`, `TranscriptTail` or `ModelMessage` increases it by one. */
export const snapshotShape = 12;

/** A thread at some version, and the messages of its transcript from `messagesFrom` on. */
export interface LoadedThread extends Pick<SnapshotState, 'thread' | 'tail' | 'lastHash'> {
  /** Ordinal of the first message in `messages`; those before it must be read from the log when needed. */
  readonly messagesFrom: number;
  readonly messages: readonly ModelMessage[];
}

export interface SnapshotState {
  readonly thread: Thread;
  readonly tail: TranscriptTail;
  /** Hash of the last commit folded, '' for none. */
  readonly lastHash: string;
  /** Absent in a snapshot that was taken without tracing. */
  readonly trace?: TraceState;
  /** The last few messages of the transcript: a model that looks at the end only is served without reading the log. */
  readonly recent?: readonly ModelMessage[];
}

/** Gets each event that a load folds, and the time of its commit; those that a snapshot holds are not among them. */
export type SeeEvent = (event: RecordedEvent, at: number) => void;

export const encodeSnapshot = (state: SnapshotState): string => JSON.stringify(state);

/** The newest snapshot, if it is usable and of at most `upTo` events; else the thread before its first commit. */
export async function readSnapshot(
  snapshots: Snapshots,
  key: ThreadKey,
  upTo = Number.POSITIVE_INFINITY,
): Promise<SnapshotState> {
  const stored = await snapshots.latest(key);
  const isUsable = stored !== null && stored.shape === snapshotShape && stored.version <= upTo;
  return isUsable
    ? (readJson(stored.state) as SnapshotState)
    : { thread: unopenedThread(key.tenant, key.thread), tail: emptyTail, lastHash: '' };
}

/** Loads the head, or the thread as of `upTo` events when given. Messages are in a new array. */
export async function loadThread(
  deps: Pick<Stores, 'log' | 'snapshots'>,
  key: ThreadKey,
  upTo = Number.POSITIVE_INFINITY,
  see?: SeeEvent,
): Promise<LoadedThread> {
  const { recent = [], ...start } = await readSnapshot(deps.snapshots, key, upTo);
  let { thread, tail, lastHash } = start;
  const messagesFrom = tail.length - recent.length;
  const messages = [...recent];
  const lists = new GrowingLists();
  for (const commit of await deps.log.read(key, thread.position)) {
    for (const event of openCommit(commit).events) {
      if (thread.position >= upTo) return { thread, tail, lastHash, messagesFrom, messages };
      thread = evolve(thread, event, commit.at);
      see?.(event, commit.at);
      const step = extendTranscript(tail, event, lists);
      tail = step.tail;
      for (const message of step.messages) messages.push(message);
    }
    lastHash = commit.hash;
  }
  return { thread, tail, lastHash, messagesFrom, messages };
}
