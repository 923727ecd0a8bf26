// Refreshes a grant at its provider (OAuth 2, RFC 6749 section 6), through the guard of all outbound requests.
//
// Invariants:
//   R1. Nothing is followed and nothing is kept: one request to the token endpoint, which has its own time limit.
//   R2. A provider that answers that the grant or the client is not good refuses; any other failure may pass.
//   R3. What the provider says is not repeated in a fault.
//   R4. An access token is taken also where what stands beside it is missing or no value of its kind: the refresh token
//       was good once.
import { Fault, type TenantId } from '@dormouse/ports';
import * as oauth from 'oauth4webapi';
import type { GuardedFetch } from './guarded-fetch.ts';

export interface RefreshableGrant {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly refreshToken: string;
}

export interface GrantAnswer {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly expiresInS: number | null;
}

const withinMs = 10_000;
/** RFC 6749, section 5.2. */
const refusals: readonly unknown[] = ['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope'];

/** The result answers null when the provider refuses. @throws Fault OUTBOUND_FORBIDDEN, UNAVAILABLE. */
export function createRefreshGrant(
  fetchOf: (tenant: TenantId) => GuardedFetch,
): (grant: RefreshableGrant, tenant: TenantId) => Promise<GrantAnswer | null> {
  return async ({ tokenUrl, clientId, clientSecret, refreshToken }, tenant) => {
    const { host, origin, protocol } = new URL(tokenUrl);
    const server = { issuer: origin, token_endpoint: tokenUrl };
    const client = { client_id: clientId };
    const authentication = clientSecret === null ? oauth.None() : oauth.ClientSecretPost(clientSecret);
    try {
      const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, {
        [oauth.customFetch]: (url, init) => fetchOf(tenant)(url, init as RequestInit),
        [oauth.allowInsecureRequests]: protocol === 'http:', // the guard decides where plain http may go
        signal: AbortSignal.timeout(withinMs),
      });
      const body: unknown = await answer.json();
      if (!answer.ok && refusals.includes(memberOf(body, 'error'))) return null; // (R2)
      if (!answer.ok) throw new Fault('UNAVAILABLE', `${host} answered ${answer.status} to a refresh`);
      const { access_token: accessToken, ...rest } = await oauth.processRefreshTokenResponse(
        server,
        client,
        Response.json(essential(body)),
      );
      return { accessToken, refreshToken: rest.refresh_token ?? null, expiresInS: rest.expires_in ?? null };
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault('UNAVAILABLE', `${host} did not answer a refresh as it must`); // (R3)
    }
  };
}

const memberOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>)[name] : undefined;

/** Without an identity token, which is of no use here and whose issuer is not known; the rest as it should be. (R4) */
function essential(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { id_token: _, token_type: type, expires_in: seconds, ...rest } = body as Readonly<Record<string, unknown>>;
  const isTime = /^\d+(\.\d+)?$/.test(String(seconds));
  return { ...rest, token_type: typeof type === 'string' ? type : 'bearer', ...(isTime && { expires_in: seconds }) };
}
