import { createHmac } from 'node:crypto';
import { createManualClock, createMemoryWorld, createSeededEntropy } from '@dormouse/adapter-memory';
import { Fault, type Stores, tenantId, type ThreadRow } from '@dormouse/ports';
import fc from 'fast-check';
import { SignJWT } from 'jose/jwt/sign';
import { UnsecuredJWT } from 'jose/jwt/unsecured';
import { describe, expect, it } from 'vitest';
import { answered } from '../refusal.ts';
import { createTenantRecords } from '../../tenants/tenant-records.ts';
import { createKeyApi } from './api-keys.ts';
import { createRevocations, type CredentialEnd, type Revocations } from './revocations.ts';
import { createThreadFamilies } from './thread-families.ts';
import {
  createThreadTokens,
  type ThreadGrant,
  type ThreadTokenPorts,
  type ThreadTokens,
  type WantedToken,
} from './thread-token.ts';

const acme = tenantId('acme');

const clock = createManualClock();
const signingKey = new Uint8Array(32).fill(3);
const world = createMemoryWorld({ clock });
const entropy = createSeededEntropy(1);
const threads = { find: async (given: object) => answered(given) } as never;
/** Tokens as one process sees them. */
const process = (
  node: string,
  secret: ThreadTokenPorts['signingKey'] = signingKey,
  other: Partial<Pick<Stores, 'revokedTokens' | 'apiKeys'>> = {},
): ThreadTokens & Pick<Revocations, 'watch'> => {
  const ports = { ...world.ports(node), ...other, clock, entropy };
  const records = createTenantRecords(ports);
  const revocations = createRevocations({ ...ports, records, keys: createKeyApi(ports) });
  const families = createThreadFamilies(ports);
  const made = createThreadTokens({ ...ports, revocations, families, threads, signingKey: secret });
  return { ...made, watch: (credential) => revocations.watch(credential) };
};
const tokens = process('one');
const key = { tenant: acme, thread: 'thr_1' };
const wanted: WantedToken = { can: ['read'], userId: 'ann', ttlS: 60, scope: 'thread' };

async function issue(
  changes: Partial<WantedToken> = {},
  of = key,
  by = tokens,
): Promise<{ token: string; id: string; expiresAt: number }> {
  const answer = await by.issue(of, { ...wanted, ...changes });
  if (!answer.ok) throw new Error(answer.refusal.detail);
  return answer.value;
}

const issued = async (ttlS = 60): Promise<string> => (await issue({ ttlS })).token;
const claims = { tenant: 'acme', can: ['read'], user_id: null, iss: 'dormouse', sub: 'thr_1', exp: 4e9 };
const made = async (header: { alg?: string; typ?: string }, changes: object = {}): Promise<string> => {
  const jwt = new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'HS256', typ: 'thread+jwt', ...header });
  return `dtt_${await jwt.sign(signingKey)}`;
};

describe('thread tokens', () => {
  it('say what was granted', async () => {
    const { token, id, expiresAt } = await issue();
    expect(await tokens.verify(token)).toEqual({ ...key, family: null, can: ['read'], userId: 'ann', id, expiresAt });
    const earlier = { ...key, family: null, can: ['read'], userId: null, id: null, expiresAt: 4e12 };
    expect(await tokens.verify(await made({}))).toEqual(earlier); // (O4)
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
    const other = process('one', new Uint8Array(32).fill(4));
    expect(await tokens.verify((await issue({}, key, other)).token)).toBeNull();
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
    const [one, two] = [await issued(), (await issue({}, { ...key, thread: 'thr_2' })).token];
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
    const { token, expiresAt } = await issue();
    expect(expiresAt - clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(expiresAt - clock.now()).toBeLessThan(61_000);
    await clock.advance(expiresAt - 1 - clock.now());
    expect(await tokens.verify(token)).not.toBeNull();
    await clock.advance(1);
    expect(await tokens.verify(token)).toBeNull();
  });

  it('open their thread alone, or the family of the thread (O2)', async () => {
    const row = (thread: string, family: string, parent: string | null): ThreadRow => ({
      ...{ tenant: acme, thread, family, parent, status: 'idle', agent: 'a', agentVersion: 1, userId: null },
      ...{ externalId: null, title: null, metadata: {}, createdAt: 1, updatedAt: 1, position: 1, opening: null },
    });
    const { directory } = world.ports('rows');
    await directory.insert(row('thr_root', 'thr_root', null));
    await directory.insert(row('thr_child', 'thr_root', 'thr_root'));
    await directory.insert(row('thr_other', 'thr_other', null));
    const child = { tenant: acme, thread: 'thr_child' };
    for (const [scope, opened] of [
      ['thread', ['thr_child']],
      ['family', ['thr_root', 'thr_child']],
    ] as const) {
      const grant = await tokens.verify((await issue({ scope }, child)).token);
      if (grant === null) throw new Error('refused');
      const all = ['thr_root', 'thr_child', 'thr_other', 'thr_none'];
      const reached = await Promise.all(all.map((thread) => tokens.opens(grant, thread)));
      expect(all.filter((_, place) => reached[place])).toEqual(opened);
    }
  });

  it('are refused everywhere within a second of their revocation (O3)', async () => {
    const [here, elsewhere] = [process('one'), process('two')];
    const { token, id } = await issue({}, key, here);
    expect(await elsewhere.verify(token)).not.toBeNull(); // and remembers for a moment
    expect((await here.revoke(key, id)).ok).toBe(true);
    expect(await here.verify(token)).toBeNull();
    await clock.advance(999);
    expect(await elsewhere.verify(token)).toBeNull();
    expect(await process('three').verify(token)).toBeNull();
    expect(await here.verify((await issue()).token)).not.toBeNull();
  });

  it('of another thread are not touched by a revocation of the same id', async () => {
    const { token, id } = await issue();
    expect((await tokens.revoke({ ...key, thread: 'thr_2' }, id)).ok).toBe(true);
    expect(await tokens.verify(token)).not.toBeNull();
    expect((await tokens.revoke(key, 'tok_unknown')).ok).toBe(false);
  });

  it.each(['revoked', 'expired'] as const)('end what they opened within a second: %s', async (how) => {
    const [here, elsewhere] = [process('one'), process('two')];
    const { token, id } = await issue({ ttlS: 600 }, key, here);
    const other = await elsewhere.verify((await issue({ ttlS: 3_600 })).token);
    const grant = await elsewhere.verify(token);
    if (grant === null || other === null) throw new Error('refused');
    const watch = (of: ThreadGrant): CredentialEnd => elsewhere.watch({ tenant: key.tenant, grant: of, keys: [] });
    const [watched, spared] = [watch(grant), watch(other)];
    await clock.advance(10_000);
    expect(watched.signal.aborted).toBe(false);
    if (how === 'revoked') await here.revoke(key, id);
    if (how === 'expired') await clock.advance(grant.expiresAt - clock.now() - 1_000);
    await clock.advance(999);
    expect(watched.signal.aborted).toBe(how === 'revoked');
    await clock.advance(1);
    expect([watched.signal.aborted, spared.signal.aborted]).toEqual([true, false]);
    for (const each of [watched, spared]) each.stop();
  });
});

describe('a credential whose state is not known', () => {
  it.each(['fails', 'does not answer'])('V2 ends what it has opened, where the store %s', async (how) => {
    const store = world.ports('one').revokedTokens;
    let isAway = false;
    const among: typeof store.among = (asked) => {
      if (!isAway) return store.among(asked);
      return how === 'fails' ? Promise.reject(new Fault('UNAVAILABLE', 'away')) : new Promise(() => {});
    };
    const own = process('one', signingKey, { revokedTokens: { ...store, among } });
    const grant = await own.verify((await issue({ ttlS: 600 })).token);
    const watched = own.watch({ tenant: key.tenant, grant, keys: [] });
    for (let times = 0; times < 20; times += 1) await clock.advance(100);
    expect(watched.signal.aborted).toBe(false);
    isAway = true;
    for (let times = 0; times < 15; times += 1) await clock.advance(100);
    expect(watched.signal.aborted).toBe(true);
    watched.stop();
  });
});

describe('several signing keys', () => {
  const keyOf = (id: string, byte: number, since: number) => ({ id, secret: new Uint8Array(32).fill(byte), since });
  const old = keyOf('old', 3, 0);
  const youngIn = (ms: number) => keyOf('young', 4, clock.now() + ms);

  it('O1, token-keys K1 sign in turn, and each is good for its own', async () => {
    const young = youngIn(10_000);
    const both = process('both', [young, old]);
    const [before] = [(await issue({ ttlS: 3_600 }, key, both)).token];
    await clock.advance(10_000);
    const after = (await issue({ ttlS: 3_600 }, key, both)).token;
    const goodFor = (by: ThreadTokens) =>
      Promise.all([before, after].map(async (token) => (await by.verify(token)) !== null));
    expect(await goodFor(both)).toEqual([true, true]);
    expect(await goodFor(process('before', [old]))).toEqual([true, false]);
    expect(await goodFor(process('after', [young]))).toEqual([false, true]);
  });

  it('O1, token-keys K1 take one of an earlier release, which names none, as of the oldest', async () => {
    const [young, early] = [youngIn(0), await made({})];
    expect(await process('both', [young, old]).verify(early)).not.toBeNull();
    expect(await process('after', [young]).verify(early)).toBeNull();
  });

  it('O1, token-keys K1 take none under the name of another', async () => {
    const young = youngIn(0);
    const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'thread+jwt', kid: 'young' });
    expect(await process('both', [young, old]).verify(`dtt_${await jwt.sign(signingKey)}`)).toBeNull();
    expect(await process('both', [young, old]).verify(`dtt_${await jwt.sign(young.secret)}`)).not.toBeNull();
  });
});
