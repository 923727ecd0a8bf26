// A thread that was exported, here or elsewhere, as a closed thread of this tenant: to be read, verified and forked.
//
// Invariants:
//   M1. The thread's id is a function of the tenant and the file: the same file twice is one thread, a part that was sent
//       before changes nothing, and no part can reach a thread that was not imported.
//   M2. A commit is taken when its own hash holds and it follows the one before. It is sealed anew under the new id, with the
//       same events, inputs and time; nothing that it once owed is owed here.
//   M3. The last part closes the thread: what was open in it belongs to where it came from. A fork goes on.
//   M4. What a thread needs from others is there, or the import is refused: its agent's version, its blobs; a child or a fork
//       has history in another thread.
import type { Agents, Blobs, Clock, Commit, InputBus, ThreadDirectory, ThreadKey, ThreadLog } from '@dormouse/ports';
import type { RecordedEvent } from '@dormouse/thread';
import { chainHash, openCommit, sealCommit } from '../envelope.ts';
import { inputIdOf, nameOfText, publicId } from './client-id.ts';
import { answered, type Answered, invalid } from './refusal.ts';

export interface ImportPart {
  /** Hash of the file's first commit. */
  readonly of: string;
  readonly commits: readonly Commit[];
  readonly last: boolean;
}

export interface ImportDesk {
  take(tenant: string, part: ImportPart): Promise<Answered<{ readonly thread: string; readonly position: number }>>;
}

export interface ImportPorts {
  readonly agents: Agents;
  readonly blobs: Blobs;
  readonly log: ThreadLog;
  readonly directory: ThreadDirectory;
  readonly bus: InputBus;
  readonly clock: Clock;
}

export function createImportDesk(ports: ImportPorts): ImportDesk {
  const { log, bus } = ports;
  return {
    async take(tenant, { of, commits, last }) {
      const name = nameOfText(JSON.stringify([tenant, 'import', of])); // (M1)
      const key: ThreadKey = { tenant, thread: publicId('thr', name) };
      for (const [place, commit] of commits.entries()) {
        const problem = defectOf(commit, commits[place - 1]) ?? (await lackOf(ports, tenant, commit, of));
        if (problem !== null) return invalid([{ pointer: `/commits/${place}`, detail: problem }]);
      }
      for (const [place, commit] of commits.entries()) {
        if (commit.version === 0) await insertRow(ports, key, commit);
        const problem = await append(log, key, commit);
        if (problem !== null) return invalid([{ pointer: `/commits/${place}`, detail: problem }]);
      }
      const head = await log.head(key);
      if (head === null) return invalid([{ pointer: '/commits', detail: 'must begin with the first commit' }]);
      const isClosed = openCommit(head).events.some((event) => event.type === 'ThreadClosed');
      if (last && !isClosed)
        await bus.publish(key, { kind: 'CloseRequest', id: inputIdOf(name), requestId: publicId('req', name) }); // (M3)
      return answered({ thread: key.thread, position: head.version + head.count });
    },
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
  of: string,
): Promise<string | null> {
  const { events } = openCommit(commit);
  if (commit.version === 0) {
    const [opened] = events;
    if (opened?.type !== 'ThreadOpened' || commit.hash !== of) return 'is not the first commit of this file';
    if (opened.parent !== undefined) return 'is of a child, whose history begins in another thread';
    const { name, version } = opened.agent;
    if ((await agents.version(tenant, name, version)) === null)
      return `needs the agent ${name}, version ${version}, which is not here`;
  }
  if (events.some((event) => event.type === 'ThreadForked'))
    return 'is of a fork, whose history begins in another thread';
  for (const sha256 of blobsOf(events))
    if ((await blobs.get(tenant, sha256)) === null) return `needs the blob ${sha256}, which is not here`;
  return null;
}

/** Every `blob` that the events refer to. */
function blobsOf(events: readonly RecordedEvent[]): ReadonlySet<string> {
  const found = new Set<string>();
  JSON.stringify(events, (name, value: unknown) => {
    if (name === 'blob' && typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)) found.add(value);
    return value;
  });
  return found;
}

async function insertRow({ directory }: ImportPorts, { tenant, thread }: ThreadKey, first: Commit): Promise<void> {
  const [opened] = openCommit(first).events;
  if (opened?.type !== 'ThreadOpened') return;
  await directory.insert({
    ...{ tenant, thread, status: 'idle', agent: opened.agent.name, agentVersion: opened.agent.version },
    ...{ parent: null, family: thread, userId: opened.userId, externalId: null, title: opened.title, metadata: {} },
    ...{ createdAt: first.at, updatedAt: first.at, position: 0, opening: null },
  });
}

/** Appends at the head, or finds that it is there. Why it is not, or null. (M1, M2) */
async function append(log: ThreadLog, key: ThreadKey, commit: Commit): Promise<string | null> {
  const head = await log.head(key);
  const end = head === null ? 0 : head.version + head.count;
  if (commit.version > end) return `does not follow what is here, which ends at ${end}`;
  if (commit.version === end) {
    const { version, inputs, at, nonce, trace } = commit;
    const prev = head?.hash ?? '';
    const sealed = sealCommit({ key, version, inputs, at, nonce, trace, prev, ...openCommit(commit), effects: [] });
    const [outcome] = await log.append([{ commit: sealed, owes: false }]);
    if (outcome === 'appended') return null;
    if (outcome === 'too_large') return 'is larger than the store takes';
  }
  const [there] = await log.read(key, commit.version, 1);
  return there?.nonce === commit.nonce ? null : 'is not the one that is here';
}
