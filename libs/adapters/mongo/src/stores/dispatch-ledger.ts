// The dispatcher's ledger: a document of `claims` per call with attempts. Contract: ports/stores/dispatch-ledger.ts
// (D1..D3).
//
// Invariants:
//   G1. A claim and an outcome are each set by one update whose filter requires that the field is still unset; the
//       caller that comes second reads the first one's value.
//   G2. Reads or changes of the same moment share a round trip, and those of one call a document; where one of a group
//       was not the first, each is repeated alone.
//   G3. A first attempt is inserted, which costs a third of an upsert; where a claim came before, it is an update.
import type { Attempt, DispatchLedger, DispatchOutcome, LedgerEntry, ThreadKey } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, numberOrNull, text, textOrNull } from '../document-shape.ts';
import { findById } from '../find-by-id.ts';
import { idOf } from '../id-of.ts';
import { duplicatePlaces, isDuplicate, type MongoServer, unordered, upserted } from '../mongo-server.ts';
import { together } from '../together.ts';

interface ClaimDocument {
  readonly _id: string;
  readonly nonce: string | null;
  readonly claimedAt: number | null;
  readonly outcome: DispatchOutcome | null;
  readonly detail: string | null;
  /** Unordered; absent as long as no attempt was made. */
  readonly attempts?: readonly MadeAttempt[];
}

type MadeAttempt = Omit<Attempt, 'toolCallId'>;

/** What is to be stored about one call. */
interface Change {
  readonly id: string;
  readonly made: readonly MadeAttempt[];
  readonly end: { readonly outcome: DispatchOutcome; readonly detail: string | null } | null;
}

/** The same for all changes of one call, merged. */
interface CallChanges {
  readonly id: string;
  readonly made: readonly MadeAttempt[];
  readonly ends: readonly NonNullable<Change['end']>[];
}

const attemptSchema = new Schema<MadeAttempt>(
  { number, at: number, status: { type: Schema.Types.Mixed, required: true }, durationMs: number },
  { ...everySchema, _id: false },
);
/** An upsert sets the fields to null that it does not name. */
const claimSchema = new Schema<ClaimDocument>(
  {
    ...{ _id: text, nonce: textOrNull, claimedAt: numberOrNull, outcome: textOrNull, detail: textOrNull },
    attempts: { type: [attemptSchema], default: undefined },
  },
  { ...everySchema, collection: 'claims' },
);

const togetherMax = 256;

export function createDispatchLedger(server: MongoServer): DispatchLedger {
  const claims = server.connection.model<ClaimDocument>('Claim', claimSchema);
  const claimId = (key: ThreadKey, subject: string): string => idOf(key.tenant, key.thread, subject);

  /** Sets fields where `unset` is still null; false when another writer was first. (G1) */
  async function setFirst(id: string, unset: 'nonce' | 'outcome', fields: Partial<ClaimDocument>): Promise<boolean> {
    // An upsert that lost to another upsert has not looked at what the other one wrote.
    const { matchedCount, upsertedCount } = await upserted(server, (options) =>
      claims.updateOne({ _id: id, [unset]: null }, { $set: fields }, options),
    );
    return matchedCount + upsertedCount === 1;
  }

  const find = findById(server, claims, togetherMax);

  async function changeAlone({ id, made, end }: Change): Promise<DispatchOutcome | null> {
    if (made.length > 0) {
      const add = { $addToSet: { attempts: { $each: [...made] } } };
      await server.write(() => claims.updateOne({ _id: id }, add, { upsert: true }));
    }
    if (end === null) return null;
    if (await setFirst(id, 'outcome', end)) return end.outcome;
    return (await find(id))?.outcome ?? end.outcome;
  }

  /** Inserts new calls; returns those that have a document already. (G3) */
  async function insertNew(calls: readonly CallChanges[]): Promise<readonly CallChanges[]> {
    const fresh = calls.filter(({ made }) => made.some(({ number }) => number === 1));
    if (fresh.length === 0) return calls;
    const later = calls.filter((call) => !fresh.includes(call));
    try {
      await server.write(() => claims.insertMany(fresh.map(documentOf), unordered));
      return later;
    } catch (error) {
      const known = duplicatePlaces(error);
      if (known === null) throw error;
      return [...later, ...fresh.filter((_, place) => known.has(place))];
    }
  }

  /** True when each of them was the first. */
  async function updateAll(calls: readonly CallChanges[]): Promise<boolean> {
    if (calls.length === 0) return true;
    try {
      const updates = calls.map(updateOf);
      const { matchedCount, upsertedCount } = await server.write(() => claims.bulkWrite(updates, unordered));
      return matchedCount + upsertedCount === calls.length;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      return false;
    }
  }

  /** Answers the recorded outcome. (G2) */
  const change = together<Change, DispatchOutcome | null>(async (changes) => {
    const calls = [...Map.groupBy(changes, ({ id }) => id)].map(([id, ofCall]) => ({
      id,
      made: ofCall.flatMap(({ made }) => made),
      ends: ofCall.flatMap(({ end }) => end ?? []),
    }));
    const isOneEndEach = calls.every(({ ends }) => ends.length <= 1); // of two the first must win (G1)
    return isOneEndEach && (await updateAll(await insertNew(calls)))
      ? changes.map(({ end }) => end?.outcome ?? null)
      : Promise.all(changes.map(changeAlone));
  }, togetherMax);

  return {
    read: async (key, subject) => entryOf(await find(claimId(key, subject))),
    look: async (key, toolCallId) => {
      const found = await find(claimId(key, toolCallId));
      return { entry: entryOf(found), attempts: attemptsOf(toolCallId, found?.attempts ?? []) };
    },
    claim: async (key, subject, nonce, at) => {
      const id = claimId(key, subject);
      if (await setFirst(id, 'nonce', { nonce, claimedAt: at })) return true;
      return (await find(id))?.nonce === nonce;
    },
    unclaim: async (key, subject, nonce) => {
      const filter = { _id: claimId(key, subject), nonce, outcome: null };
      await server.write(() => claims.updateOne(filter, { $set: { nonce: null, claimedAt: null } }));
    },
    settle: async (key, subject, outcome, detail, attempt) => {
      const made = attempt === undefined ? [] : [madeOf(attempt)];
      return (await change({ id: claimId(key, subject), made, end: { outcome, detail } })) ?? outcome;
    },
    record: async (key, attempt) => {
      await change({ id: claimId(key, attempt.toolCallId), made: [madeOf(attempt)], end: null });
    },
    attempts: async (key, toolCallIds) => {
      const found = await Promise.all(toolCallIds.map((toolCallId) => find(claimId(key, toolCallId))));
      return toolCallIds.flatMap((toolCallId, place) => attemptsOf(toolCallId, found[place]?.attempts ?? []));
    },
  };
}

const madeOf = ({ number, at, status, durationMs }: Attempt): MadeAttempt => ({
  number,
  at,
  status,
  durationMs: Math.round(durationMs),
});

/** The whole document of a call; as with `$addToSet`, an attempt that is given twice is stored once. */
function documentOf({ id, made, ends: [end] }: CallChanges): Partial<ClaimDocument> {
  const attempts = [...new Map(made.map((attempt) => [JSON.stringify(attempt), attempt])).values()];
  return { _id: id, ...end, attempts };
}

/** One update with all changes of a call. */
function updateOf({ id, made, ends: [end] }: CallChanges) {
  return {
    updateOne: {
      filter: end === undefined ? { _id: id } : { _id: id, outcome: null },
      update: {
        ...(made.length === 0 ? {} : { $addToSet: { attempts: { $each: [...made] } } }),
        ...(end === undefined ? {} : { $set: end }),
      },
      upsert: true,
    },
  };
}

/** Attempts may be stored before the claim is. */
function entryOf(found: ClaimDocument | null): LedgerEntry | null {
  if (found === null || (found.nonce === null && found.outcome === null)) return null;
  const { nonce, outcome, detail, claimedAt } = found;
  return { nonce, outcome, detail, claimedAt };
}

const attemptsOf = (toolCallId: string, made: readonly MadeAttempt[]): readonly Attempt[] =>
  made
    .map(({ number, at, status, durationMs }) => ({ toolCallId, number, at, status, durationMs }))
    .sort((one, other) => one.number - other.number || one.at - other.at);
