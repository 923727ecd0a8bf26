// The cookie that holds a session of the console.
//
// Invariants:
//   K1. HttpOnly, SameSite=Strict, and sent to /v1 only; Secure where the public address is https.
//   K2. It counts for a request that the browser says comes from a page of this origin. `same-site` is another one: a
//       page on another port of this host.
//   K3. Its name has the port that the browser used: cookies of one host are shared by all its ports.
import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

const path = '/v1';
/** A secret has 64 characters. */
const secretForm = /^[0-9a-f]{64}$/;

const nameFor = ({ host = '' }: IncomingHttpHeaders): string => {
  const port = /:(\d{1,5})$/.exec(host)?.[1];
  return port === undefined ? 'dormouse_session' : `dormouse_session_${port}`; // (K3)
};

/** The secret of a cookie that counts, or null. (K2) */
export function sessionSecretOf(headers: IncomingHttpHeaders): string | null {
  const { cookie } = headers;
  if (cookie === undefined || headers['sec-fetch-site'] !== 'same-origin') return null;
  const secret = parseCookie(cookie)[nameFor(headers)];
  return secret !== undefined && secretForm.test(secret) ? secret : null;
}

export interface CookieSite {
  /** Whether browsers reach this server over https. */
  readonly isSecure: boolean;
}

/** Values of `Set-Cookie`. (K1) */
export function sessionCookie(
  headers: IncomingHttpHeaders,
  { isSecure }: CookieSite,
  secret: string,
  ttlMs: number,
): string {
  return stringifySetCookie({
    ...{ name: nameFor(headers), value: secret, maxAge: Math.floor(ttlMs / 1_000) },
    ...{ path, httpOnly: true, sameSite: 'strict', secure: isSecure },
  });
}

export const endedCookie = (headers: IncomingHttpHeaders, site: CookieSite): string =>
  sessionCookie(headers, site, '', 0);
