// The dispatcher's ledger in `claims`, and its attempts in `attempts`. Contract: ports/dispatch-ledger.ts (D1..D3).
//
// Invariants:
//   G1. A claim and an outcome are each set by one update that demands that nobody was first; who came second reads who it was.
//   G2. Reads, outcomes and attempts of calls that are on their way at the same time share a round trip; where one of a group
//       was not the first, each is asked about alone.
import type { Attempt, DispatchLedger, DispatchOutcome, ThreadKey } from '@dormouse/ports';
import { idOf } from './id-of.ts';
import { isDuplicate, type MongoServer } from './mongo-server.ts';
import { together } from './together.ts';

interface ClaimDocument {
  readonly _id: string;
  readonly nonce: string | null;
  readonly claimedAt: number | null;
  readonly outcome: DispatchOutcome | null;
  readonly detail: string | null;
}

interface AttemptDocument extends ThreadKey, Attempt {
  readonly _id: string;
  readonly expiresAt: Date;
}

const attemptsKeptMs = 30 * 86_400_000;
const askedTogetherMax = 256;

interface Asked extends ThreadKey {
  readonly toolCallIds: readonly string[];
}

interface Settling {
  readonly id: string;
  readonly outcome: DispatchOutcome;
  readonly detail: string | null;
}

export function createDispatchLedger(server: MongoServer): DispatchLedger {
  const claims = server.collection<ClaimDocument>('claims');
  const attempts = server.collection<AttemptDocument>('attempts');
  const claimId = (key: ThreadKey, subject: string): string => idOf(key.tenant, key.thread, subject);

  /** Sets fields where `unset` is still null; false when somebody was first. (G1) */
  async function setFirst(
    id: string,
    unset: 'nonce' | 'outcome',
    fields: Partial<ClaimDocument>,
    blank: Partial<ClaimDocument>,
  ): Promise<boolean> {
    try {
      await server.write(() =>
        claims.updateOne({ _id: id, [unset]: null }, { $set: fields, $setOnInsert: blank }, { upsert: true }),
      );
      return true;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    // An upsert that lost to another upsert has not looked at what that one wrote.
    const { matchedCount } = await server.write(() => claims.updateOne({ _id: id, [unset]: null }, { $set: fields }));
    return matchedCount === 1;
  }

  const find = together<string, ClaimDocument | null>(async (ids) => {
    const found = await server.read(() => claims.find({ _id: { $in: [...ids] } }).toArray());
    const byId = new Map(found.map((claim) => [claim._id, claim]));
    return ids.map((id) => byId.get(id) ?? null);
  }, askedTogetherMax);

  async function settleAlone({ id, outcome, detail }: Settling): Promise<DispatchOutcome> {
    if (await setFirst(id, 'outcome', { outcome, detail }, { nonce: null, claimedAt: null })) return outcome;
    return (await find(id))?.outcome ?? outcome;
  }

  /** (G2) */
  const settleOne = together<Settling, DispatchOutcome>(async (items) => {
    const updates = items.map(({ id, outcome, detail }) => ({
      updateOne: {
        filter: { _id: id, outcome: null },
        update: { $set: { outcome, detail }, $setOnInsert: { nonce: null, claimedAt: null } },
        upsert: true,
      },
    }));
    try {
      const { matchedCount, upsertedCount } = await server.write(() => claims.bulkWrite(updates, { ordered: false }));
      if (matchedCount + upsertedCount === items.length) return items.map(({ outcome }) => outcome);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    return Promise.all(items.map(settleAlone));
  }, askedTogetherMax);

  const recordOne = together<AttemptDocument, void>(async (documents) => {
    try {
      await server.write(() => attempts.insertMany(documents.slice(), { ordered: false }));
    } catch (error) {
      if (!isDuplicate(error)) throw error; // the others of the group are stored, and these were before
    }
    return documents.map(() => undefined);
  }, askedTogetherMax);

  /** Of one tenant's calls, whoever asks for them. */
  const findAttempts = together<Asked, readonly AttemptDocument[]>(async (asked) => {
    const found: AttemptDocument[] = [];
    for (const [tenant, ofTenant] of Map.groupBy(asked, (each) => each.tenant)) {
      const calls = [...new Set(ofTenant.flatMap(({ toolCallIds }) => toolCallIds))];
      found.push(
        ...(await server.read(() =>
          attempts
            .find({ tenant, toolCallId: { $in: calls } })
            .sort({ toolCallId: 1, number: 1, at: 1 })
            .toArray(),
        )),
      );
    }
    return asked.map(({ tenant, thread, toolCallIds }) =>
      found.filter(
        (attempt) => attempt.tenant === tenant && attempt.thread === thread && toolCallIds.includes(attempt.toolCallId),
      ),
    );
  }, askedTogetherMax);

  return {
    read: async (key, subject) => {
      const found = await find(claimId(key, subject));
      if (found === null) return null;
      const { nonce, outcome, detail, claimedAt } = found;
      return { nonce, outcome, detail, claimedAt };
    },
    claim: async (key, subject, nonce, at) => {
      const id = claimId(key, subject);
      if (await setFirst(id, 'nonce', { nonce, claimedAt: at }, { outcome: null, detail: null })) return true;
      return (await find(id))?.nonce === nonce;
    },
    settle: (key, subject, outcome, detail) => settleOne({ id: claimId(key, subject), outcome, detail }),
    record: async ({ tenant, thread }, attempt) => {
      const { toolCallId, number, at, status, durationMs } = attempt;
      const document: AttemptDocument = {
        _id: idOf(tenant, thread, toolCallId, number, at),
        ...{ tenant, thread, toolCallId, number, at, status },
        durationMs: Math.round(durationMs),
        expiresAt: new Date(at + attemptsKeptMs),
      };
      await recordOne(document);
    },
    attempts: async ({ tenant, thread }, toolCallIds) => {
      if (toolCallIds.length === 0) return [];
      return (await findAttempts({ tenant, thread, toolCallIds })).map(attemptOf);
    },
  };
}

const attemptOf = ({ toolCallId, number, at, status, durationMs }: AttemptDocument): Attempt => ({
  ...{ toolCallId, number, at, status, durationMs },
});
