// HTTP to tool servers: invocations, notices, manifests. Implements the port over the outbound guard and its pools.
// Not here: retries, breakers, bulkheads (the dispatcher's), and the meaning of a status.
//
// Invariants:
//   H1. A credential is presented only to the origin of the registration's base URL: not to an endpoint elsewhere that
//       a manifest names, not after a redirect (none is followed).
//   H2. A redirect is an answer like any other; it is never followed.
//   H4. The token of a user is presented with the calls of that user's threads only, to the same origin, in place of a
//       registration's own authorization; a signature and a certificate of the registration stay beside it.
//   H3. The hot path resolves no name, reads no secret and parses no URL again: all three are cached for seconds.
import { createBoundedMap } from '@dormouse/collections';
import {
  Fault,
  type FetchOutcome,
  secretNamesOf,
  type SendOutcome,
  type ToolServer,
  type TenantId,
  type ToolTransport,
} from '@dormouse/ports';
import { bodyType, isHeaderValue, noCredential, present, toCredential, type Credential } from './credential.ts';
import { exchange } from './exchange.ts';
import { createOriginPools, limitedByExchange, type PoolAnswer } from './origin-pools.ts';
import { createOutboundGuard, readUrl, type Resolver } from './outbound-guard.ts';
import { noTenantOutbound, type OutboundRule, type TenantOutbound } from './outbound-allow.ts';
import { retryAfterMs } from './retry-after.ts';

export interface ToolTransportOptions {
  /** From `parseOutboundAllow`. */
  readonly outboundAllow: readonly OutboundRule[];
  /** As `GuardedFetchOptions.outboundOf`. */
  readonly outboundOf?: (tenant: TenantId) => Promise<TenantOutbound>;
  readonly resolver?: Resolver;
  /**
   * The secret's value, if it may be used for this origin.
   * @throws Fault SECRET_UNUSABLE when it does not exist or names other origins; any other fault is worth a retry.
   */
  readonly secrets: (tenant: TenantId, name: string, origin: string) => Promise<string>;
  /**
   * The token of an end user for a tool server at this origin; null when there is none.
   * @throws Fault SECRET_UNUSABLE, CREDENTIAL_REFRESH_FAILED; any other fault is worth a retry. Default: none.
   */
  readonly userToken?: (tenant: TenantId, userId: string, toolServer: string, origin: string) => Promise<string | null>;
  readonly connectionsPerOriginMax?: number;
  readonly connectTimeoutMs?: number;
  readonly secretTtlMs?: number;
  /** How long the resolved addresses of a name are used. */
  readonly verdictTtlMs?: number;
}

interface Target {
  readonly url: URL;
  readonly path: string;
}

interface KeptSecret {
  readonly credential: Credential;
  readonly freshUntil: number;
}

interface KeptToken {
  readonly token: string | null;
  readonly freshUntil: number;
}

type Failure = Extract<SendOutcome, { sent: false }>;

const userTokenTtlMs = 1_000;
const keptMax = 4_096;
const userAgent = 'dormouse';

export function createToolTransport(options: ToolTransportOptions): ToolTransport & { close(): Promise<void> } {
  const { secrets, secretTtlMs = 5_000, outboundOf = () => Promise.resolve(noTenantOutbound) } = options;
  const guard = createOutboundGuard({ rules: options.outboundAllow, resolver: options.resolver });
  const pools = createOriginPools({
    guard,
    connectionsMax: options.connectionsPerOriginMax ?? 128,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    verdictTtlMs: options.verdictTtlMs,
    ...limitedByExchange,
  });
  const targets = createBoundedMap<Target>(keptMax);
  const keptSecrets = createBoundedMap<KeptSecret>(keptMax);
  const keptTokens = createBoundedMap<KeptToken>(keptMax);

  function targetOf(text: string): Target | string {
    const known = targets.get(text);
    if (known !== undefined) return known;
    const url = readUrl(text);
    if (typeof url === 'string') return url;
    const target = { url, path: `${url.pathname}${url.search}` };
    targets.set(text, target);
    return target;
  }

  /** The credential for this origin. (H1) */
  async function credentialFor(server: ToolServer, target: Target): Promise<Credential | Failure> {
    const { auth } = server;
    if (auth === null) return noCredential;
    const base = targetOf(server.baseUrl);
    if (typeof base === 'string' || base.url.origin !== target.url.origin) return noCredential;
    if (auth.type === 'mtls' && target.url.protocol !== 'https:')
      return failure('SECRET_UNUSABLE', 'a client certificate can be presented over https only');
    const names = secretNamesOf(auth);
    const key = JSON.stringify([server.tenant, auth, target.url.origin]);
    const kept = keptSecrets.get(key);
    if (kept !== undefined && performance.now() < kept.freshUntil) return kept.credential;
    try {
      const values = await Promise.all(names.map((name) => secrets(server.tenant, name, target.url.origin)));
      const credential = toCredential(auth, values);
      keptSecrets.set(key, { credential, freshUntil: performance.now() + secretTtlMs });
      return credential;
    } catch (error) {
      const code = error instanceof Fault ? error.code : 'UNAVAILABLE';
      return failure(code, 'the credential of the tool server could not be read');
    }
  }

  /** The token of the user for this origin; null for none. (H4) */
  async function tokenFor(server: ToolServer, target: Target, userId: string | null): Promise<string | null | Failure> {
    const { userToken } = options;
    const base = targetOf(server.baseUrl);
    if (userToken === undefined || userId === null) return null;
    if (typeof base === 'string' || base.url.origin !== target.url.origin) return null; // (H1)
    const key = JSON.stringify([server.tenant, userId, server.name, target.url.origin]);
    const kept = keptTokens.get(key);
    if (kept !== undefined && performance.now() < kept.freshUntil) return kept.token;
    try {
      const token = await userToken(server.tenant, userId, server.name, target.url.origin);
      if (token !== null && !isHeaderValue(token))
        return failure(
          'SECRET_UNUSABLE',
          'the credential of the user has line breaks, or other characters that no header has',
        );
      keptTokens.set(key, { token, freshUntil: performance.now() + userTokenTtlMs });
      return token;
    } catch (error) {
      if (!(error instanceof Fault)) return failure('SECRET_UNUSABLE', 'the credential of the user could not be read');
      return failure(error.code, error.message);
    }
  }

  async function poolFor(server: ToolServer, target: Target, credential: Credential): Promise<PoolAnswer> {
    const { tenant, auth } = server;
    const own = await ownOf(tenant);
    if ('ok' in own) return own;
    if (credential.type === 'none' || auth === null) return pools.get(`${tenant} `, target.url, own);
    const scope = `${tenant} ${auth.type} ${secretNamesOf(auth).join(' ')}`;
    return credential.type === 'mtls'
      ? pools.get(`${scope} ${credential.id}`, target.url, own, credential)
      : pools.get(scope, target.url, own);
  }

  /** The pool of one user's token. (H4) */
  async function poolOfUser({ tenant, name }: ToolServer, { url }: Target, userId: string | null): Promise<PoolAnswer> {
    const own = await ownOf(tenant);
    return 'ok' in own ? own : pools.get(JSON.stringify([tenant, name, userId]), url, own);
  }

  /** What the tenant may call beside the installation's list; a refusal, worth a retry, when it cannot be read. */
  const ownOf = (tenant: TenantId): Promise<TenantOutbound | Extract<PoolAnswer, { ok: false }>> =>
    outboundOf(tenant).catch(() => ({
      ...{ ok: false, code: 'NAME_NOT_RESOLVED', detail: 'what the tenant may call could not be read' },
    }));

  return {
    async post({ server, url, body, headers, timeoutMs, signal, userId = null }) {
      const target = targetOf(url);
      if (typeof target === 'string') return failure('OUTBOUND_FORBIDDEN', target);
      const token = await tokenFor(server, target, userId);
      if (token !== null && typeof token !== 'string') return token;
      const credential = token !== null && isAuthorization(server) ? noCredential : await credentialFor(server, target);
      if ('sent' in credential) return credential;
      const answer =
        token === null || credential.type === 'mtls'
          ? await poolFor(server, target, credential)
          : await poolOfUser(server, target, userId);
      if (!answer.ok) return failure(answer.code, answer.detail);
      const fields = ['content-type', bodyType, 'user-agent', userAgent];
      for (const name in headers) fields.push(name, headers[name] ?? '');
      const signed = { method: 'POST', url: target.url, body } as const;
      present(credential, fields, headers['idempotency-key'] ?? '', signed, Date.now());
      if (token !== null) fields.push('authorization', `Bearer ${token}`);
      const outcome = await exchange(answer.pool, {
        method: 'POST',
        path: target.path,
        headers: fields,
        body,
        timeoutMs,
        keepBytesMax: 0,
        ...(signal && { signal }),
      });
      if (!outcome.answered)
        return { sent: false, reached: outcome.reached, code: outcome.code, detail: outcome.detail };
      return {
        sent: true,
        status: outcome.status,
        retryAfterMs: retryAfterMs(outcome.headers['retry-after'], Date.now()),
      };
    },

    async get({ server, url, timeoutMs, bytesMax }): Promise<FetchOutcome> {
      const startedAt = performance.now();
      const target = targetOf(url);
      if (typeof target === 'string') return { ok: false, code: 'OUTBOUND_FORBIDDEN', detail: target };
      const credential = await credentialFor(server, target);
      if ('sent' in credential) return { ok: false, code: 'TOOLSET_UNREACHABLE', detail: credential.detail };
      const answer = await poolFor(server, target, credential);
      if (!answer.ok)
        return {
          ok: false,
          code: answer.code === 'OUTBOUND_FORBIDDEN' ? answer.code : 'TOOLSET_UNREACHABLE',
          detail: answer.detail,
        };
      const fields = ['accept', 'application/json', 'user-agent', userAgent];
      present(credential, fields, 'discovery', { method: 'GET', url: target.url, body: '' }, Date.now());
      const leftMs = Math.max(1, timeoutMs - (performance.now() - startedAt));
      const outcome = await exchange(answer.pool, {
        method: 'GET',
        path: target.path,
        headers: fields,
        body: null,
        timeoutMs: leftMs,
        keepBytesMax: bytesMax,
      });
      if (!outcome.answered)
        return {
          ok: false,
          code: outcome.code === 'TOO_LARGE' ? 'TOOLSET_INVALID' : 'TOOLSET_UNREACHABLE',
          detail: outcome.detail,
        };
      return decode(outcome.status, outcome.headers['content-encoding'], outcome.body);
    },

    async judge(text, tenant) {
      const target = targetOf(text);
      if (typeof target === 'string') return { ok: false, detail: target };
      const { rules: own } = await outboundOf(tenant);
      const verdict = await guard.check(target.url, own);
      return verdict.ok || verdict.code === 'NAME_NOT_RESOLVED' ? { ok: true } : { ok: false, detail: verdict.detail };
    },

    close: () => pools.close(),
  };
}

/** Whether the registration's credential is the header that a user's token takes. (H4) */
const isAuthorization = ({ auth }: ToolServer): boolean => auth?.type === 'bearer' || auth?.type === 'sigv4';

function decode(status: number, encoding: string | string[] | undefined, body: Buffer | null): FetchOutcome {
  if (encoding !== undefined && encoding !== 'identity')
    return { ok: false, code: 'TOOLSET_INVALID', detail: 'the answer is compressed, which was not asked for' };
  try {
    return { ok: true, status, body: new TextDecoder('utf-8', { fatal: true }).decode(body ?? new Uint8Array()) };
  } catch {
    return { ok: false, code: 'TOOLSET_INVALID', detail: 'the answer is not UTF-8' };
  }
}

const failure = (code: string, detail: string): Failure => ({ sent: false, reached: false, code, detail });
