import { createHmac } from 'node:crypto';
import { createManualClock } from '@dormouse/adapter-memory';
import fc from 'fast-check';
import { SignJWT } from 'jose/jwt/sign';
import { UnsecuredJWT } from 'jose/jwt/unsecured';
import { describe, expect, it } from 'vitest';
import { createThreadTokens } from './thread-token.ts';

const clock = createManualClock();
const signingKey = new Uint8Array(32).fill(3);
const tokens = createThreadTokens({ clock, signingKey });
const key = { tenant: 'acme', thread: 'thr_1' };
const issued = async (ttlS = 60): Promise<string> => (await tokens.issue(key, ['read'], 'ann', ttlS)).token;
const claims = { tenant: 'acme', can: ['read'], user_id: null, iss: 'dormouse', sub: 'thr_1', exp: 4e9 };
const made = async (header: { alg?: string; typ?: string }, changes: object = {}): Promise<string> => {
  const jwt = new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'HS256', typ: 'thread+jwt', ...header });
  return `dtt_${await jwt.sign(signingKey)}`;
};

describe('thread tokens', () => {
  it('say what was granted', async () => {
    expect(await tokens.verify(await issued())).toEqual({ ...key, can: ['read'], userId: 'ann' });
    expect(await tokens.verify(await made({}))).toEqual({ ...key, can: ['read'], userId: null });
  });

  it('are refused when any character of them is another', async () => {
    const token = await issued();
    await fc.assert(
      fc.asyncProperty(
        fc.nat(token.length - 1),
        fc.string({ unit: 'binary-ascii', maxLength: 1 }),
        async (at, other) => {
          const changed = token.slice(0, at) + other + token.slice(at + 1);
          if (changed !== token) expect(await tokens.verify(changed)).toBeNull();
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('have one spelling', async () => {
    const token = await issued();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= \n';
    const taken = [];
    for (const last of alphabet) if ((await tokens.verify(token.slice(0, -1) + last)) !== null) taken.push(last);
    expect(taken).toEqual([token.at(-1)]);
    for (const other of [`${token}=`, `${token} `, ` ${token}`, token.replace('dtt_', 'dtt_ ')])
      expect(await tokens.verify(other)).toBeNull();
  });

  it('are refused when cut, longer, of an older release, or anything else', async () => {
    const token = await issued();
    const grant = Buffer.from(JSON.stringify({ ...key, can: ['read'], userId: null, expiresAt: 4e12 })).toString(
      'base64url',
    );
    const mac = createHmac('sha256', signingKey).update(`thread-token.${grant}`).digest('base64url');
    const old = `dtt_${grant}.${mac}`;
    for (const wrong of ['', 'dtt_', 'dtt_.', 'dtt_..', token.slice(0, -1), `${token}A`, `${token}.x`, old])
      expect(await tokens.verify(wrong)).toBeNull();
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect(await tokens.verify(`dtt_${text}`)).toBeNull();
      }),
    );
  });

  it('are refused when signed by another key, by another algorithm, or not at all', async () => {
    const other = createThreadTokens({ clock, signingKey: new Uint8Array(32).fill(4) });
    expect(await tokens.verify((await other.issue(key, ['read'], null, 60)).token)).toBeNull();
    expect(await tokens.verify(await made({ alg: 'HS512' }))).toBeNull();
    expect(await tokens.verify(`dtt_${new UnsecuredJWT(claims).encode()}`)).toBeNull();
  });

  it('are refused when the same key has signed them for another purpose', async () => {
    for (const header of [{ typ: 'JWT' }, { typ: 'logout+jwt' }])
      expect(await tokens.verify(await made(header))).toBeNull();
    for (const changes of [{ iss: 'another' }, { iss: undefined }, { exp: undefined }, { sub: undefined }])
      expect(await tokens.verify(await made({}, changes))).toBeNull();
  });

  it('never open another thread', async () => {
    const [one, two] = [await issued(), (await tokens.issue({ ...key, thread: 'thr_2' }, ['read'], 'ann', 60)).token];
    const mixed = fc.tuple(
      ...[0, 1, 2].map((part) => fc.constantFrom(...[one, two].map((token) => token.split('.')[part]))),
    );
    await fc.assert(
      fc.asyncProperty(mixed, async (parts) => {
        const token = parts.join('.');
        const grant = await tokens.verify(token);
        expect(grant?.thread ?? null).toBe(token === one ? 'thr_1' : token === two ? 'thr_2' : null);
      }),
    );
  });

  it('end at the second that is answered', async () => {
    await clock.advance(1);
    const { token, expiresAt } = await tokens.issue(key, ['read'], null, 60);
    expect(expiresAt - clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(expiresAt - clock.now()).toBeLessThan(61_000);
    await clock.advance(expiresAt - 1 - clock.now());
    expect(await tokens.verify(token)).not.toBeNull();
    await clock.advance(1);
    expect(await tokens.verify(token)).toBeNull();
  });
});
