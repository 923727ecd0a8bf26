// One undici pool per (scope, origin), connected only to the addresses that the guard has checked. A scope is a tenant
// with one of its credentials. Not here: the requests themselves.
//
// Invariants:
//   P1. A socket is only opened to an address of the verdict: no second look-up happens while connecting. (rebinding)
//   P2. A verdict about a name is renewed after `verdictTtlMs`; other addresses open another pool, a refusal none.
//   P3. Pools of different tenants or credentials share nothing.
//   P4. At most `poolsMax` pools; the least recently used one is closed first (LRU).
//   P5. A verdict holds for the rules that it was made with: a tenant whose own entries change gets other pools.
import type { LookupFunction } from 'node:net';
import { Pool } from 'undici';
import { noTenantOutbound, type TenantOutbound } from './outbound-allow.ts';
import type { GuardVerdict, OutboundGuard, PinnedAddress } from './outbound-guard.ts';

export interface OriginPoolsOptions {
  readonly guard: OutboundGuard;
  /** Connections per pool. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  /** Bytes of one response's body, -1 for no limit of the pool's own. */
  readonly responseBytesMax: number;
  /** Milliseconds without a byte of the body. */
  readonly bodyTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly verdictTtlMs?: number | undefined;
  readonly poolsMax?: number;
}

/** Of pools whose every exchange has its own limit and its own deadline. */
export const limitedByExchange = { responseBytesMax: -1, headersTimeoutMs: 0, bodyTimeoutMs: 0 } as const;

export type PoolAnswer = { readonly ok: true; readonly pool: Pool } | Extract<GuardVerdict, { ok: false }>;

/** PEM of the client's certificate and key. The scope names it: another certificate is another scope. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface OriginPools {
  get(scope: string, url: URL, own?: TenantOutbound, client?: ClientCertificate): Promise<PoolAnswer>;
  close(): Promise<void>;
}

interface Entry {
  readonly pool: Pool;
  readonly answer: PoolAnswer;
  readonly addresses: string;
  /** Monotonic milliseconds; infinite for literals. */
  freshUntil: number;
}

export function createOriginPools(options: OriginPoolsOptions): OriginPools {
  const { guard, verdictTtlMs = 30_000, poolsMax = 1_000 } = options;
  const entries = new Map<string, Entry>();
  const asking = new Map<string, Promise<PoolAnswer>>();
  const closing = new Set<Promise<void>>();
  let closed = false;

  function retire(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    // Running requests are finished; errors of a pool that is being closed have already rejected their requests.
    const done = entry.pool
      .close()
      .catch(() => undefined)
      .finally(() => closing.delete(done));
    closing.add(done);
  }

  async function ask(key: string, url: URL, own: TenantOutbound, client?: ClientCertificate): Promise<PoolAnswer> {
    const verdict = await guard.check(url, own.rules);
    if (closed) return { ok: false, code: 'NAME_NOT_RESOLVED', detail: 'the client is closed' };
    if (!verdict.ok) {
      if (verdict.code === 'OUTBOUND_FORBIDDEN') retire(key); // (P2)
      return verdict;
    }
    const addresses = verdict.addresses
      .map(({ address }) => address)
      .toSorted()
      .join(' ');
    const freshUntil = verdict.literal ? Number.POSITIVE_INFINITY : performance.now() + verdictTtlMs;
    const known = entries.get(key);
    if (known?.addresses === addresses) {
      known.freshUntil = freshUntil;
      return known.answer;
    }
    retire(key);
    const pool = openPool(url.origin, verdict.addresses, options, client);
    const answer: PoolAnswer = { ok: true, pool };
    entries.set(key, { pool, answer, addresses, freshUntil });
    if (entries.size > poolsMax) retire(entries.keys().next().value ?? key); // (P4)
    return answer;
  }

  return {
    async get(scope, url, own = noTenantOutbound, client) {
      const key = `${scope} ${url.origin} ${own.key}`; // (P3, P5)
      const entry = entries.get(key);
      if (entry !== undefined && performance.now() < entry.freshUntil) {
        if (entries.size > poolsMax / 2) touch(entries, key, entry);
        return entry.answer;
      }
      const running = asking.get(key);
      if (running !== undefined) return running;
      const answer = ask(key, url, own, client).finally(() => asking.delete(key));
      asking.set(key, answer);
      return answer;
    },
    async close() {
      closed = true;
      await Promise.all(asking.values());
      await Promise.all([...entries.values()].map(({ pool }) => pool.destroy()));
      entries.clear();
      await Promise.all(closing);
    },
  };
}

/** The map's insertion order is the order of use. */
function touch(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.delete(key);
  entries.set(key, entry);
}

function openPool(
  origin: string,
  addresses: readonly PinnedAddress[],
  options: OriginPoolsOptions,
  client?: ClientCertificate,
): Pool {
  return new Pool(origin, {
    connections: options.connectionsMax,
    allowH2: false,
    pipelining: 1,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    maxResponseSize: options.responseBytesMax,
    keepAliveTimeout: 4_000,
    connect: {
      timeout: options.connectTimeoutMs,
      lookup: pinned(addresses),
      autoSelectFamily: true,
      ...(client && { cert: client.certificate, key: client.key }),
    },
  });
}

/** Answers with the addresses that the guard has checked, whatever the name resolves to by now. (P1) */
function pinned(addresses: readonly PinnedAddress[]): LookupFunction {
  const [first] = addresses;
  return (hostname, { all }, answer) => {
    if (first === undefined) answer(new Error(`${hostname} has no address`), '', 0);
    else if (all === true) answer(null, [...addresses]);
    else answer(null, first.address, first.family);
  };
}
