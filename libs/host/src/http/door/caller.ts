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
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKey, Scope } from '@dormouse/ports';
import { type Ingress, type ThreadGrant, threadTokenPrefix } from '@dormouse/runtime';
import type { Access } from '../../api/operation.ts';
import { HttpProblem } from '../problems/problem.ts';
import { sessionSecretOf } from '../console/session-cookie.ts';
import { type AllowedOrigins, allowedOriginsSetting, noOrigins } from './allowed-origins.ts';
import type { RateGate, RateHeaders } from './rate-gate.ts';

export interface Caller {
  readonly tenant: string;
  /** For the record of a decision: the key's name, or the token's user. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The rate-limit headers for the tenant. */
  readonly rate: RateHeaders;
  /** Set for a thread token: what it opens, and its capabilities. */
  readonly only: ThreadGrant | null;
}

type KnownCaller = Omit<Caller, 'rate'>;

export interface Doorkeeper {
  /** @throws HttpProblem FORBIDDEN when the request came through a name that is not ours. (K3) */
  admit(headers: IncomingHttpHeaders): void;
  /** @throws HttpProblem UNAUTHENTICATED, RATE_LIMITED */
  identify(request: CredentialRequest, queryToken?: string): Promise<Caller>;
  /** @throws HttpProblem FORBIDDEN when the caller may not do this, or not in this thread. (K6) */
  authorize(caller: Caller, access: Access, thread: string | undefined): Promise<void>;
}

/** The part of a request that may hold a credential. */
export interface CredentialRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export function createDoorkeeper(
  ingress: Pick<Ingress, 'keys' | 'tokens' | 'sessions'>,
  hosts: ReadonlySet<string>,
  gate: RateGate,
  origins: AllowedOrigins = noOrigins,
): Doorkeeper {
  const names = new Set([...loopback, ...hosts]);
  return {
    admit({ host, origin }) {
      if (!names.has(hostName(host))) throw new HttpProblem('FORBIDDEN', 'This server does not answer to that Host.');
      if (origin !== undefined && !names.has(originName(origin)) && !origins.allows(origin)) throw unlistedOrigin();
    },
    async identify({ url, headers }, queryToken) {
      const bearer = bearerOf(headers);
      const credential = bearer ?? queryToken;
      const session = credential === undefined && url.startsWith(apiPath) ? sessionSecretOf(headers) : null; // (K5)
      if (session !== null) return pass(await sessionCaller(ingress, session));
      if (credential === undefined) throw new HttpProblem('UNAUTHENTICATED', 'Send Authorization: Bearer <key>.');
      if (credential.startsWith(threadTokenPrefix)) return pass(await tokenCaller(ingress, credential));
      if (bearer === undefined) throw unknownCredential(); // a key never travels in a URL
      return pass(keyCaller(await ingress.keys.authenticate(credential))); // (K2)
    },
    async authorize(caller, access, thread) {
      mayDo(caller, access);
      if (access.thread !== 'found_later') await mayOpen(ingress, caller, thread);
    },
  };

  async function pass(known: KnownCaller): Promise<Caller> {
    return { ...known, rate: await gate.pass(known.tenant) };
  }
}

export const unlistedOrigin = (): HttpProblem =>
  new HttpProblem('FORBIDDEN', `This Origin is not allowed; ${allowedOriginsSetting} lists those that are.`);

/** Everything that is asked of a request before its body. @throws HttpProblem */
export async function enter(
  doorkeeper: Doorkeeper,
  request: CredentialRequest & { readonly query: unknown },
  access: Access,
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
function mayDo({ only, scopes }: Caller, { ability, scope }: Access): void {
  if (only === null) {
    if (!scopes.includes(scope)) throw new HttpProblem('FORBIDDEN', `This key lacks the scope ${scope}.`);
    return;
  }
  const abilities = ability === null ? [] : [ability].flat();
  if (!abilities.some((each) => only.can.includes(each))) throw notForToken();
}

/** Asked by a handler that has found the thread itself, too. (K6) @throws HttpProblem FORBIDDEN, Fault */
export async function mayOpen(
  { tokens }: { readonly tokens: Pick<Ingress['tokens'], 'opens'> },
  { only }: Caller,
  thread: string | undefined,
): Promise<void> {
  if (only !== null && (thread === undefined || !(await tokens.opens(only, thread)))) throw notForToken();
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
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

const unknownCredential = (): HttpProblem =>
  new HttpProblem('UNAUTHENTICATED', 'This key or token is not known here, or has expired.');

/** @throws HttpProblem UNAUTHENTICATED */
function keyCaller(key: ApiKey | null): KnownCaller {
  if (key === null) throw unknownCredential();
  const { tenant, name, scopes } = key;
  return { tenant, name, scopes, only: null };
}

/** @throws HttpProblem UNAUTHENTICATED */
async function tokenCaller(ingress: Pick<Ingress, 'tokens'>, token: string): Promise<KnownCaller> {
  const grant = await ingress.tokens.verify(token);
  if (grant === null) throw unknownCredential();
  return { tenant: grant.tenant, name: grant.userId ?? 'user', scopes: [], only: grant };
}

/** @throws HttpProblem UNAUTHENTICATED */
async function sessionCaller({ sessions }: Pick<Ingress, 'sessions'>, secret: string): Promise<KnownCaller> {
  const session = await sessions.authenticate(secret);
  if (session === null) throw new HttpProblem('UNAUTHENTICATED', 'This session is over: sign in again.');
  const { tenant, name, scopes } = session;
  return { tenant, name, scopes, only: null };
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
