// One commit of an imported file: whether it is valid, what it needs from this installation, and how it reads here.
import { isJsonObject } from '@dormouse/json';
import type { Agents, Blobs, Commit, ThreadKey } from '@dormouse/ports';
import type { AgentReference, RecordedEvent } from '@dormouse/thread';
import { chainHash, openCommit } from '../../log/envelope.ts';
import { isRecordedEvent, isTime } from './event-shape.ts';
import { namedBlobs } from './named-blobs.ts';
import { beginningOf } from '../read/thread-beginning.ts';

/** As the file has it. Its tenant is the one where it was exported: a text that opens nothing here. */
export type ImportedCommit = Omit<Commit, 'tenant'> & { readonly tenant: string };

/** Where the imported history begins: a thread of the same import. */
export interface Origin extends ThreadKey {
  readonly ancestors: readonly string[];
  /** Number of its events here, once all of its commits are; 0 before. */
  readonly events: number;
}

type Reading =
  { readonly ok: true; readonly events: readonly RecordedEvent[] } | { readonly ok: false; readonly problem: string };

const defect = (problem: string): Reading => ({ ok: false, problem });

/** The events of a commit, or what is wrong with it by itself and after the one before. (imports M2, M5) */
export function readImported(commit: ImportedCommit, before: ImportedCommit | undefined): Reading {
  if (commit.kid !== null) return defect('is encrypted');
  if (chainHash(commit) !== commit.hash) return defect('does not have the hash that it says');
  if (before !== undefined && (commit.prev !== before.hash || commit.version !== before.version + before.count))
    return defect('does not follow the commit before');
  if (commit.count < 1 || commit.inputs.length === 0) return defect('decides nothing');
  const events = eventsOf(commit);
  if (events === null) return defect('holds no events');
  if (events.length !== commit.count) return defect('does not hold as many events as it says');
  if (!isTime(commit.at) || !events.every(isRecordedEvent)) return defect('holds events that nobody could read');
  if (events.some((event, index) => beginsAgain(event, commit.version + index, commit)))
    return defect('begins a thread that has begun');
  return { ok: true, events };
}

function eventsOf(commit: ImportedCommit): readonly unknown[] | null {
  try {
    const body: unknown = openCommit(commit);
    return isJsonObject(body) && Array.isArray(body['events']) ? body['events'] : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null; // no JSON, or nested without end
    throw error;
  }
}

/** How a thread begins: its first event opens it, the second may fork it. No later event is searched. */
const beginsAgain = ({ type }: RecordedEvent, before: number, { version }: ImportedCommit): boolean =>
  (type === 'ThreadOpened' && before > 0) || (type === 'ThreadForked' && (before !== 1 || version > 0));

/** What the commit needs and this installation does not have. (imports M4) */
export async function lackOf(
  { agents, blobs }: { readonly agents: Agents; readonly blobs: Blobs },
  { tenant, thread }: ThreadKey,
  commit: ImportedCommit,
  events: readonly RecordedEvent[],
  origin: Origin | null,
): Promise<string | null> {
  if (commit.version === 0) {
    const agent = commit.prev === '' ? openedBy(events[0]) : null;
    if (agent === null) return 'is not the first commit of a thread';
    const { name, version } = agent;
    if ((await agents.version(tenant, name, version)) === null)
      return `needs the agent ${name}, version ${version}, which is not here`;
    const lack = lackOfOrigin(commit, origin);
    if (lack !== null) return lack;
  }
  for (const sha256 of namedBlobs(events))
    if ((await blobs.get(tenant, sha256, thread)) === null) return `needs the blob ${sha256}, which is not here`;
  return null;
}

function openedBy(event: RecordedEvent | undefined): AgentReference | null {
  if (event?.type !== 'ThreadOpened') return null;
  const { agent, parent, ancestors, spawnedBy } = event;
  const isChild = parent !== undefined;
  return [ancestors, spawnedBy].every((field) => (field !== undefined) === isChild) ? agent : null;
}

function lackOfOrigin(first: ImportedCommit, origin: Origin | null): string | null {
  const { parent, forkedFrom, before: from } = beginningOf(first);
  if (parent !== null && forkedFrom !== null) return 'begins in two other threads';
  if (from === null) return origin === null ? null : 'begins in no other thread, but an origin is given';
  const words = `has a history that begins in another thread, ${from.threadId}`;
  if (origin === null) return `${words}, and no origin is given`;
  return origin.events < from.position ? `${words}, of which ${from.position} events must be here first` : null;
}

/** Whether a commit that is here already went on from the same thread. */
export const isBegunIn = (first: Commit, origin: Origin | null): boolean =>
  beginningOf(first).before?.threadId === origin?.thread;

/** The event, with the local ids of the threads before it. */
export function begunHere(event: RecordedEvent, origin: Origin | null): RecordedEvent {
  if (origin === null) return event;
  const { thread: threadId, ancestors } = origin;
  if (event.type === 'ThreadForked') return { ...event, from: { ...event.from, threadId } };
  if (event.type !== 'ThreadOpened' || event.parent === undefined) return event;
  return { ...event, parent: { ...event.parent, threadId }, ancestors: [...ancestors, threadId] };
}
