// First answers by idempotency key: the same request again gets the same answer, without being done again.
//
// Invariants:
//   P1. Only 2xx are kept; anything else, and any fault, frees the key.
//   P2. The claim is taken before anything is done and finished after it was done; what happens twice because a process
//       died between is caught by the ids, which are functions of the key. (K1)
import { createHash } from 'node:crypto';
import type { Clock, IdempotencyKeys, KeptAnswer } from '@dormouse/ports';
import { answered, type Answered, refused } from './refusal.ts';

/** How long a claim without an answer keeps others waiting. */
const claimLeaseMs = 60_000;

export interface OnceRequest {
  readonly tenant: string;
  readonly route: string;
  readonly key: string;
  readonly body: string | Uint8Array;
}

export interface OnceAnswer {
  readonly answer: KeptAnswer;
  readonly replayed: boolean;
}

export type Once = (request: OnceRequest, run: () => Promise<KeptAnswer>) => Promise<Answered<OnceAnswer>>;

export function onceByKey(deps: { readonly idempotencyKeys: IdempotencyKeys; readonly clock: Clock }): Once {
  const { idempotencyKeys, clock } = deps;
  return async ({ tenant, route, key, body }, run) => {
    const bodySha256 = createHash('sha256').update(body).digest('hex');
    const claim = await idempotencyKeys.claim(tenant, route, key, bodySha256, clock.now(), claimLeaseMs);
    if (claim.claim === 'done') return answered({ answer: claim.answer, replayed: true });
    if (claim.claim === 'other_body') {
      return refused('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used with another body.');
    }
    if (claim.claim === 'running') {
      return refused('IDEMPOTENCY_IN_PROGRESS', 'A request with this Idempotency-Key is still running.');
    }
    return answered({ answer: await runClaimed(), replayed: false });

    async function runClaimed(): Promise<KeptAnswer> {
      let answer: KeptAnswer;
      try {
        answer = await run();
      } catch (problem) {
        await idempotencyKeys.abandon(tenant, route, key); // (P1)
        throw problem;
      }
      if (answer.status >= 200 && answer.status < 300) await idempotencyKeys.finish(tenant, route, key, answer);
      else await idempotencyKeys.abandon(tenant, route, key);
      return answer;
    }
  };
}
