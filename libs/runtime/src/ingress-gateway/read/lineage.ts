// The history that goes before a fork's own, by reference: lists over a fork begin with what it was forked from.
//
// Invariants:
//   N1. Oldest first, each generation up to the event after which the next one was forked; the thread itself comes last
//       and is not cut. What was inherited never changes, so a cursor into it stays valid for ever.
//   N2. A cursor is a position in the thread's own log, or `<generation>.<position>` in what it inherited: what is
//       listed next comes from later events, or from earlier ones in a list that goes backwards. It stays valid for
//       ever. At the end of the list there is none.
//   N3. Calls that were open where the fork was made are interrupted for the fork, whatever became of them later.
import {
  invalidCursor,
  type PageRequest,
  type Snapshots,
  type ThreadKey,
  type ThreadLog,
  type Page,
} from '@dormouse/ports';
import type { Thread } from '@dormouse/thread';
import { loadThread } from '../../log/thread-reader.ts';
import { eventsAfter, eventsBefore, type PlacedEvent, placedEvents } from './log-scan.ts';

/** `asc` is oldest first. */
export interface LineagePage extends PageRequest {
  readonly order?: 'asc' | 'desc';
}

export interface Generation {
  readonly key: ThreadKey;
  /** Events after this position belong to the other thread alone; infinite for the thread itself. */
  readonly upTo: number;
  readonly inherited: boolean;
}

/** (N1) */
export async function lineageOf(log: ThreadLog, key: ThreadKey): Promise<readonly Generation[]> {
  let oldest: Generation = { key, upTo: Number.POSITIVE_INFINITY, inherited: false };
  const generations = [oldest];
  for (;;) {
    const [first] = await log.read(oldest.key, 0, 1);
    const forked = (first === undefined ? [] : placedEvents(first)).find(({ event }) => event.type === 'ThreadForked');
    if (forked?.event.type !== 'ThreadForked' || forked.position > oldest.upTo) return generations;
    const { threadId, position } = forked.event.from;
    oldest = { key: { tenant: key.tenant, thread: threadId }, upTo: position, inherited: true };
    generations.unshift(oldest);
  }
}

/** The thread as it was at the end of a generation. */
export const threadAt = async (
  ports: { readonly log: ThreadLog; readonly snapshots: Snapshots },
  { key, upTo }: Generation,
): Promise<Thread> => (await loadThread(ports, key, upTo)).thread;

/** A page of what the events of a thread and of those before it are shown as. `cursor` null: from the first one. */
export async function pageOfLineage<T>(
  log: ThreadLog,
  generations: readonly Generation[],
  { cursor, limit, order = 'asc' }: LineagePage,
  entryOf: (placed: PlacedEvent, generation: Generation) => T | null | Promise<T | null>,
): Promise<Page<T>> {
  const start = cursor === null ? null : placeIn(cursor, generations.length);
  const data: T[] = [];
  let last = '';
  for await (const { placed, generation, index } of (order === 'asc' ? forward : backward)(log, generations, start)) {
    const entry = await entryOf(placed, generation);
    if (entry === null) continue;
    if (data.length === limit) return { data, nextCursor: last };
    data.push(entry);
    last = generation.inherited ? `${index}.${placed.position}` : String(placed.position); // (N2)
  }
  return { data, nextCursor: null }; // (N2)
}

interface Place {
  readonly index: number;
  readonly position: number;
}

interface InGeneration {
  readonly placed: PlacedEvent;
  readonly generation: Generation;
  readonly index: number;
}

/** (N1) */
async function* forward(
  log: ThreadLog,
  generations: readonly Generation[],
  start: Place | null,
): AsyncGenerator<InGeneration> {
  for (const [index, generation] of generations.entries()) {
    if (index < (start?.index ?? 0)) continue;
    const after = index === start?.index ? start.position : 0;
    for await (const placed of eventsAfter(log, generation.key, after)) {
      if (placed.position > generation.upTo) break;
      yield { placed, generation, index };
    }
  }
}

async function* backward(
  log: ThreadLog,
  generations: readonly Generation[],
  start: Place | null,
): AsyncGenerator<InGeneration> {
  for (const [index, generation] of [...generations.entries()].toReversed()) {
    if (start !== null && index > start.index) continue;
    const before = index === start?.index ? start.position : generation.upTo + 1;
    for await (const placed of eventsBefore(log, generation.key, Math.min(before, generation.upTo + 1)))
      yield { placed, generation, index };
  }
}

/** @throws Fault CURSOR_INVALID */
function placeIn(cursor: string, generations: number): Place {
  if (cursor === '0') return { index: 0, position: 0 };
  const [position = '', index] = cursor.split('.').toReversed();
  const place = { index: index === undefined ? generations - 1 : Number(index), position: Number(position) };
  if (place.index < generations) return place;
  throw invalidCursor();
}
