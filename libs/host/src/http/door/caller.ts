// Authentication and authorisation of a request. Everything about credentials is decided here, for every route alike.
//
// Invariants:
//   K1. The tenant comes from the credential and from nothing else.
//   K2. Authentication fails closed: a store that cannot be reached is a 503, never a pass.
//   K3. `Host` must be loopback or configured, `Origin` absent, ours or listed: a page in a browser cannot reach a
//       local runtime through a name of its own (DNS rebinding).
//   K4. A token in the query is accepted where the caller says so (the event stream) and refused everywhere else.
//   K5. A session's cookie counts for paths below /v1, where no other credential is sent. (session-cookie K2)
//   K6. A thread token opens its thread, or its family. Where the path names no thread, the handler that finds it asks.
//   K7. A tenant that is not active has no callers, and a page of another origin only where the installation or the
//       caller's own tenant lists it.
//   K8. The platform key manages tenants and nothing else, and nothing else manages tenants. It is compared in constant
//       time.
//   K9. A key for some agents reaches threads of these only: others are not found.
//   K10. What concerns the whole installation (its metrics, its backups, its clock) is for keys of the tenant that
//       every installation has.
//   K11. What a credential was refused is in its tenant's audit, and the use of a key that has ended. (door-audit)
//   K12. A token of the identity provider is good for a tenant that has a record, and stands for its subject. It is
//       told from a key by its form, and never looked up among keys.
//   K13. Whatever is wrong with a key, it is compared once, with the platform's, in constant time, and looked up once,
//       by its hash: neither the work nor the answer tells how much of it is right. (api-keys A7)
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type ApiKey, localTenant, platformTenant, type Scope, type TenantId } from '@dormouse/ports';
import {
  type Credential,
  hasScope,
  type IdentityTokens,
  type Ingress,
  type Requester,
  type ThreadGrant,
  threadTokenPrefix,
} from '@dormouse/runtime';
import type { Access, PlatformAccess } from '../../api/operation.ts';
import { HttpProblem } from '../problems/problem.ts';
import { sessionSecretOf } from '../console/session-cookie.ts';
import { createDoorAudit, requesterOf, type RequestSource, subjectName } from './door-audit.ts';
import { allowedOriginsSetting } from './allowed-origins.ts';
import { noTenantOrigins, type TenantOrigins } from './tenant-origins.ts';
import type { RateGate, RateHeaders } from './rate-gate.ts';

export interface Caller {
  readonly tenant: TenantId;
  /** For the record of a decision: the key's name, or the token's user. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The rate-limit headers for the tenant. */
  readonly rate: RateHeaders;
  /** Set for a thread token: what it opens, and its capabilities. */
  readonly only: ThreadGrant | null;
  /** Names of the agents whose threads it reaches; null for all. (K9) */
  readonly agents: readonly string[] | null;
  /** What a stream that is open must not outlive. */
  readonly credential: Credential;
  /** Who asks, as the audit has it: the key, the token's user, or the identity provider's subject. */
  readonly by: Requester;
  /** The end user that it stands for, by the identity provider; absent for all others. */
  readonly userId?: string;
}

type KnownCaller = Omit<Caller, 'rate' | 'by'> & { readonly actor: string };

export interface Doorkeeper {
  /** @throws HttpProblem FORBIDDEN when the request came through a name that is not ours. (K3) */
  admit(headers: IncomingHttpHeaders): void;
  /** @throws HttpProblem UNAUTHENTICATED, TENANT_SUSPENDED, RATE_LIMITED */
  identify(request: CredentialRequest, queryToken?: string): Promise<Caller>;
  /** @throws HttpProblem FORBIDDEN when the caller may not do this, or not in this thread. (K6) */
  authorize(caller: Caller, access: Access | PlatformAccess, thread: string | undefined): Promise<void>;
}

export type DoorIngress = Pick<Ingress, 'keys' | 'tokens' | 'sessions' | 'tenantRecords' | 'agentOf' | 'audit'>;

export interface DoorSettings {
  /** Host names of this server, besides loopback. */
  readonly hosts: ReadonlySet<string>;
  /** The request rate allowed to a tenant. */
  readonly gate: RateGate;
  /** Origins of pages elsewhere. Default: none. */
  readonly origins?: TenantOrigins;
  /** Null: no tenants are managed here. Default: null. */
  readonly platformKey?: string | null;
  /** Of an identity provider. Null: there is none. Default: null. */
  readonly identities?: IdentityTokens | null;
}

/** The part of a request that may hold a credential. */
export interface CredentialRequest extends RequestSource {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export function createDoorkeeper(
  ingress: DoorIngress,
  { hosts, gate, origins = noTenantOrigins, platformKey = null, identities = null }: DoorSettings,
): Doorkeeper {
  const platformSha256 = platformKey === null ? null : sha256(platformKey);
  const isPlatform = (bearer: string): boolean =>
    platformSha256 !== null && timingSafeEqual(sha256(bearer), platformSha256); // (K8)
  const isOwn = (origin: string): boolean => names.has(originName(origin));
  const names = new Set([...loopback, ...hosts]);
  const audit = createDoorAudit(ingress);
  return {
    admit({ host, origin }) {
      if (!names.has(hostName(host))) throw new HttpProblem('FORBIDDEN', 'This server does not answer to that Host.');
      if (origin !== undefined && !isOwn(origin) && !origins.allows(origin)) throw unlistedOrigin();
    },
    async identify(request, queryToken) {
      const { url, headers } = request;
      const bearer = bearerOf(headers);
      const credential = bearer ?? queryToken;
      const session = credential === undefined && url.startsWith(apiPath) ? sessionSecretOf(headers) : null; // (K5)
      if (session !== null) return pass(await sessionCaller(ingress, session), request);
      if (credential === undefined) throw new HttpProblem('UNAUTHENTICATED', 'Send Authorization: Bearer <key>.');
      if (credential.startsWith(threadTokenPrefix)) return pass(await tokenCaller(ingress, credential), request);
      if (bearer === undefined) throw unknownCredential(); // a key never travels in a URL
      if (isPlatform(bearer)) return callerOf(platformCaller, request, await gate.pass(platformTenant));
      if (identities?.isOne(bearer) === true) return pass(await identityCaller(identities, bearer, request), request);
      const { key, ended } = await ingress.keys.look(credential); // (K2)
      if (ended !== null) await audit.ended(ended, request); // (K11)
      return pass(keyCaller(key), request);
    },
    async authorize(caller, access, thread) {
      try {
        await judge(caller, access, thread);
      } catch (error) {
        const isForbidden = error instanceof HttpProblem && error.code === 'FORBIDDEN';
        if (isForbidden && caller.tenant !== platformTenant)
          await audit.forbidden(caller.tenant, caller.by, error.message); // (K11)
        throw error;
      }
    },
  };

  /** (K7) */
  async function pass(known: KnownCaller, request: CredentialRequest): Promise<Caller> {
    const { origin } = request.headers;
    const record = await ingress.tenantRecords.of(known.tenant);
    if (record !== null && record.state !== 'active')
      throw new HttpProblem('TENANT_SUSPENDED', 'This tenant is suspended; the platform resumes it.');
    if (origin !== undefined && !isOwn(origin) && !origins.allowsFor(record, origin)) throw unlistedOrigin();
    return callerOf(known, request, await gate.pass(known.tenant, record?.quotas.requestsPerS));
  }

  /** (K12) @throws HttpProblem UNAUTHENTICATED, Fault */
  async function identityCaller(
    known: IdentityTokens,
    token: string,
    request: CredentialRequest,
  ): Promise<KnownCaller> {
    const { identity, refused } = await known.read(token);
    const { tenant } = identity ?? refused ?? {};
    const isKnown = tenant !== undefined && (await ingress.tenantRecords.of(tenant)) !== null;
    if (refused !== null && isKnown) await audit.refused(refused, request); // (K11)
    if (identity === null || !isKnown) throw unknownCredential();
    const { subject, userId, scopes, expiresAt } = identity;
    return {
      ...{ tenant: identity.tenant, name: userId ?? subject, actor: subjectName(subject), scopes },
      ...{ only: null, agents: null, ...(userId === null ? {} : { userId }) },
      credential: { tenant: identity.tenant, grant: null, keys: [], endsAt: expiresAt },
    };
  }

  async function judge(caller: Caller, access: Access | PlatformAccess, thread: string | undefined): Promise<void> {
    if (access === 'platform') return mayManage(caller, platformKey !== null);
    mayDo(caller, access);
    if (access.thread !== 'found_later') await mayOpen(ingress, caller, thread);
  }
}

function callerOf({ actor, ...known }: KnownCaller, request: CredentialRequest, rate: RateHeaders): Caller {
  return { ...known, rate, by: requesterOf(actor, request) };
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

const platformCaller: KnownCaller = {
  ...{ tenant: platformTenant, name: 'platform', actor: 'platform', scopes: [], only: null, agents: null },
  credential: { tenant: platformTenant, grant: null, keys: [] },
};

/** (K8) @throws HttpProblem FORBIDDEN */
function mayManage({ tenant }: Caller, isConfigured: boolean): void {
  if (tenant === platformTenant) return;
  const detail = isConfigured
    ? 'Tenants are managed with the platform key.'
    : 'Tenants are managed with the platform key, which is not set here: DORMOUSE_PLATFORM_KEY.';
  throw new HttpProblem('FORBIDDEN', detail);
}

export const unlistedOrigin = (): HttpProblem =>
  new HttpProblem('FORBIDDEN', `This Origin is not allowed; ${allowedOriginsSetting} lists those that are.`);

/** Everything that is asked of a request before its body. @throws HttpProblem */
export async function enter(
  doorkeeper: Doorkeeper,
  request: CredentialRequest & { readonly query: unknown },
  access: Access | PlatformAccess,
  thread: string | undefined,
): Promise<Caller> {
  doorkeeper.admit(request.headers);
  refuseQueryToken(request);
  const caller = await doorkeeper.identify(request);
  await doorkeeper.authorize(caller, access, thread);
  return caller;
}

/** (K4) @throws HttpProblem UNAUTHENTICATED */
export function refuseQueryToken({ query }: { readonly query: unknown }): void {
  if ((query as { readonly access_token?: unknown }).access_token !== undefined)
    throw new HttpProblem('UNAUTHENTICATED', 'A token in the query is accepted on the event stream only.');
}

/** @throws HttpProblem FORBIDDEN when the key lacks the scope, or the token the capability. */
function mayDo(
  { tenant, only, scopes, agents }: Caller,
  { ability, scope, ofAllAgents, ofInstallation }: Access,
): void {
  if (tenant === platformTenant)
    throw new HttpProblem('FORBIDDEN', 'The platform key manages tenants only; use a key of the tenant here.'); // (K8)
  if (only === null) {
    if (!hasScope(scopes, scope)) throw new HttpProblem('FORBIDDEN', `This key lacks the scope ${scope}.`);
    if (ofInstallation === true && tenant !== localTenant)
      throw new HttpProblem(
        'FORBIDDEN',
        `This is about the whole installation: use a key of the tenant ${localTenant}.`,
      ); // (K10)
    if (agents !== null && ofAllAgents === true)
      throw new HttpProblem('FORBIDDEN', 'This key is for some agents only, and this is about all of them.'); // (K9)
    return;
  }
  const abilities = ability === null ? [] : [ability].flat();
  if (!abilities.some((each) => only.can.includes(each))) throw notForToken();
}

/** Asked by a handler that has found the thread itself, too. (K6) @throws HttpProblem FORBIDDEN, NOT_FOUND, Fault */
export async function mayOpen(
  { tokens, agentOf }: { readonly tokens: Pick<Ingress['tokens'], 'opens'> } & Pick<Ingress, 'agentOf'>,
  { tenant, only, agents }: Caller,
  thread: string | undefined,
): Promise<void> {
  if (agents !== null && thread !== undefined) {
    const agent = await agentOf({ tenant, thread });
    if (agent !== null && !agents.includes(agent)) throw new HttpProblem('NOT_FOUND', 'There is no such thread.'); // (K9)
  }
  if (only !== null && (thread === undefined || !(await tokens.opens(only, thread)))) throw notForToken();
}

/** `agent`: a name or an id. (K9) @throws HttpProblem NOT_FOUND, Fault */
export async function mayUseAgent(
  { agents: registry }: { readonly agents: Pick<Ingress['agents'], 'get'> },
  { tenant, agents }: Caller,
  agent: string,
): Promise<void> {
  if (agents === null || agents.includes(agent)) return;
  const found = await registry.get(tenant, agent);
  if (!found.ok || !agents.includes(found.value.name))
    throw new HttpProblem('NOT_FOUND', 'There is no such agent for this key.');
}

const notForToken = (): HttpProblem => new HttpProblem('FORBIDDEN', 'This token does not allow that, or not here.');

/** The only paths that a session opens. */
const apiPath = '/v1/';

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** A loopback host, as a setting or a URL has it. */
export const isLoopbackName = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);

/** Whether the request came directly from this machine: its names are loopback, and no proxy header is present. */
export const isFromHere = (headers: IncomingHttpHeaders): boolean =>
  loopback.includes(hostName(headers.host)) && !passedOnBy.some((name) => headers[name] !== undefined);

const passedOnBy: readonly string[] = [
  ...['forwarded', 'via', 'x-real-ip'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
];

const unknownCredential = (): HttpProblem =>
  new HttpProblem('UNAUTHENTICATED', 'This key or token is not known here, or has expired.');

/** @throws HttpProblem UNAUTHENTICATED */
function keyCaller(key: ApiKey | null): KnownCaller {
  if (key === null) throw unknownCredential();
  const { id, tenant, name, scopes, agents = null, keySha256 } = key;
  const credential = { tenant, grant: null, keys: [keySha256] };
  return { tenant, name, actor: id, scopes, only: null, agents, credential };
}

/** @throws HttpProblem UNAUTHENTICATED */
async function tokenCaller(ingress: Pick<Ingress, 'tokens'>, token: string): Promise<KnownCaller> {
  const grant = await ingress.tokens.verify(token);
  if (grant === null) throw unknownCredential();
  const { tenant, userId, id } = grant;
  const actor = userId === null ? (id ?? 'token') : `user:${userId}`;
  const credential = { tenant, grant, keys: [] };
  return { tenant, name: userId ?? 'user', actor, scopes: [], only: grant, agents: null, credential };
}

/** @throws HttpProblem UNAUTHENTICATED */
async function sessionCaller({ sessions }: Pick<Ingress, 'sessions'>, secret: string): Promise<KnownCaller> {
  const session = await sessions.authenticate(secret);
  if (session === null) throw new HttpProblem('UNAUTHENTICATED', 'This session is over: sign in again.');
  const { tenant, name, scopes, agents, keys, keyId } = session;
  return { tenant, name, actor: keyId, scopes, only: null, agents, credential: { tenant, grant: null, keys } };
}

export function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization !== undefined && /^bearer /i.test(authorization) ? authorization.slice(7).trim() : undefined;
}

/** The name in a Host header, without its port. */
function hostName(host: string | undefined): string {
  if (host === undefined) return '';
  const end = host.startsWith('[') ? host.indexOf(']') + 1 : host.indexOf(':');
  return (end > 0 ? host.slice(0, end) : host).toLowerCase();
}

function originName(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname.toLowerCase() : '';
}
