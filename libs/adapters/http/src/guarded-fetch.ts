// `fetch` for every request that does not go to a tool server (model providers above all): the same guard, the same
// pinned addresses, no redirects; bodies may stream. One guarded client for every outbound request.
//
// Invariants:
//   W1. A refused URL rejects before a socket is opened; the error has code OUTBOUND_FORBIDDEN.
//   W2. Each pair of origin and credential (as carried by the request) has a pool of its own.
import { createBoundedMap } from '@dormouse/collections';
import { createHash } from 'node:crypto';
import { Fault, type TenantId } from '@dormouse/ports';
import { fetch as undiciFetch, type RequestInit as UndiciRequestInit } from 'undici';
import { createOriginPools } from './origin-pools.ts';
import { createOutboundGuard, readUrl, type Resolver } from './outbound-guard.ts';
import { noTenantOutbound, type OutboundRule, type TenantOutbound } from './outbound-allow.ts';

export interface GuardedFetchOptions {
  readonly outboundAllow: readonly OutboundRule[];
  /** What a tenant may call beside that; default: nothing. @throws Fault */
  readonly outboundOf?: (tenant: TenantId) => Promise<TenantOutbound>;
  readonly resolver?: Resolver;
  /** Default 2 048: the number of completions that a processor runs at once may all go to one provider. */
  readonly connectionsPerOriginMax?: number;
  readonly connectTimeoutMs?: number;
  /** Time until the first byte of the answer. Default 5 minutes. */
  readonly headersTimeoutMs?: number;
  /** Time without a byte in the middle of an answer. Default 2 minutes. */
  readonly bodyTimeoutMs?: number;
  /** Default 64 MiB. */
  readonly responseBytesMax?: number;
}

export type GuardedFetch = typeof globalThis.fetch;

const tenantsKept = 1_000;

/** Call `close` at shutdown. @throws Fault OUTBOUND_FORBIDDEN | UNAVAILABLE besides what `fetch` throws. */
export function createGuardedFetch(options: GuardedFetchOptions): {
  readonly fetch: GuardedFetch;
  /** For requests of a tenant: with what it may call beside the installation's list. The same function every time. */
  readonly fetchOf: (tenant: TenantId) => GuardedFetch;
  close(): Promise<void>;
} {
  const { outboundOf = () => Promise.resolve(noTenantOutbound) } = options;
  const pools = createOriginPools({
    guard: createOutboundGuard({ rules: options.outboundAllow, resolver: options.resolver }),
    connectionsMax: options.connectionsPerOriginMax ?? 2_048,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 300_000,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 120_000,
    responseBytesMax: options.responseBytesMax ?? 64 * 1_048_576,
  });
  const fetchWith = async (
    own: () => Promise<TenantOutbound>,
    ...[input, init]: Parameters<GuardedFetch>
  ): Promise<Response> => {
    const request = new Request(input, init);
    const url = readUrl(request.url);
    if (typeof url === 'string') throw new Fault('OUTBOUND_FORBIDDEN', url);
    const answer = await pools.get(scopeOf(request.headers), url, await own());
    if (!answer.ok) throw new Fault(answer.code === 'OUTBOUND_FORBIDDEN' ? answer.code : 'UNAVAILABLE', answer.detail); // (W1)
    const sent: UndiciRequestInit = {
      method: request.method,
      headers: [...request.headers],
      body: request.body === null ? null : new Uint8Array(await request.arrayBuffer()),
      signal: request.signal,
      redirect: 'error',
      dispatcher: answer.pool,
    };
    // undici's Response and the platform's Response are the same interface from two builds of one library.
    return (await undiciFetch(url.href, sent)) as unknown as Response;
  };
  const fetch: GuardedFetch = (input, init) => fetchWith(() => Promise.resolve(noTenantOutbound), input, init);
  const ofTenants = createBoundedMap<GuardedFetch>(tenantsKept);
  return {
    fetch,
    fetchOf: (tenant) =>
      ofTenants.get(tenant) ?? ofTenants.set(tenant, (input, init) => fetchWith(() => outboundOf(tenant), input, init)),
    close: () => pools.close(),
  };
}

/** Credentials are hashed, so that no key of a map contains one. (W2) */
function scopeOf(headers: Headers): string {
  const credential = `${headers.get('authorization') ?? ''} ${headers.get('x-api-key') ?? ''} ${headers.get('api-key') ?? ''}`;
  return createHash('sha256').update(credential).digest('base64');
}
