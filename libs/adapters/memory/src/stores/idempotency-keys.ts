// First answers by idempotency key, in memory.
import type { ClaimAnswer, IdempotencyKeys, KeptAnswer, TenantId } from '@dormouse/ports';
import type { Passage } from '../gate.ts';

interface Claim {
  readonly bodySha256: string;
  readonly claimedAt: number;
  readonly answer: KeptAnswer | null;
}

export type IdempotencyStore = Map<string, Claim>;

export function createIdempotencyKeys(claims: IdempotencyStore, passage: Passage): IdempotencyKeys {
  const rowOf = (tenant: TenantId, route: string, key: string): string => JSON.stringify([tenant, route, key]);
  return {
    claim: (tenant, route, key, bodySha256, now, leaseMs) =>
      passage.write('idempotency.claim', key, (): ClaimAnswer => {
        const claim = claims.get(rowOf(tenant, route, key));
        if (claim !== undefined && claim.bodySha256 !== bodySha256) return { claim: 'other_body' };
        if (claim !== undefined && claim.answer !== null) return { claim: 'done', answer: claim.answer };
        if (claim !== undefined && claim.claimedAt + leaseMs > now) return { claim: 'running' };
        claims.set(rowOf(tenant, route, key), { bodySha256, claimedAt: now, answer: null });
        return { claim: 'new' };
      }),
    renew: (tenant, route, key, now) =>
      passage.write('idempotency.renew', key, () => {
        const claim = claims.get(rowOf(tenant, route, key));
        if (claim !== undefined && claim.answer === null && claim.claimedAt < now)
          claims.set(rowOf(tenant, route, key), { ...claim, claimedAt: now });
      }),
    finish: (tenant, route, key, answer) =>
      passage.write('idempotency.finish', key, () => {
        const claim = claims.get(rowOf(tenant, route, key));
        if (claim !== undefined && claim.answer === null) claims.set(rowOf(tenant, route, key), { ...claim, answer });
      }),
    abandon: (tenant, route, key) =>
      passage.write('idempotency.abandon', key, () => {
        if (claims.get(rowOf(tenant, route, key))?.answer === null) claims.delete(rowOf(tenant, route, key));
      }),
  };
}
