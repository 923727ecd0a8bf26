// The log with sealed bodies: what is appended and read is in the clear, what is stored is not.
//
// A thread has two chains of hashes. One is over its commits as they are decided and read: `prev` and `hash` of it are
// sealed together with the body. The other is over the commits as they are stored, and needs no key: it holds also
// when the key is gone.
//
// Invariants:
//   L1. A commit that is read is, byte for byte, the one that was appended. (thread-log L3)
//   L2. A stored commit names the key that seals it (`kid`: its family), and its `prev` is the stored hash of the
//       commit before it. Commits of earlier releases have no `kid`, and are stored and read as they are.
//   L3. Contents of a family that was erased are read as they are stored: with `kid`, and of the stored chain.
//       (envelope V3) So are those of a thread that was emptied. What is appended to either is stored without its body,
//       but for a commit that says no more than that the thread's contents are erased: that is never sealed.
//   L4. The hash that a thread ends with is remembered from what was read or answered as appended, for the next commit
//       of the thread. A commit that is not at the head is refused by the store (thread-log L1). Of one thread one
//       group is on its way at a time: the next one follows what has become of it. Where contents are erased, commits
//       may be rewritten by another process: there the store is asked each time.
//   L5. A commit costs one sealing; a thread that is active here costs no read.
import { ThreadMap } from '@dormouse/collections';
import type { Append, AppendAnswer, Commit, PlacedCommit, Stores, TenantId } from '@dormouse/ports';
import { chainHash, openCommit } from '../log/envelope.ts';
import type { FamilyKeyring, OpenKey } from './family-keyring.ts';
import { familyOfFirst, type ThreadFamily } from './thread-family.ts';

export interface SealedLogDeps extends Pick<Stores, 'log' | 'tenantLog'> {
  readonly keyring: FamilyKeyring;
  readonly families: ThreadFamily;
}

/** Where the stored chain of a thread ends. */
interface End {
  readonly version: number;
  readonly hash: string;
}

/** What a commit needs to be sealed. */
interface Sealing {
  readonly family: string;
  readonly key: OpenKey;
  /** Of the stored chain. */
  readonly prev: string;
}

const rememberedMax = 50_000;

export function createSealedLog(deps: SealedLogDeps): Pick<Stores, 'log' | 'tenantLog'> {
  const { log, tenantLog, keyring, families } = deps;
  const ends = new ThreadMap<End>();
  /** Threads whose contents are erased. (L4) */
  const erased = new ThreadMap<true>();
  /** Threads of groups that are on their way. (L4) */
  const onTheirWay = new ThreadMap<Promise<void>>();
  const saw = (stored: Commit): void => {
    const version = stored.version + stored.count;
    const known = ends.get(stored);
    if (known === undefined || known.version < version)
      ends.setWithin(rememberedMax, stored, { version, hash: stored.hash });
  };

  /** Undefined when something of it must be read. (L5) */
  function sealingNow(commit: Commit): Sealing | undefined {
    if (erased.has(commit)) return undefined;
    const family = commit.version === 0 ? familyOfNew(commit) : families.remembered(commit);
    const key = family === undefined ? undefined : keyring.fresh(commit.tenant, family);
    const prev = key === null ? undefined : prevNow(commit);
    return family === undefined || key === undefined || prev === undefined ? undefined : { family, key, prev };
  }

  function familyOfNew(commit: Commit): string {
    const family = families.remembered(commit) ?? familyOfFirst(commit);
    families.remember(commit, family);
    return family;
  }

  function prevNow(commit: Commit): string | undefined {
    if (commit.version === 0) return '';
    const end = ends.get(commit);
    return end?.version === commit.version ? end.hash : undefined;
  }

  /** That of the commit before, if it ends where this one begins; else the store will refuse this one. (L4) */
  async function prevOf(commit: Commit): Promise<string> {
    const before = await log.at(commit, commit.version);
    if (before !== null) noteErased(before);
    return before !== null && before.version + before.count === commit.version ? before.hash : '';
  }

  async function sealingOf(commit: Commit): Promise<Sealing> {
    const family = commit.version === 0 ? familyOfNew(commit) : await families.of(commit);
    const key = await keyring.forSealing(commit.tenant, family);
    const isErased = key === null || erased.has(commit);
    const prev = (isErased ? undefined : prevNow(commit)) ?? (await prevOf(commit));
    return { family, key: erased.has(commit) ? null : key, prev };
  }

  function noteErased(commit: Commit): void {
    if (isEmptied(commit) || isErasure(commit)) erased.setWithin(rememberedMax, commit, true);
  }

  function sealed(commit: Commit, { family, key, prev }: Sealing): Commit {
    if (isErasure(commit)) {
      erased.setWithin(rememberedMax, commit, true);
      return chained(commit, commit.kid, prev, commit.body); // (L3)
    }
    const inside = `${commit.prev}\n${commit.hash}\n${commit.body}`;
    const body = key === null ? '' : key.sealText(placeOf(commit), inside); // (L3)
    return chained(commit, family, prev, body);
  }

  function opened(stored: Commit, keys: ReadonlyMap<string, OpenKey>): Commit {
    const { kid } = stored;
    const key = kid === null ? null : (keys.get(kid) ?? null);
    if (kid === null || key === null || stored.body === '') return stored; // (L2, L3)
    const inside = key.openText(placeOf(stored), stored.body);
    const [endOfPrev, endOfHash] = [inside.indexOf('\n'), inside.indexOf('\n', inside.indexOf('\n') + 1)];
    const [prev, hash] = [inside.slice(0, endOfPrev), inside.slice(endOfPrev + 1, endOfHash)];
    return { ...stored, kid: null, prev, hash, body: inside.slice(endOfHash + 1) }; // (L1)
  }

  async function openAll(tenant: TenantId, stored: readonly Commit[]): Promise<readonly Commit[]> {
    for (const commit of stored) if (isEmptied(commit)) noteErased(commit);
    const kids = new Set(stored.flatMap(({ kid, body }) => (kid === null || body === '' ? [] : [kid])));
    const keys = kids.size === 0 ? noKeys : await keyring.forOpening(tenant, kids);
    return stored.map((commit) => opened(commit, keys));
  }

  async function openOne(stored: Commit | null): Promise<Commit | null> {
    return stored === null ? null : ((await openAll(stored.tenant, [stored]))[0] ?? null);
  }

  /** In order: a commit may follow one of the same group. */
  async function sealAll(group: readonly Append[]): Promise<readonly Append[]> {
    const before = new ThreadMap<Commit>();
    const all: Append[] = [];
    for (const { commit, owes } of group) {
      const sealing = sealingNow(commit) ?? (await sealingOf(commit));
      const last = before.get(commit);
      const follows = last !== undefined && last.version + last.count === commit.version;
      const stored = sealed(commit, follows ? { ...sealing, prev: last.hash } : sealing);
      before.set(commit, stored);
      all.push({ commit: stored, owes });
    }
    return all;
  }

  async function append(group: readonly Append[]): Promise<readonly AppendAnswer[]> {
    const stored = await sealAll(group);
    for (const { commit } of stored) ends.delete(commit); // unknown until it is answered
    const answers = await log.append(stored);
    for (const [place, { commit }] of stored.entries()) {
      if (answers[place] === 'appended') saw(commit);
      else ends.delete(commit); // (L4)
    }
    return answers;
  }

  return {
    log: {
      async append(group) {
        const underWay = (): Append | undefined => group.find(({ commit }) => onTheirWay.has(commit));
        for (let first = underWay(); first !== undefined; first = underWay()) await onTheirWay.get(first.commit);
        const arrival = Promise.withResolvers<void>();
        for (const { commit } of group) onTheirWay.set(commit, arrival.promise);
        try {
          return await append(group);
        } finally {
          for (const { commit } of group) onTheirWay.delete(commit);
          arrival.resolve();
        }
      },
      async read(key, from, limit) {
        const stored = await log.read(key, from, limit);
        const last = stored.at(-1);
        if (last !== undefined) saw(last);
        return openAll(key.tenant, stored);
      },
      at: async (key, position) => openOne(await log.at(key, position)),
      async findByInputs(key, inputs) {
        const found = await log.findByInputs(key, inputs);
        const stored = found.filter((commit) => commit !== null);
        const all = await openAll(key.tenant, stored);
        const byVersion = new Map(all.map((commit) => [commit.version, commit]));
        return found.map((commit) => (commit === null ? null : (byVersion.get(commit.version) ?? null)));
      },
      async head(key) {
        const stored = await log.head(key);
        if (stored !== null) saw(stored);
        return openOne(stored);
      },
    },
    tenantLog: {
      end: (tenant) => tenantLog.end(tenant),
      grown: (places) => tenantLog.grown(places),
      async after(tenant, place, limit) {
        const found = await tenantLog.after(tenant, place, limit);
        const stored = found.map(({ commit }) => commit);
        const all = await openAll(tenant, stored);
        return found.map((each, index): PlacedCommit => ({ ...each, commit: all[index] ?? each.commit }));
      },
    },
  };
}

const noKeys: ReadonlyMap<string, OpenKey> = new Map();

/** A body that is moved to another place in the log does not open. */
const placeOf = ({ tenant, thread, version }: Commit): string => JSON.stringify([tenant, 'commit', thread, version]);

/** As it is stored. (L2) */
function chained(commit: Commit, kid: string | null, prev: string, body: string): Commit {
  const stored = { ...commit, kid, prev, body };
  stored.hash = chainHash(stored);
  return stored;
}

/** Whether a commit, in the clear, says nothing but that the contents of its thread were erased. */
const isErasure = (commit: Commit): boolean =>
  commit.kid === null &&
  commit.body.startsWith(erasing) &&
  openCommit(commit).events.every((event) => event.type === 'ContentErased' && event.scope !== 'inherited');

const isEmptied = ({ kid, body }: Commit): boolean => kid !== null && body === '';

/** Where every event is one of these, the first is. As `sealCommit` writes it. (envelope V2) */
const erasing = '{"events":[{"type":"ContentErased"';
