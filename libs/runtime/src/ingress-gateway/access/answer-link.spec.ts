import { tenantId } from '@dormouse/ports';
import { createManualClock } from '@dormouse/adapter-memory';
import fc from 'fast-check';
import { SignJWT } from 'jose/jwt/sign';
import { UnsecuredJWT } from 'jose/jwt/unsecured';
import { describe, expect, it } from 'vitest';
import { type AnswerLink, createAnswerLinks } from './answer-link.ts';

const clock = createManualClock();
const signingKey = new Uint8Array(32).fill(3);
const links = createAnswerLinks({ clock, signingKey });
const about: Omit<AnswerLink, 'expiresAt'> = {
  ...{ tenant: tenantId('acme'), thread: 'thr_1', id: 'lnk_1', choiceId: 'chc_1', argumentsHash: 'a'.repeat(64) },
  ...{ for: 'ann', can: ['allow', 'deny'] },
};
const signed = async (changes: Partial<AnswerLink> = {}, ttlS = 60): Promise<string> =>
  (await links.sign({ ...about, ...changes }, ttlS)).token;

const claims = { tenant: 'acme', choice: 'chc_1', shown: 'a', for: 'ann', can: ['allow'] };
const registered = { iss: 'dormouse', sub: 'thr_1', jti: 'lnk_1', exp: 4e9 };
const made = async (header: { alg?: string; typ?: string }, changes: object = {}): Promise<string> => {
  const protectedHeader = { alg: 'HS256', typ: 'answer-link+jwt', ...header };
  const jwt = new SignJWT({ ...claims, ...registered, ...changes }).setProtectedHeader(protectedHeader);
  return `dal_${await jwt.sign(signingKey)}`;
};

describe('answer links', () => {
  it('Y2 say what they are for, until the second that is answered', async () => {
    const { token, expiresAt } = await links.sign(about, 60);
    expect(await links.read(token)).toEqual({ ...about, expiresAt });
    await clock.advance(expiresAt - 1 - clock.now());
    expect(await links.read(token)).toMatchObject({ id: 'lnk_1' });
    await clock.advance(1);
    expect(await links.read(token)).toBe('expired');
  });

  it('Y1 are none when any character of them is another', async () => {
    const token = await signed();
    await fc.assert(
      fc.asyncProperty(
        fc.nat(token.length - 1),
        fc.string({ unit: 'binary-ascii', maxLength: 1 }),
        async (at, other) => {
          const changed = token.slice(0, at) + other + token.slice(at + 1);
          if (changed !== token) expect(await links.read(changed)).toBeNull();
        },
      ),
      { numRuns: 1_000 },
    );
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= ';
    const taken = [];
    for (const last of alphabet) if ((await links.read(token.slice(0, -1) + last)) !== null) taken.push(last);
    expect(taken).toEqual([token.at(-1)]);
  });

  it('Y1 are none when another key or algorithm has signed them, or the same key for another purpose', async () => {
    expect(await links.read(await made({}))).toMatchObject({ choiceId: 'chc_1' });
    const other = createAnswerLinks({ clock, signingKey: new Uint8Array(32).fill(4) });
    expect(await links.read((await other.sign(about, 60)).token)).toBeNull();
    expect(await links.read(`dal_${new UnsecuredJWT({ ...claims, ...registered }).encode()}`)).toBeNull();
    for (const header of [{ alg: 'HS512' }, { typ: 'thread+jwt' }, { typ: 'JWT' }])
      expect(await links.read(await made(header))).toBeNull();
    for (const changes of [{ iss: 'another' }, { exp: undefined }, { sub: undefined }, { jti: undefined }])
      expect(await links.read(await made({}, changes))).toBeNull();
    expect(await links.read((await made({})).replace('dal_', 'dtt_'))).toBeNull();
  });
});
