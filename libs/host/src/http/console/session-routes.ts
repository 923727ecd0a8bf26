// /v1/session: signing in to the console with a key, the session of a browser, signing out, and links that sign in.
//
// Invariants:
//   A1. A page of another origin signs no browser in or out: a browser says where a request comes from, and a client
//       that says nothing is no browser that holds a session.
//   A2. The body of a request without a key is small.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '@dormouse/ports';
import { apiJson, type Session, type SessionApi } from '@dormouse/runtime';
import { sessionOperations } from '../../api/sessions.ts';
import { readBody } from '../data-plane/body.ts';
import { jsonType } from '../data-plane/reply.ts';
import { noBody, noParameters } from '../data-plane/call.ts';
import { bearerOf, type Doorkeeper } from '../door/caller.ts';
import { callerOf } from '../door/head-judge.ts';
import { HttpProblem } from '../problems/problem.ts';
import { type CookieSite, endedCookie, sessionCookie, sessionSecretOf } from './session-cookie.ts';

export interface SessionRouteDeps {
  readonly doorkeeper: Doorkeeper;
  readonly sessions: SessionApi;
  readonly site: CookieSite;
  readonly clock: Clock;
  /** Where a browser finds the console, without a slash at the end; null: where the request went. */
  readonly consoleUrl: string | null;
  /** As they are set, for the console to show. */
  readonly shownOrigins: readonly string[];
}

const { signIn, getSession, signOut, createSessionLink } = sessionOperations;

export function registerSessionRoutes(server: FastifyInstance, deps: SessionRouteDeps): void {
  const { doorkeeper, sessions, site, clock, shownOrigins } = deps;

  server.post(signIn.path, async (request, reply) => {
    ownPage(doorkeeper, request);
    noParameters(request);
    const session = await sessions.open(readBody(request.body, signIn.body).key);
    if (session === null) throw new HttpProblem('UNAUTHENTICATED', 'This key is not known here, or has expired.');
    const cookie = sessionCookie(request.headers, site, session.secret, session.expiresAt - clock.now());
    return reply
      .status(201)
      .headers({ ...unkept, 'set-cookie': cookie })
      .send(shown(session, shownOrigins));
  });

  server.get(getSession.path, async (request, reply) => {
    doorkeeper.admit(request.headers);
    noParameters(request);
    const secret = sessionSecretOf(request.headers);
    const session = secret === null ? null : await sessions.authenticate(secret);
    if (session === null) throw new HttpProblem('UNAUTHENTICATED', 'This browser is not signed in.');
    return reply.headers(unkept).send(shown(session, shownOrigins));
  });

  server.delete(signOut.path, async (request, reply) => {
    ownPage(doorkeeper, request);
    noParameters(request);
    noBody(request);
    const secret = sessionSecretOf(request.headers);
    if (secret !== null) await sessions.close(secret);
    return reply
      .status(204)
      .headers({ 'set-cookie': endedCookie(request.headers, site) })
      .send();
  });

  server.post(createSessionLink.path, async (request, reply) => {
    callerOf(request); // the head was judged
    noParameters(request);
    noBody(request);
    const key = bearerOf(request.headers);
    const issued = key === undefined ? null : await sessions.issueCode(key);
    if (issued === null)
      throw new HttpProblem('FORBIDDEN', 'A link is made with an API key; a session or token is not enough.');
    const url = `${deps.consoleUrl ?? `http://${request.headers.host}`}/?code=${issued.code}`;
    return reply
      .status(201)
      .headers(unkept)
      .send(JSON.stringify(apiJson({ url, expiresAt: issued.expiresAt })));
  });
}

const unkept = { 'content-type': jsonType, 'cache-control': 'no-store' } as const;

/** (A1) @throws HttpProblem FORBIDDEN */
function ownPage(doorkeeper: Doorkeeper, { headers }: FastifyRequest): void {
  doorkeeper.admit(headers);
  const from = headers['sec-fetch-site'];
  if (from !== undefined && from !== 'same-origin')
    throw new HttpProblem('FORBIDDEN', 'Only a page of this server may sign in or out.');
}

const shown = ({ tenant, name, scopes, expiresAt }: Session, origins: readonly string[]): string =>
  JSON.stringify(apiJson({ tenant, name, scopes, expiresAt, origins }));
