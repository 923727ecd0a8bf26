// The event log of every thread in the collection `commits`. Contract: ports/log/thread-log.ts (L1..L8).
//
// Invariants:
//   M1. One commit is one document and one insert; a group is one unordered insertMany, so one that fails harms no
//       other. Commits of one thread in one group are inserted one after the other. (L4)
//   M2. `_id` decides which commit wins a version. A version is the head's only if a commit ends there: if this process
//       does not remember the head, it queries it. (L1)
//   M3. A duplicate key says only that another write was first. Which key it was is read back: this commit's own nonce
//       means stored, another commit of this version a conflict, a commit of one of its inputs a duplicate (L2). If
//       there is none of them, its place was taken: it is inserted again, at a higher one. (commit-places P3)
//   M4. Every commit of a group whose answer was lost is `unknown`; a group that no server took is a fault. As soon as
//       one outcome of a group is known, the rest is `unknown`: the others keep their outcomes. (L4, L5, L8)
//   M5. A commit that no document can hold is not sent: it would fail its whole group. (L7)
//   M6. Every query names the shards of its threads: on a sharded MongoDB it goes to the servers that have them.
import { type Append, type AppendOutcome, type Commit, Fault, type ThreadKey, type ThreadLog } from '@dormouse/ports';
import type { Model } from 'mongoose';
import {
  type CommitDocument,
  commitIdOf,
  commitOf,
  documentOf,
  isTooLarge,
  naming,
  versionRange,
} from './commit-document.ts';
import type { CommitPlaces } from './commit-places.ts';
import { decidedName, decidedNames } from './decided-inputs.ts';
import { KnownHeads } from './known-heads.ts';
import type { Shards } from './shards.ts';
import {
  faultOf,
  isDeadlock,
  isDuplicate,
  isSizeRefusal,
  type MongoServer,
  singleFailures,
  wasNotSent,
} from '../mongo-server.ts';

/** Outcomes of a wave by place; null where the server asks for a retry. */
type WaveOutcome = AppendOutcome | null;
type Failure = 'taken' | 'again' | 'too_large';

const triesMax = 20;
const readBatch = 1_000;

export function createThreadLog(
  server: MongoServer,
  commits: Model<CommitDocument>,
  places: Pick<CommitPlaces, 'take' | 'saw' | 'collided' | 'leave'>,
  shards: Shards,
): ThreadLog {
  const heads = new KnownHeads();

  /** The thread ends there, or ended there once. */
  function sawEnd(document: CommitDocument): void {
    places.saw(document);
    heads.saw(document, document.version + document.count);
  }

  /** The last commit with `version <= to`. */
  async function lastUpTo(key: ThreadKey, to: number | null): Promise<Commit | null> {
    const found = await server.read(() =>
      commits
        .find(versionRange(key, shards.of(key), 0, to))
        .sort({ _id: -1 })
        .limit(1)
        .lean(),
    );
    const [last] = found;
    if (last === undefined) return null;
    sawEnd(last);
    return commitOf(last);
  }

  /** (M2) */
  async function isAtHead(commit: Commit): Promise<boolean> {
    if (commit.version === 0) return true; // (known-heads K2)
    const known = heads.of(commit) ?? 0;
    if (commit.version <= known) return commit.version === known;
    const before = await lastUpTo(commit, commit.version - 1);
    return before !== null && before.version + before.count === commit.version;
  }

  async function store(group: readonly Commit[]): Promise<readonly AppendOutcome[]> {
    const outcomes: (AppendOutcome | undefined)[] = await Promise.all(
      group.map(async (commit) => {
        if (isTooLarge(commit)) return 'too_large'; // (M5)
        return (await isAtHead(commit)) ? undefined : 'conflict';
      }),
    );
    for (let tries = 1; ; tries += 1) {
      const open = [...group.keys()].filter((place) => outcomes[place] === undefined);
      if (open.length === 0) return outcomes.map((outcome) => outcome ?? 'unknown');
      try {
        if (tries > triesMax) throw faultOf(new Error('writers wait for each other all the time'));
        const answers = await insert(open.flatMap((place) => group[place] ?? []));
        for (const [index, place] of open.entries()) outcomes[place] = answers[index] ?? undefined;
      } catch (error) {
        if (open.length === group.length || !(error instanceof Fault)) throw error;
        server.counted.unknownOutcomes += open.length;
        for (const place of open) outcomes[place] = 'unknown'; // (M4)
      }
    }
  }

  async function insert(wave: readonly Commit[]): Promise<readonly WaveOutcome[]> {
    const names = await places.take(wave);
    server.counted.groups += 1;
    server.counted.writes += 1;
    const failures = await failuresOf(
      wave.map((commit, place) => documentOf(commit, shards.of(commit), names[place] ?? '')),
    );
    if (failures === 'unknown') {
      server.counted.unknownOutcomes += wave.length;
      return wave.map(() => 'unknown');
    }
    const outcomes: WaveOutcome[] = wave.map((_, place) => {
      const failure = failures.get(place);
      if (failure === undefined) return 'appended';
      return failure === 'too_large' ? failure : null;
    });
    const taken = wave.filter((_, place) => failures.get(place) === 'taken');
    const meanings = taken.length === 0 ? new Map<Commit, WaveOutcome>() : await meaningsOf(taken).catch(notRead);
    if (meanings === null) server.counted.unknownOutcomes += taken.length;
    const unused: string[] = [];
    for (const [place, commit] of wave.entries()) {
      const failure = failures.get(place);
      if (failure === 'taken') outcomes[place] = meanings === null ? 'unknown' : (meanings.get(commit) ?? null);
      const outcome = outcomes[place];
      if (failure !== undefined && outcome !== 'appended' && outcome !== 'unknown') {
        // Where the place itself was taken, a void finds it filled.
        unused.push(names[place] ?? '');
        if (failure === 'taken' && outcome === null) places.collided(commit);
      }
      if (outcome !== 'appended') continue;
      server.counted.commits += 1;
      if (commit.version === 0) heads.began(commit, commit.count);
      else heads.saw(commit, commit.version + commit.count);
    }
    if (unused.length > 0) places.leave(unused);
    return outcomes;
  }

  /** The server's refusals, by place. (M4) */
  async function failuresOf(documents: readonly CommitDocument[]): Promise<ReadonlyMap<number, Failure> | 'unknown'> {
    try {
      // Native: the model's insertMany makes and validates a Mongoose document of every commit, which takes 0.1 ms of
      // the processor where the insert takes 0.03 ms. `documentOf` keeps to the schema. (commit-document.spec.ts)
      await server.timedAppend(() => commits.collection.insertMany(documents as object[], { ordered: false }));
      return new Map();
    } catch (error) {
      const refused = refusalsOf(error);
      if (refused !== null) return refused;
      if (wasNotSent(error)) throw faultOf(error);
      return 'unknown';
    }
  }

  /** What it means that one of their keys was taken; null where it was the place. (M3) */
  async function meaningsOf(taken: readonly Commit[]): Promise<ReadonlyMap<Commit, WaveOutcome>> {
    const ids = taken.map((commit) => commitIdOf(commit, commit.version));
    const shardsOfAll = [...new Set(taken.map((commit) => shards.of(commit)))];
    const found = await server.read(() => commits.find({ shard: { $in: shardsOfAll }, _id: { $in: ids } }).lean());
    const nonces = new Map(found.map(({ _id, nonce }) => [_id, nonce]));
    const nonceAt = (commit: Commit): string | undefined => nonces.get(commitIdOf(commit, commit.version));
    const names = taken
      .filter((commit) => nonceAt(commit) === undefined)
      .flatMap((commit) => decidedNames(commit, commit.inputs).map((name) => ({ shard: shards.of(commit), name })));
    const deciding =
      names.length === 0 ? [] : await server.read(() => commits.find(naming(names), { decided: 1 }).lean());
    const known = new Set(deciding.flatMap(({ decided = [] }) => decided));
    return new Map(
      taken.map((commit) => {
        const nonce = nonceAt(commit);
        if (nonce !== undefined) return [commit, nonce === commit.nonce ? 'appended' : 'conflict'];
        return [commit, decidedNames(commit, commit.inputs).some((name) => known.has(name)) ? 'duplicate' : null];
      }),
    );
  }

  return {
    append: async (group) => {
      const outcomes: AppendOutcome[] = [];
      for (const [nth, wave] of wavesOf(group).entries()) {
        const answers = await store(wave.map(({ commit }) => commit)).catch((error: unknown) => {
          if (nth === 0 || !(error instanceof Fault)) throw error;
          return []; // (M4)
        });
        for (const [index, { place }] of wave.entries()) outcomes[place] = answers[index] ?? 'unknown';
      }
      return outcomes;
    },
    read: async (key, from, limit) => {
      const found = await server.read(() => {
        const asked = commits
          .find(versionRange(key, shards.of(key), from, null))
          .sort({ _id: 1 })
          .batchSize(readBatch);
        return (limit === undefined ? asked : asked.limit(limit)).lean();
      });
      const last = found.at(-1);
      if (last !== undefined) sawEnd(last);
      return found.map(commitOf);
    },
    at: async (key, position) => {
      if (position < 1) return null;
      const commit = await lastUpTo(key, position - 1);
      return commit !== null && commit.version + commit.count >= position ? commit : null;
    },
    findByInputs: async (key, inputs) => {
      if (inputs.length === 0) return [];
      const shard = shards.of(key);
      const names = inputs.map((input) => ({ shard, name: decidedName(key, input) }));
      const found = await server.read(() => commits.find(naming(names)).lean());
      return inputs.map((input) => {
        const document = found.find((each) => each.inputs.includes(input));
        return document === undefined ? null : commitOf(document);
      });
    },
    head: (key) => lastUpTo(key, null),
  };
}

interface Placed {
  readonly commit: Commit;
  readonly place: number;
}

/** Groups in which each thread occurs once, in order. (M1) */
function wavesOf(group: readonly Append[]): readonly (readonly Placed[])[] {
  const waves: Placed[][] = [];
  const used = new Map<string, number>();
  for (const [place, { commit }] of group.entries()) {
    const name = `${commit.tenant} ${commit.thread}`;
    const wave = used.get(name) ?? 0;
    used.set(name, wave + 1);
    (waves[wave] ??= []).push({ commit, place });
  }
  return waves;
}

/** The refusals inside an error of a bulk write; null for any other error, after which nothing is known. */
function refusalsOf(error: unknown): ReadonlyMap<number, Failure> | null {
  const list = singleFailures(error);
  if (list === null) return null;
  const refusals = new Map<number, Failure>();
  for (const each of list) {
    if (isDuplicate(each)) refusals.set(each.index, 'taken');
    else if (isDeadlock(each)) refusals.set(each.index, 'again');
    else if (isSizeRefusal(each)) refusals.set(each.index, 'too_large');
    else return null;
  }
  return refusals;
}

/** Nothing is known of a commit that could not be read. */
function notRead(error: unknown): null {
  if (error instanceof Fault) return null;
  throw error;
}
