// First answers by idempotency key, per tenant and route. Only 2xx, kept at least 24 hours; the log dedups for ever.
import type { TenantId } from '@dormouse/thread';

export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export type ClaimAnswer =
  | { readonly claim: 'new' }
  | { readonly claim: 'running' }
  | { readonly claim: 'other_body' }
  | { readonly claim: 'done'; readonly answer: KeptAnswer };

export interface IdempotencyKeys {
  /** An unfinished claim counts as running until `leaseMs` after it was made or last renewed. */
  claim(
    tenant: TenantId,
    route: string,
    key: string,
    bodySha256: string,
    now: number,
    leaseMs: number,
  ): Promise<ClaimAnswer>;
  /** The request still runs. Has no effect on a key that is free or finished. */
  renew(tenant: TenantId, route: string, key: string, now: number): Promise<void>;
  /** Later claims answer `done`; may resolve before it is durable, because losing it costs a harmless repetition. */
  finish(tenant: TenantId, route: string, key: string, answer: KeptAnswer): Promise<void>;
  /** The request failed: the key is free again. */
  abandon(tenant: TenantId, route: string, key: string): Promise<void>;
}
