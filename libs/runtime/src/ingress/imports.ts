// A thread that was exported, here or elsewhere, as a closed thread of this tenant: to be read, verified and forked. With it
// come the threads that its history begins in, each as a closed thread of its own.
//
// Invariants:
//   M1. The thread's id is a function of the tenant and the hash of its last commit, hence of all of them: the same file twice
//       is one thread, a part that was sent before changes nothing, and no part can reach a thread that was not imported.
//   M2. A commit is taken when its own hash holds and it follows the one before, in whatever part that came: the nonce here is
//       the hash there. It is sealed anew under the new id, with the same inputs, time and events, but for the ids of where its
//       history begins; nothing that it once owed is owed here.
//   M3. Whole or nothing: until the last part the log has no row, so that nobody sees it. The last part closes the thread and
//       those before it, and then writes their rows, the oldest first. What was open belongs to where it came from. (E1)
//   M4. What a thread needs from others is there, or the import is refused: its agent's version, its blobs, and for a child or
//       a fork the imported thread that its history begins in.
import { createHash } from 'node:crypto';
import type {
  Agents,
  Blobs,
  Clock,
  Commit,
  Entropy,
  Snapshots,
  ThreadDirectory,
  ThreadKey,
  ThreadLog,
} from '@dormouse/ports';
import type { RecordedEvent } from '@dormouse/thread';
import { chainHash, openCommit, sealCommit } from '../envelope.ts';
import { nameOfText, publicId } from './client-id.ts';
import { endImport } from './import-ending.ts';
import { namedBlobs } from './named-blobs.ts';
import { beginningOf } from './thread-beginning.ts';
import { answered, type Answered, invalid } from './refusal.ts';

export interface ImportPart {
  /** Hash of the thread's last commit in the file. */
  readonly of: string;
  /** The same of the thread that its history begins in; null for one that begins by itself. */
  readonly origin: string | null;
  readonly commits: readonly Commit[];
  /** Ends the file: the thread and those before it are seen from now on. */
  readonly last: boolean;
}

export interface ImportedBlob {
  readonly sha256: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface ImportDesk {
  /** `position` is the end of the part. */
  take(tenant: string, part: ImportPart): Promise<Answered<{ readonly thread: string; readonly position: number }>>;
  /** What commits that follow refer to. */
  takeBlob(tenant: string, blob: ImportedBlob): Promise<Answered<null>>;
}

export interface ImportPorts {
  readonly agents: Agents;
  readonly blobs: Blobs;
  readonly log: ThreadLog;
  readonly snapshots: Snapshots;
  readonly directory: ThreadDirectory;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

/** Where the imported history begins: a thread of the same import. */
interface Origin extends ThreadKey {
  readonly ancestors: readonly string[];
  /** Events that are here. */
  readonly events: number;
}

export function createImportDesk(ports: ImportPorts): ImportDesk {
  const { log, blobs } = ports;
  return {
    async takeBlob(tenant, { sha256, mediaType, bytes }) {
      if (createHash('sha256').update(bytes).digest('hex') !== sha256)
        return invalid([{ pointer: '/data', detail: 'does not have the hash that it says' }]);
      await blobs.put(tenant, sha256, bytes, mediaType);
      return answered(null);
    },
    async take(tenant, { of, origin: originOf, commits, last }) {
      const key = keyOf(tenant, of);
      const origin = originOf === null ? null : await originAt(log, keyOf(tenant, originOf));
      for (const [place, commit] of commits.entries()) {
        const problem = defectOf(commit, commits[place - 1]) ?? (await lackOf(ports, tenant, commit, origin));
        if (problem !== null) return invalid([{ pointer: `/commits/${place}`, detail: problem }]);
      }
      const end = commits.at(-1);
      if (end === undefined || (last && end.hash !== of))
        return invalid([{ pointer: '/last', detail: 'is not the part that ends this thread' }]);
      for (const [place, commit] of commits.entries()) {
        const problem = await append(log, key, commit, origin);
        if (problem !== null) return invalid([{ pointer: `/commits/${place}`, detail: problem }]);
      }
      if (last) await endImport(ports, key); // (M3)
      return answered({ thread: key.thread, position: end.version + end.count });
    },
  };
}

/** (M1) */
const keyOf = (tenant: string, of: string): ThreadKey => ({
  tenant,
  thread: publicId('thr', nameOfText(JSON.stringify([tenant, 'import', of]))),
});

async function originAt(log: ThreadLog, key: ThreadKey): Promise<Origin> {
  const [first] = await log.read(key, 0, 1);
  const head = await log.head(key);
  const { parent, ancestors } = beginningOf(first);
  return {
    ...key,
    ancestors: parent === null ? [] : ancestors,
    events: head === null ? 0 : head.version + head.count,
  };
}

/** What is wrong with a commit by itself, and after the one before. (M2) */
function defectOf(commit: Commit, before: Commit | undefined): string | null {
  if (commit.kid !== null) return 'is encrypted';
  if (chainHash(commit) !== commit.hash) return 'does not have the hash that it says';
  if (before !== undefined && (commit.prev !== before.hash || commit.version !== before.version + before.count))
    return 'does not follow the commit before';
  try {
    return openCommit(commit).events.length === commit.count ? null : 'does not hold as many events as it says';
  } catch (error) {
    if (error instanceof SyntaxError) return 'holds no events';
    throw error;
  }
}

/** What this installation does not have. (M4) */
async function lackOf(
  { agents, blobs }: ImportPorts,
  tenant: string,
  commit: Commit,
  origin: Origin | null,
): Promise<string | null> {
  const { events } = openCommit(commit);
  if (commit.version === 0) {
    const [opened] = events;
    if (opened?.type !== 'ThreadOpened' || commit.prev !== '') return 'is not the first commit of a thread';
    const { name, version } = opened.agent;
    if ((await agents.version(tenant, name, version)) === null)
      return `needs the agent ${name}, version ${version}, which is not here`;
    const lack = lackOfOrigin(commit, origin);
    if (lack !== null) return lack;
  }
  for (const sha256 of namedBlobs(events))
    if ((await blobs.get(tenant, sha256)) === null) return `needs the blob ${sha256}, which is not here`;
  return null;
}

function lackOfOrigin(first: Commit, origin: Origin | null): string | null {
  const { parent, forkedFrom } = beginningOf(first);
  const from = parent ?? forkedFrom;
  if (from === null) return origin === null ? null : 'begins in no other thread, but an origin is given';
  const words = `has a history that begins in another thread, ${from.threadId}`;
  if (origin === null) return `${words}, and no origin is given`;
  return origin.events < from.position ? `${words}, of which ${from.position} events must be here first` : null;
}

/** Appends at the head, or finds that it is there. Why it is not, or null. (M1, M2) */
async function append(log: ThreadLog, key: ThreadKey, commit: Commit, origin: Origin | null): Promise<string | null> {
  const head = await log.head(key);
  const end = head === null ? 0 : head.version + head.count;
  if (commit.version > end) return `does not follow what is here, which ends at ${end}`;
  if (commit.version === end) {
    if (commit.prev !== (head?.nonce ?? '')) return 'does not follow what is here';
    const { version, inputs, at, hash: nonce, trace } = commit;
    const prev = head?.hash ?? '';
    const events = openCommit(commit).events.map((event) => begunHere(event, origin));
    const sealed = sealCommit({ key, version, inputs, at, nonce, trace, prev, events, effects: [] });
    const [outcome] = await log.append([{ commit: sealed, owes: false }]);
    if (outcome === 'appended') return null;
    if (outcome === 'too_large') return 'is larger than the store takes';
  }
  const [there] = await log.read(key, commit.version, 1);
  return there?.nonce === commit.hash ? null : 'is not the one that is here';
}

/** The event with the ids that the threads before it have here. */
function begunHere(event: RecordedEvent, origin: Origin | null): RecordedEvent {
  if (origin === null) return event;
  const { thread: threadId, ancestors } = origin;
  if (event.type === 'ThreadForked') return { ...event, from: { ...event.from, threadId } };
  if (event.type !== 'ThreadOpened' || event.parent === undefined) return event;
  return { ...event, parent: { ...event.parent, threadId }, ancestors: [...ancestors, threadId] };
}
