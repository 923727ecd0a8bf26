// The state of a thread as its lane holds it: the state, the unfolded rest of its transcript, and the chain's last
// hash. Owns folding commits into it and reading it from snapshot and log; keeps nothing itself.
//
// Invariants:
//   S1. One reading answers both "what is the state" and "which commits may owe": the state is that at the end of
//       exactly the commits returned. (V5)
//   S2. A snapshot shortens the fold, never the list of debts. (V5)
//   S3. A read that fails throws: state that cannot be loaded is never "empty". R54
import type { Commit, Snapshots, ThreadKey, ThreadLog } from '@dormouse/ports';
import {
  type evolve,
  type extendTranscript,
  GrowingLists,
  type ModelMessage,
  type RecordedEvent,
  type Thread,
  type ThreadEffect,
  type TranscriptTail,
} from '@dormouse/thread';
import { type CommitBody, openCommit } from '../../log/envelope.ts';
import { readSnapshot } from '../../log/thread-reader.ts';
import type { SliceTracing } from '../../tracing/slice-tracing.ts';
import { noTraceState, type TraceState } from '../../tracing/trace-state.ts';
import { TranscriptWindow } from './transcript-window.ts';

export interface ThreadState {
  readonly thread: Thread;
  readonly tail: TranscriptTail;
  /** Hash of the last commit, '' for none. */
  readonly lastHash: string;
  readonly trace: TraceState;
  /** Shared: the same window in every later state of this load. */
  readonly messages: TranscriptWindow;
  /** Where the last snapshot stands, and how many bytes were committed since. */
  readonly snapshot: { readonly version: number; readonly bytesSince: number };
}

/** What a commit may still owe. */
export interface Debt extends Pick<Commit, 'version' | 'at' | 'trace'> {
  readonly effects: readonly ThreadEffect[];
}

export interface ReadThread {
  readonly state: ThreadState;
  /** Debts of the commits from `from` on, in order; without commits that owed nothing. */
  readonly debts: readonly Debt[];
  /** Version of the deciding commit by input id: of the commits that were read, not of all. */
  readonly decided: ReadonlyMap<string, number>;
}

/** The heart's folds; the processor's seam may replace them. */
export interface Folds {
  readonly evolve: typeof evolve;
  readonly extendTranscript: typeof extendTranscript;
}

export interface ThreadSources {
  readonly log: ThreadLog;
  readonly snapshots: Snapshots;
  readonly folds: Folds;
  readonly tracing: SliceTracing;
  readonly settings: { readonly loadPageCommits: number; readonly transcriptBytesMax: number };
}

/**
 * Reads the head of a thread, and what the commits with `version >= from` owed when they were written. (S1)
 * With null only what the state needs is read, and the debts are those of the commits read.
 */
export async function readThread(sources: ThreadSources, key: ThreadKey, from: number | null): Promise<ReadThread> {
  let state = await startingPoint(sources, key);
  const debts: Debt[] = [];
  const decided = new Map<string, number>();
  const stateFrom = state.thread.position;
  const debtsFrom = from ?? stateFrom;
  for await (const commit of commitsFrom(sources, key, Math.min(debtsFrom, stateFrom))) {
    const body = openCommit(commit);
    for (const input of commit.inputs) decided.set(input, commit.version);
    if (commit.version >= stateFrom) state = foldCommit(sources, state, commit, body);
    const { version, at, trace } = commit;
    if (version >= debtsFrom && body.effects.length > 0) debts.push({ version, at, trace, effects: body.effects });
  }
  return { state, debts, decided };
}

async function startingPoint(sources: ThreadSources, key: ThreadKey): Promise<ThreadState> {
  const { recent = [], trace = noTraceState, ...start } = await readSnapshot(sources.snapshots, key);
  const messages = new TranscriptWindow(start.tail.length - recent.length, sources.settings.transcriptBytesMax);
  messages.append(recent);
  return { ...start, trace, messages, snapshot: { version: start.thread.position, bytesSince: 0 } };
}

/** Commits with `from <= version < to`, read in pages. */
export async function* commitsFrom(
  sources: { readonly log: ThreadLog; readonly settings: { readonly loadPageCommits: number } },
  key: ThreadKey,
  from: number,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<Commit> {
  for (let next = from; next < to;) {
    const page = Math.min(sources.settings.loadPageCommits, to - next); // a commit has at least one event
    const commits = await sources.log.read(key, next, page);
    for (const commit of commits) {
      if (commit.version >= to) return;
      yield commit;
    }
    const last = commits.at(-1);
    if (last === undefined || commits.length < page) return;
    next = last.version + last.count;
  }
}

function foldCommit(
  { folds, tracing }: Pick<ThreadSources, 'folds' | 'tracing'>,
  state: ThreadState,
  commit: Commit,
  { events, effects }: CommitBody,
): ThreadState {
  let { thread } = state;
  for (const event of events) thread = folds.evolve(thread, event, commit.at);
  const { tail, messages } = foldTranscript(folds, state.tail, events);
  state.messages.append(messages);
  const trace = tracing.read(state.trace, { key: commit, commit, events, effects, after: thread });
  return afterCommit(state, { thread, tail }, commit, trace);
}

/** The tail after these events, and the messages that they made final. */
export function foldTranscript(
  folds: Pick<Folds, 'extendTranscript'>,
  before: TranscriptTail,
  events: readonly RecordedEvent[],
  lists = new GrowingLists(),
): { readonly tail: TranscriptTail; readonly messages: readonly ModelMessage[] } {
  const messages: ModelMessage[] = [];
  let tail = before;
  for (const event of events) {
    const step = folds.extendTranscript(tail, event, lists);
    tail = step.tail;
    for (const message of step.messages) messages.push(message);
  }
  return { tail, messages };
}

/** The state after a commit, whose messages are in the shared window already; a commit that fails drops the window. */
export function afterCommit(
  before: ThreadState,
  { thread, tail }: Pick<ThreadState, 'thread' | 'tail'>,
  commit: Commit,
  trace: TraceState,
): ThreadState {
  const { messages, snapshot } = before;
  const bytesSince = snapshot.bytesSince + commit.body.length;
  return { thread, tail, lastHash: commit.hash, trace, messages, snapshot: { version: snapshot.version, bytesSince } };
}
