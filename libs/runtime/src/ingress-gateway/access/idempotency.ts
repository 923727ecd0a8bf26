// First answers by idempotency key: the same request again gets the same answer, without being done again.
//
// Invariants:
//   P1. Only 2xx are kept; anything else, and any fault, frees the key.
//   P2. The claim is taken before anything is done and finished after it was done; what happens twice because a process
//       died between is caught by the ids, which are functions of the key. (client-id K1)
//   P4. A claim is renewed while its request runs: a claim of a process that has died expires in `claimLeaseMs`.
//   P3. An answer that holds a credential is kept sealed: no store has what was shown once.
//   P5. One whose master key was removed since is not shown again, and what was done is not done again.
//   P6. An answer is shown again to a credential with the same limit only: what a handler asks of the credential is not
//       asked for a repetition. For any other the key is taken, as by another body.
//   P7. One that was erased since is no 2xx any more: the request is refused like one for a thread that is not there.
import { hash } from 'node:crypto';
import type { KeptAnswer, SealOwner, TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { unsealed } from '../../secrets/unsealed.ts';
import { answered, type Answered, refused } from '../refusal.ts';

/** How long a claim that is not renewed keeps other requests waiting. */
const claimLeaseMs = 8_000;
/** Often enough to survive two failed renewals, and a machine that stalls for a moment. */
const renewEveryMs = 2_000;

const sealedBefore = 'This Idempotency-Key was used before a rotation of keys: its first answer can be read no more.';

const usedOtherwise = 'This Idempotency-Key was used with another body, or by a key for other agents.';

export interface OnceRequest {
  readonly tenant: TenantId;
  readonly route: string;
  readonly key: string;
  readonly body: string | Uint8Array;
  /** Names what the credential is limited to; null, or absent, for one that reaches everything of its tenant. (P6) */
  readonly limit?: string | null;
  /** The answer holds a credential. (P3) */
  readonly isSecret?: boolean;
}

export interface OnceAnswer {
  readonly answer: KeptAnswer;
  readonly replayed: boolean;
}

export type Once = (request: OnceRequest, run: () => Promise<KeptAnswer>) => Promise<Answered<OnceAnswer>>;

export type OncePorts = Pick<IngressParts, 'idempotencyKeys' | 'clock' | 'sealer'>;

export function onceByKey({ idempotencyKeys, clock, sealer }: OncePorts): Once {
  return async ({ tenant, route, key, body, limit = null, isSecret = false }, run) => {
    const owner: SealOwner = { tenant, name: `kept:${route}:${key}` };
    const sha256 = hash('sha256', body);
    const bodySha256 = limit === null ? sha256 : hash('sha256', `${sha256} ${limit}`);
    const claim = await idempotencyKeys.claim(tenant, route, key, bodySha256, clock.now(), claimLeaseMs);
    if (claim.claim === 'done') {
      const { status, body: kept } = claim.answer;
      if (status >= 300) return refused('NOT_FOUND', 'What this request led to was erased.'); // (P1, P7)
      const body = isSecret ? unsealed(sealer, owner, kept) : kept;
      if (body === null) return refused('IDEMPOTENCY_KEY_REUSED', sealedBefore); // (P5)
      return answered({ answer: { status, body }, replayed: true });
    }
    if (claim.claim === 'other_body') return refused('IDEMPOTENCY_KEY_REUSED', usedOtherwise);
    if (claim.claim === 'running')
      return refused('IDEMPOTENCY_IN_PROGRESS', 'A request with this Idempotency-Key is still running.');
    return answered({ answer: await runClaimed(), replayed: false });

    async function runClaimed(): Promise<KeptAnswer> {
      let answer: KeptAnswer;
      const stopRenewing = renewing();
      try {
        answer = await run();
      } catch (problem) {
        stopRenewing();
        await idempotencyKeys.abandon(tenant, route, key); // (P1)
        throw problem;
      }
      stopRenewing();
      const kept = isSecret ? { ...answer, body: sealer.seal(owner, answer.body) } : answer;
      if (answer.status >= 200 && answer.status < 300) await idempotencyKeys.finish(tenant, route, key, kept);
      else await idempotencyKeys.abandon(tenant, route, key);
      return answer;
    }

    /** (P4) A renewal that fails is followed by another; the ids make a repetition harmless. (P2) */
    function renewing(): () => void {
      const renew = (): void => {
        idempotencyKeys.renew(tenant, route, key, clock.now()).catch(() => undefined);
        stop = clock.alarm(renewEveryMs, renew);
      };
      let stop = clock.alarm(renewEveryMs, renew);
      return () => stop();
    }
  };
}
