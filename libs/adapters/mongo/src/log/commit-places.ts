// Where each commit stands among those of its tenant: a number per shard, which the commit names beside the inputs that
// it decides (`decided`). For readers of a whole tenant (tenant-log.ts).
//
// Invariants:
//   P1. A place is named once in its shard: what makes an input count once makes a place count once, so that of two
//       writers one gets it. With as many partitions as shards, a shard has one writer at a time; correctness does not
//       depend on that.
//   P2. A writer takes the places after the highest one that it has seen, and it has seen the place of every commit
//       whose end it remembers as a thread's head: in each thread, later versions have higher places.
//   P3. A place that its commit did not need is left to a void, a document without a commit. Every process may put a
//       void on an empty place: the commit that comes late finds its place taken, and takes a higher one. What fills a
//       place stays there for ever.
//   P4. On each place of a shard stands a document of that shard. Before there were shards, a place was of a partition;
//       where the number of partitions has changed since, the commit of such a place lies in another shard: a forward,
//       a document without events, stands on the place and says which commit it is. (migrations/place-old-commits.ts)
import { createBoundedMap, createSharedReads } from '@dormouse/collections';
import { Fault, type ThreadKey, type TenantId, storedTenantId } from '@dormouse/ports';
import type { Model } from 'mongoose';
import { idOf } from '../id-of.ts';
import { duplicatePlaces, faultOf, type MongoServer, unordered } from '../mongo-server.ts';
import { type CommitDocument, naming } from './commit-document.ts';
import type { Shards } from './shards.ts';

/** A shard of one tenant. */
export interface Stretch {
  readonly tenant: TenantId;
  readonly shard: number;
}

export interface CommitPlaces {
  /** Names of places for commits of these threads, in their order, each free as far as this process knows. */
  take(keys: readonly ThreadKey[]): Promise<readonly string[]>;
  /** A stored commit was read, or written. (P2) */
  saw(document: Pick<CommitDocument, 'tenant' | 'decided'>): void;
  /** The place of this commit was taken by another writer: the next one is looked for. */
  collided(key: ThreadKey): void;
  /** Puts voids on places. Resolves when all of them are filled. (P3) */
  fill(stretch: Stretch, places: readonly number[]): Promise<void>;
  /** The same in the background, for places that were taken and not used. */
  leave(names: readonly string[]): void;
  /** The highest place that is filled, and not below `known`. */
  highest(stretch: Stretch, known: number): Promise<number>;
}

const stretchesRemembered = 100_000;
/** So many places side by side may be empty before filled ones: a group of commits that was lost. */
const emptyRunMax = 1_000;
/** Distances at which a reader that knows nothing looks for filled places. */
const distances = Array.from({ length: 40 }, (_, power) => 2 ** power);

const nameOf = ({ tenant, shard }: Stretch, place: number): string => idOf(tenant, shard, place);

/** No name of an input ends in two numbers: its parts are texts. */
const placeAtEnd = /,(\d+),(\d+)\]$/;

/** The shard and the place that a commit names; null for one of an older version, which names none. */
export function placeOf({
  decided = [],
}: Pick<CommitDocument, 'decided'>): { readonly shard: number; readonly place: number } | null {
  for (const name of decided.toReversed()) {
    const [, shard, place] = placeAtEnd.exec(name) ?? [];
    if (place !== undefined) return { shard: Number(shard), place: Number(place) };
  }
  return null;
}

export const isVoid = ({ count, thread }: Pick<CommitDocument, 'count' | 'thread'>): boolean =>
  count === 0 && thread === '';

/** It names the thread and the version of a commit that lies elsewhere. (P4) */
export const isForward = ({ count, thread }: Pick<CommitDocument, 'count' | 'thread'>): boolean =>
  count === 0 && thread !== '';

/** (P3, P4) */
function withoutCommit(stretch: Stretch, place: number, thread = '', version = 0): CommitDocument {
  const { tenant, shard } = stretch;
  const name = nameOf(stretch, place);
  return {
    ...{ _id: name, v: 1, tenant, thread, version, count: 0, inputs: [], at: 0 },
    ...{ nonce: '', trace: null, kid: null, prev: '', hash: '', body: '', shard, decided: [name] },
  };
}

/** (P3) */
function voidNamed(name: string): CommitDocument {
  const [tenant = '', shard = 0, place = 0] = JSON.parse(name) as readonly [string?, number?, number?];
  return withoutCommit({ tenant: storedTenantId(tenant), shard }, place);
}

/** On the place that a commit of another shard names; null for every other commit. (P4) */
export function forwardFor(document: Pick<CommitDocument, 'tenant' | 'thread' | 'version' | 'shard' | 'decided'>) {
  const at = placeOf(document);
  if (at === null || at.shard === document.shard) return null;
  const { tenant, thread, version } = document;
  return withoutCommit({ tenant, shard: at.shard }, at.place, thread, version);
}

export function createCommitPlaces(server: MongoServer, commits: Model<CommitDocument>, shards: Shards): CommitPlaces {
  /** The highest place known to be taken, by stretch. */
  const ends = createBoundedMap<number>(stretchesRemembered);
  /** Stretches in which another writer was met. */
  const outdated = new Set<string>();
  const learning = createSharedReads<void>();

  const stretchOf = (key: ThreadKey): Stretch => ({ tenant: key.tenant, shard: shards.of(key) });
  const keyOf = ({ tenant, shard }: Stretch): string => idOf(tenant, shard);

  function raise(key: string, place: number): void {
    if (place > (ends.get(key) ?? -1)) ends.set(key, place);
  }

  function learn(stretch: Stretch): Promise<void> {
    const key = keyOf(stretch);
    return learning(key, async () => {
      raise(key, await highest(stretch, ends.get(key) ?? 0));
      outdated.delete(key);
    });
  }

  async function filledAmong(stretch: Stretch, places: readonly number[]): Promise<readonly number[]> {
    const names = places.map((place) => ({ shard: stretch.shard, name: nameOf(stretch, place) }));
    const found = await server.read(() => commits.find(naming(names), { decided: 1 }).lean());
    return found.flatMap((document) => placeOf(document)?.place ?? []);
  }

  async function highest(stretch: Stretch, known: number): Promise<number> {
    for (let [end, looked] = [known, distances]; ;) {
      const ahead = looked.map((distance) => end + distance);
      const farthest = Math.max(end, ...(await filledAmong(stretch, ahead)));
      if (farthest > end) [end, looked] = [farthest, distances];
      else if (looked === distances) looked = everyDistance;
      else return end;
    }
  }

  async function insertVoids(voids: readonly CommitDocument[]): Promise<void> {
    if (voids.length === 0) return;
    try {
      await server.write(() => commits.insertMany([...voids], unordered));
    } catch (error) {
      if (duplicatePlaces(error) === null) throw faultOf(error); // else they were filled meanwhile
    }
  }

  return {
    async take(wave) {
      const stretches = wave.map(stretchOf);
      const unknown = stretches.filter((stretch) => {
        const key = keyOf(stretch);
        return ends.get(key) === undefined || outdated.has(key);
      });
      await Promise.all(unknown.map(learn));
      // One step: no other wave takes a place in between.
      return stretches.map((stretch) => {
        const key = keyOf(stretch);
        const place = (ends.get(key) ?? 0) + 1;
        ends.set(key, place);
        return nameOf(stretch, place);
      });
    },
    saw(document) {
      const at = placeOf(document);
      if (at !== null) raise(keyOf({ tenant: document.tenant, shard: at.shard }), at.place); // (P2)
    },
    collided: (key) => void outdated.add(keyOf(stretchOf(key))),
    fill: (stretch, places) => insertVoids(places.map((place) => voidNamed(nameOf(stretch, place)))),
    leave(names) {
      // A place that stays empty is filled by the reader that meets it.
      insertVoids(names.map(voidNamed)).catch(isFault);
    },
    highest,
  };
}

const everyDistance = Array.from({ length: emptyRunMax }, (_, nth) => nth + 1);

/** @throws what is our own mistake. */
function isFault(error: unknown): void {
  if (!(error instanceof Fault)) throw error;
}
