// The commits of all threads of a tenant, by their places. Contract: ports/log/tenant-log.ts.
//
// Invariants:
//   T1. A place of the port has one number per shard: everything up to it was given. A reader goes on without a gap,
//       so what comes late is waited for, never passed over. (tenant-log G1)
//   T2. A place that stays empty for `emptyMsMax` while a higher one of its shard is filled is given to a void
//       (commit-places P3): whatever it was meant for is not stored, and will be stored at a higher place.
//   T3. The end is a place below which everything is filled, for ever: what is empty gets voids before it is answered.
//       (tenant-log G3) It looks back `emptyRunMax` places; a commit that comes later than these was decided again by
//       the partition's next owner, and is refused for its version or its inputs.
//   T4. Shards are woven by the times of commits, and a page ends where one of them would have to be read on.
//   T5. What a majority has not stored is not given: it might not stay.
//   T6. On a forward stands the commit that it names. (commit-places P4)
//   T7. For many readers at once the next places of each shard are looked at: one of them is filled where something has
//       come, unless a whole run of places before it stays empty. That is what a reading finds out. (T2)
import { createBoundedMap } from '@dormouse/collections';
import { invalidCursor, type PlacedCommit, type TenantLog, type TenantId } from '@dormouse/ports';
import type { Model } from 'mongoose';
import { idOf } from '../id-of.ts';
import type { MongoServer } from '../mongo-server.ts';
import { type CommitDocument, commitIdOf, commitOf, naming } from './commit-document.ts';
import { type CommitPlaces, isForward, isVoid, placeOf, type Stretch } from './commit-places.ts';
import type { Shards } from './shards.ts';

const aheadMin = 4;
/** Places of each shard that are looked at for many readers at once. */
const aheadOfMany = 2;
const emptyMsMax = 2_000;
/** How often a reader looks farther in shards where it finds nothing. */
const farEveryMs = 15_000;
const emptyRunMax = 1_000;
const waitingRemembered = 10_000;

interface Ready {
  readonly shard: number;
  readonly documents: readonly CommitDocument[];
  /** There may be more after these. */
  readonly isFull: boolean;
}

export function createTenantLog(
  server: MongoServer,
  commits: Model<CommitDocument>,
  places: CommitPlaces,
  shards: Shards,
): TenantLog {
  /** When a reader first met an empty place before a filled one, by its name. */
  const metAt = createBoundedMap<number>(waitingRemembered);
  /** When a tenant's shards were last looked at farther ahead. */
  const lookedAt = createBoundedMap<number>(waitingRemembered);
  /** Where each tenant ended when it was last asked. */
  const ends = createBoundedMap<readonly number[]>(waitingRemembered);
  const all = Array.from({ length: shards.count }, (_, shard) => shard);

  async function byPlace(tenant: TenantId, from: readonly number[], ahead: number) {
    const names = all.flatMap((shard) =>
      Array.from({ length: ahead }, (_, nth) => ({ shard, name: idOf(tenant, shard, (from[shard] ?? 0) + nth + 1) })),
    );
    const found = await server.read(() => commits.find(naming(names)).readConcern('majority').lean()); // (T5)
    const standing = await whatStandsOn(found.filter(isForward));
    const byName = new Map<string, CommitDocument>();
    for (const document of found) {
      const at = placeOf(document);
      if (at !== null) byName.set(idOf(tenant, at.shard, at.place), standing.get(document._id) ?? document);
    }
    return byName;
  }

  /** The commits of forwards, by the ids of these. (T6) */
  async function whatStandsOn(forwards: readonly CommitDocument[]): Promise<ReadonlyMap<string, CommitDocument>> {
    if (forwards.length === 0) return new Map();
    const ids = new Map(forwards.map((forward) => [commitIdOf(forward, forward.version), forward._id]));
    const shardsOfAll = [...new Set(forwards.map((forward) => shards.of(forward)))];
    const found = await server.read(() =>
      commits.find({ shard: { $in: shardsOfAll }, _id: { $in: [...ids.keys()] } }).lean(),
    );
    return new Map(found.map((document) => [ids.get(document._id) ?? '', document]));
  }

  /** Fills what has been empty too long, between `from` and a filled place. (T2) */
  async function settle(stretch: Stretch, from: number, filled: number): Promise<void> {
    const empty = idOf(stretch.tenant, stretch.shard, from + 1);
    const since = metAt.get(empty) ?? metAt.set(empty, performance.now());
    if (performance.now() - since < emptyMsMax) return;
    await fillBetween(stretch, from, filled);
    metAt.drop(empty);
  }

  async function fillBetween(stretch: Stretch, from: number, filled: number): Promise<void> {
    const between = Array.from({ length: Math.min(filled - from - 1, emptyRunMax) }, (_, nth) => from + nth + 1);
    const { tenant, shard } = stretch;
    const names = between.map((place) => ({ shard, name: idOf(tenant, shard, place) }));
    if (names.length === 0) return;
    const found = await server.read(() => commits.find(naming(names), { decided: 1 }).lean());
    const known = new Set(found.map((document) => placeOf(document)?.place));
    await places.fill(
      stretch,
      between.filter((place) => !known.has(place)),
    );
  }

  /** Where nothing was found, places farther ahead may be filled: a whole group of commits was lost before them. */
  async function lookFar(tenant: TenantId, from: readonly number[], silent: readonly number[]): Promise<void> {
    const at = lookedAt.get(tenant);
    if (silent.length === 0 || (at !== undefined && performance.now() - at < farEveryMs)) return;
    lookedAt.set(tenant, performance.now());
    await Promise.all(
      silent.map(async (shard) => {
        const known = from[shard] ?? 0;
        const filled = await places.highest({ tenant, shard }, known);
        if (filled > known + 1) await settle({ tenant, shard }, known, filled);
      }),
    );
  }

  /** What is there after `from`, in each shard, as far as it goes without an empty place. (T1) */
  async function readyAfter(tenant: TenantId, from: readonly number[], ahead: number): Promise<readonly Ready[]> {
    const found = await byPlace(tenant, from, ahead);
    const ready: Ready[] = [];
    for (const shard of all) {
      const known = from[shard] ?? 0;
      const at = (nth: number): CommitDocument | undefined => found.get(idOf(tenant, shard, known + nth));
      const documents: CommitDocument[] = [];
      for (let next = at(1); next !== undefined; next = at(documents.length + 1)) documents.push(next);
      let last = ahead;
      while (last > documents.length && at(last) === undefined) last -= 1;
      if (last > documents.length) await settle({ tenant, shard }, known + documents.length, known + last);
      ready.push({ shard, documents, isFull: documents.length === ahead });
    }
    const silent = ready.filter(({ documents }) => documents.length === 0).map(({ shard }) => shard);
    await lookFar(tenant, from, silent);
    return ready;
  }

  return {
    async after(tenant, place, limit) {
      const ahead = Math.max(aheadMin, Math.ceil(limit / shards.count));
      for (let from = numbersOf(place, shards.count); ;) {
        const { given, numbers } = woven(await readyAfter(tenant, from, ahead), from, limit);
        const isOver = numbers.every((number, shard) => number === from[shard]);
        if (given.length > 0 || isOver) return given;
        from = numbers; // voids alone
      }
    },
    async grown(waiting) {
      const looked = waiting.flatMap(({ tenant, place }) =>
        numbersOf(place, shards.count).flatMap((number, shard) =>
          Array.from({ length: aheadOfMany }, (_, nth) => ({
            tenant,
            shard,
            name: idOf(tenant, shard, number + nth + 1),
          })),
        ),
      );
      if (looked.length === 0) return [];
      const tenantOf = new Map(looked.map(({ name, tenant }) => [name, tenant]));
      const found = await server.read(() =>
        commits.find(naming(looked), { decided: 1 }).readConcern('majority').lean(),
      );
      const grown = found.flatMap(({ decided = [] }) => tenantOf.get(decided.at(-1) ?? '') ?? []);
      return [...new Set(grown)];
    },
    async end(tenant) {
      const known = ends.get(tenant);
      const filled = all.map(async (shard) => {
        const last = await places.highest({ tenant, shard }, known?.[shard] ?? 0);
        await fillBetween({ tenant, shard }, Math.max(0, last - emptyRunMax), last); // (T3)
        return last;
      });
      return placeText(ends.set(tenant, await Promise.all(filled)));
    },
  };
}

interface Woven {
  readonly given: readonly PlacedCommit[];
  /** Everything up to here was given, or is a void. */
  readonly numbers: readonly number[];
}

/** (T4) A void moves the place on, and is not given. */
function woven(ready: readonly Ready[], from: readonly number[], limit: number): Woven {
  const given: PlacedCommit[] = [];
  const numbers = [...from];
  const next = ready.map(() => 0);
  while (given.length < limit) {
    let earliest: { readonly index: number; readonly document: CommitDocument } | null = null;
    for (const [index, { documents, isFull }] of ready.entries()) {
      const document = documents[next[index] ?? 0];
      if (document === undefined && isFull) return { given, numbers };
      if (document !== undefined && (earliest === null || document.at < earliest.document.at))
        earliest = { index, document };
    }
    if (earliest === null) return { given, numbers };
    const { index, document } = earliest;
    next[index] = (next[index] ?? 0) + 1;
    const shard = ready[index]?.shard ?? 0;
    numbers[shard] = (numbers[shard] ?? 0) + 1;
    if (!isVoid(document)) given.push({ commit: commitOf(document), place: placeText(numbers) });
  }
  return { given, numbers };
}

const radix = 36;
const placeText = (numbers: readonly number[]): string => numbers.map((number) => number.toString(radix)).join('.');

function numbersOf(place: string | null, count: number): readonly number[] {
  const given = place === null ? [] : place.split('.');
  if (given.length > count || !given.every((part) => /^[0-9a-z]{1,9}$/.test(part))) throw invalidCursor();
  return Array.from({ length: count }, (_, shard) => Number.parseInt(given[shard] ?? '0', radix));
}
