import { describe, expect, it } from 'vitest';
import { endedCookie, sessionCookie, sessionSecretOf } from './session-cookie.ts';

const secret = 'ab'.repeat(32);
const host = 'localhost:7420';

describe('the cookie of a session', () => {
  it('K1 is kept from scripts, other sites and other paths, and from plain http where the address is https', () => {
    expect(sessionCookie({ host }, { isSecure: false }, secret, 60_500)).toBe(
      `dormouse_session_7420=${secret}; Max-Age=60; Path=/v1; HttpOnly; SameSite=Strict`,
    );
    const secure = sessionCookie({ host: 'agents.example' }, { isSecure: true }, secret, 1_000);
    expect(secure).toMatch(/^dormouse_session=.*; Secure/);
    expect(endedCookie({ host }, { isSecure: false })).toMatch(/^dormouse_session_7420=; Max-Age=0; Path=\/v1;/);
  });

  it('K2, K3 is read by the name that it was given, for a request of the same origin', () => {
    const cookie = `dormouse_session=${'cd'.repeat(32)}; dormouse_session_7420=${secret}; dormouse_session_1=x`;
    const headers = { host, cookie, 'sec-fetch-site': 'same-origin' };
    expect(sessionSecretOf(headers)).toBe(secret);
    expect(sessionSecretOf({ ...headers, host: 'localhost' })).toBe('cd'.repeat(32));
    for (const site of ['same-site', 'cross-site', 'none', '', 'Same-Origin'])
      expect(sessionSecretOf({ ...headers, 'sec-fetch-site': site })).toBeNull();
    for (const odd of ['', '=', `dormouse_session_7420=${secret}0`, 'dormouse_session_7420=%61', '__proto__=1'])
      expect(sessionSecretOf({ ...headers, cookie: odd })).toBeNull();
    expect(sessionSecretOf({ host })).toBeNull();
  });
});
