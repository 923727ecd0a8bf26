// The dispatcher's ledger in `claims`, and its attempts in `attempts`. Contract: ports/dispatch-ledger.ts (D1..D3).
//
// Invariants:
//   G1. A claim and an outcome are each set by one update that demands that nobody was first; who came second reads who it was.
import type { Attempt, DispatchLedger, DispatchOutcome, ThreadKey } from '@dormouse/ports';
import { idOf } from './id-of.ts';
import { isDuplicate, type MongoServer } from './mongo-server.ts';

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

  const find = (id: string): Promise<ClaimDocument | null> => server.read(() => claims.findOne({ _id: id }));

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
    settle: async (key, subject, outcome, detail) => {
      const id = claimId(key, subject);
      if (await setFirst(id, 'outcome', { outcome, detail }, { nonce: null, claimedAt: null })) return outcome;
      return (await find(id))?.outcome ?? outcome;
    },
    record: async ({ tenant, thread }, attempt) => {
      const { toolCallId, number, at, status, durationMs } = attempt;
      const document: AttemptDocument = {
        _id: idOf(tenant, thread, toolCallId, number, at),
        ...{ tenant, thread, toolCallId, number, at, status },
        durationMs: Math.round(durationMs),
        expiresAt: new Date(at + attemptsKeptMs),
      };
      try {
        await server.write(() => attempts.insertOne(document));
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    },
    attempts: async ({ tenant, thread }, toolCallIds) => {
      if (toolCallIds.length === 0) return [];
      const found = await server.read(() =>
        attempts
          .find({ tenant, thread, toolCallId: { $in: [...toolCallIds] } })
          .sort({ toolCallId: 1, number: 1, at: 1 })
          .toArray(),
      );
      return found.map(attemptOf);
    },
  };
}

const attemptOf = ({ toolCallId, number, at, status, durationMs }: AttemptDocument): Attempt => ({
  ...{ toolCallId, number, at, status, durationMs },
});
