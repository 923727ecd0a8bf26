// First answers by idempotency key, in `idempotency`. Port: ports/stores/idempotency.ts.
//
// Invariants:
//   I1. A key is claimed by an insert; a claim whose lease has expired is taken over by an update whose filter is the
//       time that was read.
//   I2. A key belongs to the body it was first used with until it is abandoned or expires.
//   I3. A claim that comes while this process is writing the key's answer waits until the answer is written.
import type { ClaimAnswer, IdempotencyKeys, KeptAnswer } from '@dormouse/ports';
import { Fault } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { inserted, type MongoServer } from '../mongo-server.ts';

interface KeyDocument {
  readonly _id: string;
  readonly bodySha256: string;
  readonly claimedAt: number;
  readonly answer: KeptAnswer | null;
  readonly expiresAt: Date;
}

const answerSchema = new Schema<KeptAnswer>({ status: number, body: text }, { ...everySchema, _id: false });
const keySchema = new Schema<KeyDocument>(
  {
    ...{ _id: text, bodySha256: text, claimedAt: number },
    answer: { type: answerSchema, default: null },
    expiresAt: { type: Date, required: true },
  },
  { ...everySchema, collection: 'idempotency' },
);
keySchema.index({ expiresAt: 1 }, { name: 'expiry', expireAfterSeconds: 0 });

/** Answers are kept at least a day. */
const answersKeptMs = 2 * 86_400_000;
const claimTriesMax = 5;

export function createIdempotencyKeys(server: MongoServer): IdempotencyKeys {
  const keys = server.connection.model<KeyDocument>('IdempotencyKey', keySchema);
  const finishing = new Map<string, Promise<unknown>>();

  /** (I1) */
  async function takeOver(found: KeyDocument, now: number): Promise<boolean> {
    const { _id, claimedAt } = found;
    const { modifiedCount } = await server.write(() =>
      keys.updateOne({ _id, claimedAt, answer: null }, { $set: { claimedAt: now } }),
    );
    return modifiedCount === 1;
  }

  return {
    claim: async (tenant, route, key, bodySha256, now, leaseMs) => {
      const _id = idOf(tenant, route, key);
      await finishing.get(_id)?.catch(() => undefined); // (I3) its failure rejects `finish`
      const claim = { _id, bodySha256, claimedAt: now, answer: null, expiresAt: new Date(Date.now() + answersKeptMs) };
      for (let tries = 0; tries < claimTriesMax; tries += 1) {
        if (await inserted(server, keys, claim)) return { claim: 'new' };
        const found = await server.read(() => keys.findOne({ _id }).lean());
        if (found === null) continue; // abandoned meanwhile: the key is free again
        const answer = answerOf(found, bodySha256);
        if (answer.claim !== 'running' || found.claimedAt + leaseMs > now) return answer;
        if (await takeOver(found, now)) return { claim: 'new' };
      }
      throw new Fault('UNAVAILABLE', 'This idempotency key is being claimed and abandoned all the time.');
    },
    renew: async (tenant, route, key, now) => {
      const _id = idOf(tenant, route, key);
      await server.write(() =>
        keys.updateOne({ _id, answer: null, claimedAt: { $lt: now } }, { $set: { claimedAt: now } }),
      );
    },
    finish: async (tenant, route, key, { status, body }) => {
      const _id = idOf(tenant, route, key);
      const written = server.write(() => keys.updateOne({ _id, answer: null }, { $set: { answer: { status, body } } }));
      finishing.set(_id, written);
      try {
        await written;
      } finally {
        if (finishing.get(_id) === written) finishing.delete(_id);
      }
    },
    abandon: async (tenant, route, key) => {
      await server.write(() => keys.deleteOne({ _id: idOf(tenant, route, key), answer: null }));
    },
  };
}

/** (I2) */
function answerOf({ bodySha256, answer }: KeyDocument, asked: string): ClaimAnswer {
  if (bodySha256 !== asked) return { claim: 'other_body' };
  return answer === null ? { claim: 'running' } : { claim: 'done', answer };
}
