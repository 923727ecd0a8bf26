import { createManualClock } from '@dormouse/adapter-memory';
import { Fault } from '@dormouse/ports';
import fc from 'fast-check';
import type { CryptoKey } from 'jose';
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';
import { SignJWT } from 'jose/jwt/sign';
import { beforeAll, describe, expect, it } from 'vitest';
import { createIdentityTokens, type IdentityReading } from './identity-token.ts';

const issuer = 'https://id.example';
const settings = { issuer, audience: 'api', tenantClaim: 'tenant', userClaim: 'sub', scopesClaim: 'scope' };

interface Signing {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: object;
}

async function signing(kid: string): Promise<Signing> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } };
}

let [one, two]: Signing[] = [];
beforeAll(async () => {
  [one, two] = [await signing('one'), await signing('two')];
});

/** The tokens of an issuer that publishes `keys`, and is away while `isAway`. */
function rig() {
  const clock = createManualClock(1_700_000_000_000);
  const world = { keys: [one?.jwk], isAway: false, issuer, reads: 0 };
  const readDocument = async (url: string): Promise<unknown> => {
    if (world.isAway) throw new Fault('UNAVAILABLE', 'away');
    if (url.endsWith('/.well-known/openid-configuration')) return { issuer: world.issuer, jwks_uri: `${issuer}/jwks` };
    world.reads += 1;
    return { keys: world.keys };
  };
  const tokens = createIdentityTokens(settings, { clock, readDocument });
  const sign = (more: object = {}, by: Signing | undefined = one, typ = 'JWT'): Promise<string> => {
    if (by === undefined) throw new Error('no key');
    const nowS = clock.now() / 1_000;
    const claims = { iss: issuer, aud: 'api', sub: 'ann', tenant: 'acme', iat: nowS, exp: nowS + 86_400 * 30 };
    return new SignJWT({ ...claims, scope: 'read openid', ...more })
      .setProtectedHeader({ alg: 'ES256', kid: by.kid, typ })
      .sign(by.privateKey);
  };
  return { clock, world, tokens, sign };
}

const isGood = ({ identity }: IdentityReading): boolean => identity !== null;

describe('a token of an identity provider', () => {
  it('D3 D5 says tenant, subject, user and the scopes that are ours', async () => {
    const { tokens, sign, clock } = rig();
    const token = await sign({ exp: clock.now() / 1_000 + 60 });
    expect(tokens.isOne(token)).toBe(true);
    expect(await tokens.read(token)).toEqual({
      identity: { tenant: 'acme', subject: 'ann', userId: 'ann', scopes: ['read'], expiresAt: clock.now() + 60_000 },
      refused: null,
    });
    const listed = await tokens.read(await sign({ scope: ['tenant:admin', 7, 'read'] }));
    expect(listed.identity?.scopes).toEqual(['read', 'tenant:admin']);
  });

  it('D2 is refused when any bit of it is flipped', async () => {
    const { tokens, sign } = rig();
    const token = await sign();
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.nat(7), async (at, bit) => {
        const flipped = String.fromCharCode(token.charCodeAt(at) ^ (1 << bit));
        const changed = token.slice(0, at) + flipped + token.slice(at + 1);
        expect(isGood(tokens.isOne(changed) ? await tokens.read(changed) : { identity: null, refused: null })).toBe(
          false,
        );
      }),
      { numRuns: 500 },
    );
  });

  it('D4 ends at its end, and may begin a minute ahead', async () => {
    const { tokens, sign, clock } = rig();
    const nowS = clock.now() / 1_000;
    const token = await sign({ exp: nowS + 10 });
    await clock.advance(9_999);
    expect(isGood(await tokens.read(token))).toBe(true);
    await clock.advance(1);
    const ended = { tenant: 'acme', subject: 'ann', why: 'expired' };
    expect(await tokens.read(token)).toEqual({ identity: null, refused: ended });
    await clock.advance(3_600_000);
    expect((await tokens.read(token)).refused).toEqual(ended);
    const later = clock.now() / 1_000;
    expect(isGood(await tokens.read(await sign({ nbf: later + 60 })))).toBe(true);
    expect((await tokens.read(await sign({ nbf: later + 61 }))).refused?.why).toBe('not_yet_valid');
    expect((await tokens.read(await sign({ iat: later + 61 }))).refused?.why).toBe('not_yet_valid');
  });

  it.each([
    ['at+jwt', true],
    ['application/at+jwt', true],
    ['logout+jwt', false],
    ['oauth-authz-req+jwt', false],
    ['', false],
  ])('D2 of the type %j is good: %j', async (typ, good) => {
    const { tokens, sign } = rig();
    expect(isGood(await tokens.read(await sign({}, one, typ)))).toBe(good);
  });

  it('D6 that no key of the issuer has signed says nothing of anyone', async () => {
    const { tokens, sign } = rig();
    const forged = await sign({ aud: 'other' }, { ...two, kid: 'one' } as Signing);
    expect(await tokens.read(forged)).toEqual({ identity: null, refused: null });
    expect((await tokens.read(await sign({ aud: 'other' }))).refused?.why).toBe('wrong_audience');
  });

  it.each(['dmk_00', 'dtt_a.b.c', 'a.b.c', 'eyJhIjoxfQ.e30.', 'no dots', ''])('is not %s', (credential) => {
    expect(rig().tokens.isOne(credential)).toBe(false);
  });
});

describe('the keys of an issuer', () => {
  it('J1 are read again for an unknown one, six times in a minute at most', async () => {
    const { tokens, sign, world, clock } = rig();
    expect(isGood(await tokens.read(await sign()))).toBe(true);
    world.keys = [two?.jwk];
    expect(isGood(await tokens.read(await sign({}, two)))).toBe(true);
    expect(isGood(await tokens.read(await sign()))).toBe(false);
    const unknown = await sign({}, { ...two, kid: 'unknown' } as Signing);
    for (let round = 0; round < 50; round += 1) expect(isGood(await tokens.read(unknown))).toBe(false);
    expect(world.reads).toBe(6);
    await clock.advance(60_000);
    await Promise.all(Array.from({ length: 20 }, () => tokens.read(unknown)));
    expect(world.reads).toBe(7);
  });

  it('J2 are read again while they are good, so that one which was withdrawn ends', async () => {
    const { tokens, sign, world, clock } = rig();
    const token = await sign();
    expect(isGood(await tokens.read(token))).toBe(true);
    world.keys = [two?.jwk];
    await clock.advance(300_000);
    await tokens.read(token);
    await expect.poll(async () => isGood(await tokens.read(token))).toBe(false);
  });

  it('J2 J3 stay good for a day without the issuer, and an unknown one is a fault meanwhile', async () => {
    const { tokens, sign, world, clock } = rig();
    expect(isGood(await tokens.read(await sign()))).toBe(true);
    world.isAway = true;
    await clock.advance(86_399_999);
    expect(isGood(await tokens.read(await sign()))).toBe(true);
    await expect(tokens.read(await sign({}, two))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await clock.advance(1);
    await expect(tokens.read(await sign())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    world.isAway = false;
    await clock.advance(1_000);
    expect(isGood(await tokens.read(await sign()))).toBe(true);
  });

  it('J4 of another issuer are none', async () => {
    const { tokens, sign, world } = rig();
    world.issuer = 'https://evil.example';
    await expect(tokens.read(await sign())).rejects.toThrow('names another issuer');
  });
});
