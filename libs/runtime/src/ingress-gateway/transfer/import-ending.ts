// The end of an import: the imported thread, and those that its history begins in, are closed and then made visible.
//
// Invariants:
//   E1. Every log is closed before the first row is written; rows are written the oldest first, so that a client that
//       sees a thread can read all that goes before it. Ending twice is ending once.
//   E2. The closing is decided like any other, but owes no effects: nothing here has ever dealt with the thread.
import { hash } from 'node:crypto';
import { type Commit, Fault, type ThreadKey, type ThreadLog } from '@dormouse/ports';
import { type CloseRequest, decide, type Moment, type Thread } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { sealCommit } from '../../log/envelope.ts';
import { loadThread, type LoadedThread } from '../../log/thread-reader.ts';
import { inputIdOf, nameOfText, publicId } from '../access/client-id.ts';
import { beginningOf } from '../read/thread-beginning.ts';

export type ImportEndingPorts = Pick<IngressParts, 'log' | 'snapshots' | 'directory' | 'clock' | 'entropy'>;

/** Ends the import of a thread whose log is complete. */
export async function endImport(ports: ImportEndingPorts, key: ThreadKey): Promise<void> {
  const closed: Thread[] = [];
  for (let next: ThreadKey | null = key; next !== null; next = await originOf(ports.log, next))
    closed.unshift(await close(ports, next)); // (E1)
  for (const thread of closed) await insertRow(ports, thread);
}

async function originOf(log: ThreadLog, { tenant, thread }: ThreadKey): Promise<ThreadKey | null> {
  const [first] = await log.read({ tenant, thread }, 0, 1);
  const { before } = beginningOf(first);
  return before === null ? null : { tenant, thread: before.threadId };
}

/** Closes the thread, unless it is. */
async function close(ports: ImportEndingPorts, key: ThreadKey): Promise<Thread> {
  for (;;) {
    const loaded = await loadThread(ports, key);
    if (loaded.thread.status === 'closed') return loaded.thread;
    const commit = sealedClosing(ports, key, loaded);
    const [outcome] = await ports.log.append([{ commit, owes: false }]); // another commit is as good: it is read back
    if (outcome === 'too_large' || outcome === 'unknown')
      throw new Fault('UNAVAILABLE', `the end of an imported thread could not be stored: ${outcome}`);
  }
}

/** The request that closes an imported thread. */
export function closingOf({ tenant, thread }: ThreadKey): CloseRequest {
  const name = nameOfText(JSON.stringify([tenant, 'import', thread]));
  return { kind: 'CloseRequest', id: inputIdOf(name), requestId: publicId('req', name) };
}

function sealedClosing(ports: ImportEndingPorts, key: ThreadKey, { thread, lastHash: prev }: LoadedThread): Commit {
  const at = Math.max(ports.clock.now(), thread.updatedAt);
  const request = closingOf(key);
  const decision = decide(thread, request, momentOf(key, at));
  if (!decision.committed) throw new Fault('INTERNAL', `an imported thread cannot be closed: ${decision.refusal}`);
  const rest = { inputs: [request.id], at, nonce: ports.entropy.nonce(), trace: null, prev };
  return sealCommit({ key, version: thread.position, ...rest, events: decision.events, effects: [] }); // (E2)
}

/** Closing begins nothing: it needs a time, and hardly any id. */
const momentOf = (key: ThreadKey, now: number): Moment => ({
  now,
  streamed: null,
  sha256: (text) => hash('sha256', text),
  nextTime: () => null,
  mint: (prefix, position) => `${prefix}_${nameOfText(JSON.stringify([key.thread, prefix, position]))}`,
});

async function insertRow({ log, directory }: ImportEndingPorts, thread: Thread): Promise<void> {
  const { id, tenant, agent, ancestors, parent, forkedFrom, userId, title, updatedAt, position } = thread;
  const [first] = await log.read({ tenant, thread: id }, 0, 1);
  await directory.insert({
    ...{ tenant, thread: id, status: 'closed', agent: agent.name, agentVersion: agent.version },
    ...{ parent: parent?.threadId ?? null, family: ancestors[0] ?? id, userId, externalId: null, title, metadata: {} },
    ...{ createdAt: first?.at ?? updatedAt, updatedAt, position, opening: null },
    ...(forkedFrom === null ? {} : { forkedFrom: forkedFrom.threadId }),
  });
}
