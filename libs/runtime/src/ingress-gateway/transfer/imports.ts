// A thread that was exported, here or elsewhere, as a closed thread of this tenant: to be read, verified and forked.
// The threads that its history begins in come with it, each as a closed thread of its own.
//
// Invariants:
//   M1. The thread's id is a function of the tenant and the hash of its last commit, hence of all of them: the same
//       file twice is one thread, a part that was sent before changes nothing, and no part can reach a thread that was
//       not imported.
//   M2. A commit is taken when its own hash holds and it follows the one before, in whatever part that came: the nonce
//       here is the hash there. It is sealed anew under the new id, with the same inputs, time and events, but for the
//       ids of where its history begins; nothing that it once owed is owed here.
//   M3. Whole or nothing: until the last part the log has no row, so it is not visible. The last part closes the thread
//       and those before it, and then writes their rows, the oldest first. What was open stays with the original.
//       (import-ending E1)
//   M4. What a thread needs from others is there, or the import is refused: its agent's version, its blobs, and for a
//       child or a fork the imported thread that its history begins in, to its end; so no history is circular.
//   M5. A file whose hashes hold may still be forged: every commit is read here as it will be read later, before it is
//       stored. Each part leaves a snapshot, so that the next one begins where it ended.
import { hash } from 'node:crypto';
import { type Blobs, type Commit, Fault, type ThreadKey, type ThreadLog, type TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { openCommit, sealCommit } from '../../log/envelope.ts';
import { encodeSnapshot, type LoadedThread, loadThread, snapshotShape } from '../../log/thread-reader.ts';
import { nameOfText, publicId } from '../access/client-id.ts';
import { begunHere, type ImportedCommit, isBegunIn, lackOf, type Origin, readImported } from './import-commit.ts';
import { readAsEverybody } from './import-fold.ts';
import { closingOf, endImport } from './import-ending.ts';
import { namedBlobs } from './named-blobs.ts';
import { beginningOf } from '../read/thread-beginning.ts';
import { answered, type Answered, invalid } from '../refusal.ts';

export interface ImportPart {
  /** Hash of the thread's last commit in the file. */
  readonly of: string;
  /** The same for the thread that its history begins in; null when it begins by itself. */
  readonly origin: string | null;
  readonly commits: readonly ImportedCommit[];
  /** Ends the file: from now on the thread and those before it are visible. */
  readonly last: boolean;
}

export interface ImportedBlob {
  readonly sha256: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface ImportApi {
  /** `position` is the end of the part. */
  take(tenant: TenantId, part: ImportPart): Promise<Answered<{ readonly thread: string; readonly position: number }>>;
  /** What later commits refer to. */
  takeBlob(tenant: TenantId, blob: ImportedBlob): Promise<Answered<null>>;
}

export type ImportPorts = Pick<
  IngressParts,
  'agents' | 'blobs' | 'log' | 'snapshots' | 'directory' | 'clock' | 'entropy' | 'limits'
>;

export function createImportApi(ports: ImportPorts): ImportApi {
  const { log, blobs } = ports;
  return {
    async takeBlob(tenant, { sha256, mediaType, bytes }) {
      if (hash('sha256', bytes) !== sha256)
        return invalid([{ pointer: '/data', detail: 'does not have the hash that it says' }]);
      const room = await ports.limits.mayStore(tenant);
      if (!room.ok) return room;
      await blobs.put(tenant, sha256, bytes, mediaType);
      return answered(null);
    },
    async take(tenant, { of, origin: originOf, commits, last }) {
      const end = commits.at(-1);
      if (end === undefined || (last && end.hash !== of))
        return invalid([{ pointer: '/last', detail: 'is not the part that ends this thread' }]);
      const room = await roomFor(ports, tenant, commits);
      if (!room.ok) return room;
      const key = keyOf(tenant, of);
      const origin = originOf === null ? null : await originAt(log, tenant, originOf);
      const judged = await judge(ports, key, commits, origin);
      if (judged.problem !== null) return notTaken(judged.problem, 0);
      const lost = await append(log, key, judged.sealed);
      if (lost !== null) return notTaken(lost, commits.length - judged.sealed.length);
      for (const { body } of judged.sealed) ports.limits.stored(tenant, body.length);
      await adoptBlobs(blobs, judged.sealed);
      if (judged.sealed.length > 0) await keepSnapshot(ports, key, judged.end); // (M5)
      if (last) await endImport(ports, key); // (M3)
      return answered({ thread: key.thread, position: end.version + end.count });
    },
  };
}

/** Payloads that came before their thread become the thread's own. */
async function adoptBlobs(blobs: Blobs, sealed: readonly Commit[]): Promise<void> {
  for (const commit of sealed)
    for (const sha256 of namedBlobs(openCommit(commit).events)) {
      const found = await blobs.get(commit.tenant, sha256);
      if (found !== null) await blobs.put(commit.tenant, sha256, found.bytes, found.mediaType, commit.thread);
    }
}

/** For the bytes, and with the first part for the thread. */
async function roomFor(
  { limits }: ImportPorts,
  tenant: TenantId,
  commits: readonly ImportedCommit[],
): Promise<Answered<null>> {
  const bytes = await limits.mayStore(tenant);
  if (!bytes.ok || commits[0]?.version !== 0) return bytes;
  const thread = await limits.openThread(tenant);
  if (!thread.ok) return thread;
  thread.value.ended(false);
  return answered(null);
}

const notTaken = ({ place, detail }: Refusal, before: number): Answered<never> =>
  invalid([{ pointer: `/commits/${before + place}`, detail }]);

/** (M1) */
const keyOf = (tenant: TenantId, of: string): ThreadKey => ({
  tenant,
  thread: publicId('thr', nameOfText(JSON.stringify([tenant, 'import', of]))),
});

async function originAt(log: ThreadLog, tenant: TenantId, of: string): Promise<Origin> {
  const key = keyOf(tenant, of);
  const [first] = await log.read(key, 0, 1);
  const head = await log.head(key);
  const isWhole = head !== null && (head.nonce === of || head.inputs.includes(closingOf(key).id));
  const { parent, ancestors } = beginningOf(first);
  return {
    ...key,
    ancestors: parent === null ? [] : ancestors,
    events: isWhole ? head.version + head.count : 0,
  };
}

/** Why the commit at a place of the part is not taken. */
interface Refusal {
  readonly place: number;
  readonly detail: string;
}

interface Judged {
  readonly problem: Refusal | null;
  /** The commits that are not here yet, as they would be stored here. */
  readonly sealed: readonly Commit[];
  /** The thread after the whole part. */
  readonly end: LoadedThread;
}

/** Reads the part as every later reader will, and refuses what could not be read. (M2, M4, M5) */
async function judge(
  ports: ImportPorts,
  key: ThreadKey,
  commits: readonly ImportedCommit[],
  origin: Origin | null,
): Promise<Judged> {
  const here = await loadThread(ports, key);
  const { position: behind } = here.thread; // what is before it stays, whatever is appended meanwhile
  const before = behind === 0 ? null : await ports.log.at(key, behind);
  const known = await ports.log.read(key, commits[0]?.version ?? 0, commits.length);
  const sealed: Commit[] = [];
  let end = here;
  let last = before?.nonce ?? '';
  const refused = (place: number, detail: string): Judged => ({ problem: { place, detail }, sealed: [], end: here });
  for (const [place, commit] of commits.entries()) {
    const read = readImported(commit, commits[place - 1]);
    if (!read.ok) return refused(place, read.problem);
    const lack = await lackOf(ports, key, commit, read.events, origin);
    if (lack !== null) return refused(place, lack);
    const { position, updatedAt } = end.thread;
    if (commit.version < position) {
      const mine = known[place];
      if (mine?.nonce !== commit.hash) return refused(place, 'is not the one that is here');
      if (commit.version === 0 && !isBegunIn(mine, origin)) return refused(place, 'begins here in another thread');
      continue;
    }
    if (commit.version > position) return refused(place, `does not follow what is here, which ends at ${position}`);
    if (commit.prev !== last) return refused(place, 'does not follow what is here');
    if (commit.at < updatedAt) return refused(place, 'was decided before the commit before it');
    const { version, inputs, at, hash: nonce, trace } = commit;
    const events = read.events.map((event) => begunHere(event, origin));
    const rest = { version, inputs, at, nonce, trace, prev: end.lastHash };
    const mine = sealCommit({ key, ...rest, events, effects: [] });
    const next = await readAsEverybody(end, mine, events);
    if (next === null) return refused(place, 'holds events that nobody could read');
    sealed.push(mine);
    end = next;
    last = nonce;
  }
  return { problem: null, sealed, end };
}

/** Appends what is new, or finds that another request has appended the same meanwhile. (M1, M2) */
async function append(log: ThreadLog, key: ThreadKey, sealed: readonly Commit[]): Promise<Refusal | null> {
  const answers = await log.append(sealed.map((commit) => ({ commit, owes: false })));
  if (answers.every((answer) => answer === 'appended')) return null;
  const failure = answers.find((answer) => answer instanceof Error);
  if (failure !== undefined) throw failure;
  const there = await log.read(key, sealed[0]?.version ?? 0, sealed.length);
  const place = sealed.findIndex(({ nonce }, index) => there[index]?.nonce !== nonce);
  if (place === -1) return null;
  switch (answers[place]) {
    case 'too_large':
      return { place, detail: 'is larger than the store takes' };
    case 'duplicate':
      return { place, detail: 'decides what a commit before it has decided' };
    case 'unknown':
      throw new Fault('UNAVAILABLE', 'a part of an import may or may not have been stored');
    default:
      return { place, detail: 'is not the one that is here' };
  }
}

/** Best effort: without the snapshot the next part, and every later reader, folds more. */
async function keepSnapshot({ snapshots }: ImportPorts, key: ThreadKey, at: LoadedThread): Promise<void> {
  const { thread, tail, lastHash } = at;
  const state = encodeSnapshot({ thread, tail, lastHash });
  await snapshots.put(key, { version: thread.position, shape: snapshotShape, state }).catch(() => {});
}
