// The log itself: gapless, immutable, chained; replay is a pure function of it. I-03, I-16, I-17
import { chainHash, type SnapshotState } from '@dormouse/runtime';
import { emptyTail, evolve, extendTranscript, type ModelMessage, unopenedThread } from '@dormouse/thread';
import type { Commit, Snapshot } from '@dormouse/ports';
import { type Reading, type ReadingThread, stableText, threadName } from './reading.ts';

/** I-03: positions are 1..n gapless, bytes never change, the hash chain verifies, time never goes back. */
export function logIsAChain({ threads, byName, history }: Reading): readonly string[] {
  const changed = history.sightings.filter((seen) => {
    const now = byName.get(threadName(seen))?.commits.find((commit) => commit.version === seen.version);
    return now === undefined || now.hash !== seen.hash || now.body !== seen.body;
  });
  return [
    ...threads.flatMap(brokenLinks),
    ...changed.map((seen) => `${placeOf(seen)} was seen and is gone or has other bytes`),
  ];
}

function brokenLinks({ commits, events }: ReadingThread): readonly string[] {
  const bad: string[] = [];
  let before: Commit | null = null;
  for (const commit of commits) {
    const place = placeOf(commit);
    const due: number = before === null ? 0 : before.version + before.count;
    if (commit.version !== due) bad.push(`${place} where version ${due} was due`);
    if (commit.count < 1 || commit.inputs.length < 1) bad.push(`${place} has no event or no input`);
    if (events.filter((placed) => placed.commit === commit).length !== commit.count)
      bad.push(`${place} says ${commit.count} events`);
    if (commit.prev !== (before?.hash ?? '')) bad.push(`${place} does not name the commit before it`);
    if (commit.hash !== chainHash(commit)) bad.push(`${place} has a wrong hash`);
    if (before !== null && commit.at < before.at) bad.push(`${place} was decided before its predecessor`);
    before = commit;
  }
  return bad;
}

const placeOf = (commit: Commit): string => `${threadName(commit)}@${commit.version}`;

/** I-16: folding twice gives the same state, and a snapshot equals the replay at its version. */
export function foldIsDeterministic({ byName, threads, history }: Reading): readonly string[] {
  const bad = threads.filter((thread) => thread.end === null).map((thread) => `${thread.name} cannot be folded`);
  for (const { key, snapshot } of history.snapshots) {
    const thread = byName.get(threadName(key));
    if (thread === undefined) bad.push(`${threadName(key)} has a snapshot and no log`);
    else if (thread.end !== null && !isReplay(thread, snapshot))
      bad.push(`${thread.name}: the snapshot at ${snapshot.version} is not what replay gives`);
  }
  return bad;
}

/** The snapshot keeps some of the last messages; how many is not checked. */
function isReplay({ key, events }: ReadingThread, snapshot: Snapshot): boolean {
  const stored = JSON.parse(snapshot.state) as SnapshotState;
  let thread = unopenedThread(key.tenant, key.thread);
  let tail = emptyTail;
  let lastHash = '';
  const messages: ModelMessage[] = [];
  for (const { event, commit, position } of events) {
    if (position > snapshot.version) break;
    thread = evolve(thread, event, commit.at);
    const step = extendTranscript(tail, event);
    tail = step.tail;
    messages.push(...step.messages);
    lastHash = commit.hash;
  }
  const recent = stored.recent ?? [];
  const last = messages.slice(messages.length - recent.length);
  return stableText({ thread, tail, lastHash, recent: last }) === stableText({ ...stored, recent });
}

/** I-17: what was in the log when something else was wiped is still there, in its place, with its bytes. */
export function wipingLosesNothing({ byName, history }: Reading): readonly string[] {
  return history.wipes.flatMap(({ what, heads }) =>
    heads
      .filter(
        (head) =>
          byName.get(threadName(head))?.commits.find((commit) => commit.version === head.version)?.hash !== head.hash,
      )
      .map((head) => `${placeOf(head)} changed after ${what} was wiped`),
  );
}
