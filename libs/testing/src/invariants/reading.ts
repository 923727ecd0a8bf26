// A history with its commits opened once: events with their places, calls with their outcomes, the state at the end.
// Every checker reads this; none of them parses.
import type { Commit, ThreadKey } from '@dormouse/ports';
import { type CommitBody, openCommit } from '@dormouse/runtime';
import { evolve, type RecordedEvent, type Thread, type ThreadEffect, unopenedThread } from '@dormouse/thread';
import type { History } from './history.ts';

export interface PlacedEvent {
  readonly event: RecordedEvent;
  readonly commit: Commit;
  /** 1..n in its thread. */
  readonly position: number;
}

export interface ReadingThread {
  readonly key: ThreadKey;
  readonly name: string;
  readonly commits: readonly Commit[];
  readonly events: readonly PlacedEvent[];
  readonly effects: readonly ThreadEffect[];
  /** The fold of all events; null when a broken log cannot be folded. */
  readonly end: Thread | null;
  /** Input id to how many commits decided it. */
  readonly decided: ReadonlyMap<string, number>;
}

type EventOf<Type extends RecordedEvent['type']> = Extract<RecordedEvent, { readonly type: Type }>;

export interface ReadingCall {
  readonly thread: ReadingThread;
  readonly requested: EventOf<'ToolCallRequested'>;
  readonly settled: readonly EventOf<'ToolCallSettled'>[];
  readonly invocation: Extract<ThreadEffect, { readonly do: 'InvokeTool' }> | null;
}

export interface Reading {
  readonly history: History;
  readonly threads: readonly ReadingThread[];
  readonly byName: ReadonlyMap<string, ReadingThread>;
  /** By call id; the last one when an id is shared. */
  readonly calls: ReadonlyMap<string, ReadingCall>;
}

export const threadName = ({ tenant, thread }: ThreadKey): string => `${tenant}:${thread}`;

export function readHistory(history: History): Reading {
  const threads = history.threads.filter(({ commits }) => commits.length > 0).map(readThread);
  return {
    history,
    threads,
    byName: new Map(threads.map((thread) => [thread.name, thread])),
    calls: readCalls(threads),
  };
}

const opened = new WeakMap<Commit, CommitBody>();

/** Commits never change: each is parsed once, for every checker. */
export function openOnce(commit: Commit): CommitBody {
  const known = opened.get(commit);
  if (known !== undefined) return known;
  const body = openCommit(commit);
  opened.set(commit, body);
  return body;
}

function readThread({ key, commits }: History['threads'][number]): ReadingThread {
  const events: PlacedEvent[] = [];
  const effects: ThreadEffect[] = [];
  const decided = new Map<string, number>();
  for (const commit of commits) {
    const body = openOnce(commit);
    for (const [index, event] of body.events.entries())
      events.push({ event, commit, position: commit.version + index + 1 });
    effects.push(...body.effects);
    for (const input of commit.inputs) decided.set(input, (decided.get(input) ?? 0) + 1);
  }
  return { key, name: threadName(key), commits, events, effects, decided, end: foldAll(key, events) };
}

/** A log that breaks the heart's own assumptions cannot be folded; the checkers report the violation. */
function foldAll(key: ThreadKey, events: readonly PlacedEvent[]): Thread | null {
  try {
    return events.reduce(
      (thread, { event, commit }) => evolve(thread, event, commit.at),
      unopenedThread(key.tenant, key.thread),
    );
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

function readCalls(threads: readonly ReadingThread[]): ReadonlyMap<string, ReadingCall> {
  const calls = new Map<string, ReadingCall>();
  for (const thread of threads) {
    const invocations = new Map(
      thread.effects.flatMap((effect) => (effect.do === 'InvokeTool' ? [[effect.toolCallId, effect] as const] : [])),
    );
    const settled = Map.groupBy(ofType(thread, 'ToolCallSettled'), (event) => event.toolCallId);
    for (const requested of ofType(thread, 'ToolCallRequested')) {
      const { toolCallId } = requested;
      calls.set(toolCallId, {
        thread,
        requested,
        settled: settled.get(toolCallId) ?? [],
        invocation: invocations.get(toolCallId) ?? null,
      });
    }
  }
  return calls;
}

export function ofType<Type extends RecordedEvent['type']>(
  thread: ReadingThread,
  type: Type,
): readonly EventOf<Type>[] {
  return thread.events.flatMap(({ event }) => (isType(event, type) ? [event] : []));
}

function isType<Type extends RecordedEvent['type']>(event: RecordedEvent, type: Type): event is EventOf<Type> {
  return event.type === type;
}

/** Members in a fixed order, so that equal values have equal texts. */
export function stableText(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}

/** Every value that occurs more than once. */
export function repeated(values: Iterable<string>): readonly string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([value]) => value);
}
