import { createManualClock, createMemoryWorld, createSeededEntropy, plainSealer } from '@dormouse/adapter-memory';
import { Fault, type UserCredentials, tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { placeOfCredentials } from './resealing.ts';
import { createUserCredentialApi, type NewCredential } from './user-credentials.ts';
import { createUserTokens, type RefreshedGrant, type UserToken } from './user-tokens.ts';

const acme = tenantId('acme');

const origin = 'https://crm.example';
const server = { name: 'crm', baseUrl: `${origin}/rap` };

function rig() {
  const clock = createManualClock();
  const world = createMemoryWorld({ clock });
  const logged: unknown[] = [];
  const log = (...line: unknown[]): void => void logged.push(line);
  const logger = { debug: log, info: log, warn: log, error: log } as never;
  /** A provider whose refresh tokens are good once. */
  const provider = {
    good: 'r0',
    refreshes: 0,
    expiresInS: 3_600,
    used: [] as string[],
    answers: 'grant' as 'grant' | 'refusal' | 'silence',
  };
  const gate = { open: Promise.resolve() };
  const refreshGrant = async ({ refreshToken }: { readonly refreshToken: string }): Promise<RefreshedGrant | null> => {
    provider.used.push(refreshToken);
    await gate.open;
    if (provider.answers === 'silence') throw new Fault('UNAVAILABLE', 'no answer');
    if (provider.answers === 'refusal' || refreshToken !== provider.good) return null;
    provider.refreshes += 1;
    provider.good = `r${provider.refreshes}`;
    return { accessToken: `a${provider.refreshes}`, refreshToken: provider.good, expiresInS: provider.expiresInS };
  };
  const portsOf = (node: string, change: (credentials: UserCredentials) => Partial<UserCredentials> = () => ({})) => {
    const { userCredentials } = world.ports(node);
    return { userCredentials: { ...userCredentials, ...change(userCredentials) }, sealer: plainSealer, clock };
  };
  let seed = 0;
  const processOf = (node: string, change?: Parameters<typeof portsOf>[1], aheadMs = 0): UserToken =>
    createUserTokens({
      ...portsOf(node, change),
      clock: { now: () => clock.now() + aheadMs, sleep: (ms) => clock.sleep(ms) },
      ...{ entropy: createSeededEntropy((seed += 1)), logger, refreshGrant },
    });
  const api = createUserCredentialApi({
    ...portsOf('api'),
    toolServers: { get: async (_, name) => (name === 'crm' ? server : null) as never },
    transport: { judge: async (url) => (url.includes('evil') ? { ok: false, detail: 'no' } : { ok: true }) },
  });
  const grant: NewCredential = {
    ...{ type: 'oauth2', tokenUrl: 'https://id.example/token', clientId: 'c', clientSecret: 'secret' },
    ...{ refreshToken: 'r0', accessToken: null, expiresAt: null },
  };
  const put = (wanted: Partial<NewCredential> = {}) =>
    api.put(acme, 'ann', 'crm', { ...grant, ...wanted } as NewCredential);
  const ask = (by: UserToken) => by(acme, 'ann', 'crm', origin);
  return { clock, world, logged, provider, gate, processOf, api, put, ask };
}

describe('the token of a user', () => {
  it('is the bearer that was set, and null for every other user', async () => {
    const { api, processOf, ask } = rig();
    await api.put(acme, 'ann', 'crm', { type: 'bearer', value: 'of ann' });
    const tokens = processOf('one');
    expect(await ask(tokens)).toBe('of ann');
    expect(await tokens(acme, 'bob', 'crm', origin)).toBeNull();
    expect(await tokens(tenantId('other'), 'ann', 'crm', origin)).toBeNull();
    expect(await tokens(acme, 'ann', 'mail', origin)).toBeNull();
  });

  it('T4 goes to no other origin', async () => {
    const { processOf, put } = rig();
    await put();
    await expect(processOf('one')(acme, 'ann', 'crm', 'https://evil.example')).rejects.toMatchObject({
      code: 'SECRET_UNUSABLE',
    });
  });

  it('T1 is refreshed by exactly one of five racing processes, and again when it ends', async () => {
    const { clock, gate, provider, processOf, put, ask } = rig();
    await put();
    const processes = ['1', '2', '3', '4', '5'].map((node) => processOf(node));
    for (let round = 1; round <= 20; round += 1) {
      const held = Promise.withResolvers<void>();
      gate.open = held.promise;
      const asked = Promise.all(processes.map(ask));
      for (let times = 0; times < 5; times += 1) await clock.advance(100);
      held.resolve();
      for (let times = 0; times < 5; times += 1) await clock.advance(100);
      expect(await asked).toEqual(Array.from({ length: 5 }, () => `a${round}`));
      expect(provider.refreshes).toBe(round);
      await clock.advance(3_600_000 - 30_000);
    }
    expect(provider.used).toEqual(Array.from({ length: 20 }, (_, nth) => `r${nth}`));
  });

  it('T1 is refreshed by another one when the process that began has died', async () => {
    const { clock, gate, provider, processOf, put, ask } = rig();
    await put();
    gate.open = new Promise(() => {}); // it never comes back
    void ask(processOf('died'));
    await clock.advance(0);
    gate.open = Promise.resolve();
    const asked = ask(processOf('two')).catch((fault: Fault) => fault.code);
    for (let times = 0; times < 250; times += 1) await clock.advance(100);
    expect(await asked).toBe('UNAVAILABLE'); // the call is tried again
    await clock.advance(10_000);
    expect(await ask(processOf('two'))).toBe('a1');
    expect(provider.refreshes).toBe(1);
  });

  it('T1 is refreshed once by two processes of which one has a clock that is ahead, whichever begins', async () => {
    for (const aheadMs of [3, 1_000, 5_000, -3, -1_000, -5_000]) {
      const { clock, gate, provider, processOf, put, ask } = rig();
      await put();
      const held = Promise.withResolvers<void>();
      gate.open = held.promise;
      const asked = [ask(processOf('one', undefined, aheadMs))];
      await clock.advance(0);
      asked.push(ask(processOf('two')));
      await clock.advance(0);
      held.resolve();
      await clock.advance(100);
      await clock.advance(100);
      expect([await Promise.all(asked), provider.used]).toEqual([['a1', 'a1'], ['r0']]);
    }
  });

  it('T2 is stored although the store fails for a while', async () => {
    const { clock, provider, processOf, put, ask } = rig();
    await put();
    let failures = 0;
    const failing = processOf('one', (store) => ({
      replace: async (next, seen) => {
        if (next.lease === null && (failures += 1) <= 3) throw new Fault('UNAVAILABLE', 'away');
        return store.replace(next, seen);
      },
    }));
    const asked = ask(failing);
    for (let times = 0; times < 5; times += 1) await clock.advance(250);
    expect(await asked).toBe('a1');
    expect(await ask(processOf('two'))).toBe('a1');
    expect([failures, provider.refreshes]).toEqual([4, 1]);
  });

  it('T2 is that of a credential which was set meanwhile', async () => {
    const { clock, gate, provider, processOf, put, ask } = rig();
    await put();
    const held = Promise.withResolvers<void>();
    gate.open = held.promise;
    const asked = ask(processOf('one'));
    await clock.advance(0);
    await put({ accessToken: 'set meanwhile' });
    held.resolve();
    expect(await asked).toBe('set meanwhile');
    expect(provider.used).toEqual(['r0']);
  });

  it('T2 is stored although the credential was sealed again meanwhile, with another master key', async () => {
    const { clock, gate, provider, processOf, put, ask, world } = rig();
    await put();
    const held = Promise.withResolvers<void>();
    gate.open = held.promise;
    const asked = ask(processOf('one'));
    await clock.advance(0);
    for await (const value of placeOfCredentials(world.ports('sealing').userCredentials)(acme))
      expect(await value.replace(value.sealed)).toBe(true);
    held.resolve();
    await clock.advance(100);
    expect(await asked).toBe('a1');
    await clock.advance(3_600_000);
    expect(await ask(processOf('two'))).toBe('a2');
    expect(provider.used).toEqual(['r0', 'r1']);
  });

  it('T3 has ended when the provider refuses, which is asked once', async () => {
    const { provider, processOf, put, ask, api } = rig();
    await put();
    provider.answers = 'refusal';
    for (const node of ['one', 'two'])
      await expect(ask(processOf(node))).rejects.toMatchObject({ code: 'CREDENTIAL_REFRESH_FAILED' });
    expect(provider.used).toEqual(['r0']);
    expect(await api.get(acme, 'ann', 'crm')).toMatchObject({ ok: true, value: { failedAt: expect.any(Number) } });
    provider.answers = 'grant';
    await put();
    expect(await ask(processOf('one'))).toBe('a1');
  });

  it('T3 has not ended where the credential was set anew while the provider refused the one before', async () => {
    const { clock, gate, provider, processOf, put, ask } = rig();
    await put();
    provider.answers = 'refusal';
    const held = Promise.withResolvers<void>();
    gate.open = held.promise;
    const asked = ask(processOf('one'));
    await clock.advance(0);
    await put({ accessToken: 'set meanwhile' });
    held.resolve();
    expect(await asked).toBe('set meanwhile');
    expect(provider.used).toEqual(['r0']);
  });

  it('T3 is asked for again where the provider did not answer', async () => {
    const { provider, processOf, put, ask } = rig();
    await put();
    provider.answers = 'silence';
    await expect(ask(processOf('one'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    provider.answers = 'grant';
    expect(await ask(processOf('two'))).toBe('a1');
  });

  it.each([1e300, Number.MAX_VALUE, 9e12])('has an end that is a time, whatever the provider says: %d s', async (s) => {
    const { provider, processOf, put, ask, api } = rig();
    await put();
    provider.expiresInS = s;
    expect(await ask(processOf('one'))).toBe('a1');
    const shown = await api.get(acme, 'ann', 'crm');
    expect(shown.ok && new Date(shown.value.expiresAt ?? Number.NaN).toISOString()).toMatch(/^\d{4}-/);
    expect(await ask(processOf('two'))).toBe('a1');
  });

  it('T5 C1 is in no log and no answer', async () => {
    const { logged, provider, processOf, put, ask, api } = rig();
    await put({ accessToken: null });
    provider.answers = 'refusal';
    const fault = await ask(processOf('one')).catch((thrown: Error) => thrown.message);
    const answers = [await api.get(acme, 'ann', 'crm'), await api.list(acme, 'ann')];
    const said = JSON.stringify([logged, fault, answers]);
    expect(logged).toHaveLength(1);
    for (const secret of ['r0', '"secret"']) expect(said).not.toContain(secret);
  });

  it('is refused for a server that is not registered, and a provider that may not be asked', async () => {
    const { api, put } = rig();
    expect(await api.put(acme, 'ann', 'none', { type: 'bearer', value: 'x' })).toMatchObject({ ok: false });
    expect(await put({ tokenUrl: 'http://evil/' })).toMatchObject({
      refusal: { errors: [{ pointer: '/token_url' }] },
    });
    expect(await api.remove(acme, 'ann', 'crm')).toMatchObject({ ok: false });
  });
});
