import { tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { ingressRig, type IngressRig } from '../spec/ingress-rig.ts';
import { allScopes, type Granting, type NewApiKey } from './api-keys.ts';

const tenant = tenantId('acme');
const all: Granting = { scopes: allScopes, agents: null };
const wanted: NewApiKey = { name: 'ci', scopes: ['read'], agents: null, expiresAt: null };
const page = { limit: 10, cursor: null };

async function made(at: IngressRig, changes: Partial<NewApiKey> = {}, by = all) {
  const answer = await at.ingress.keys.create(tenant, { ...wanted, ...changes }, by);
  if (!answer.ok) throw new Error(answer.refusal.detail);
  return answer.value;
}

const codeOf = async (asked: ReturnType<IngressRig['ingress']['keys']['create']>): Promise<string> => {
  const answer = await asked;
  return answer.ok ? 'made' : `${answer.refusal.code} ${answer.refusal.detail}`;
};

describe('an API key', () => {
  it('A1 is told apart by its first characters, and a text that is not ours shows none', async () => {
    const at = ingressRig();
    const { key } = await made(at);
    await at.clock.advance(1);
    await at.ingress.keys.ensure(tenant, 'bootstrap', 'short-key');
    const { data } = await at.ingress.keys.list(tenant, page);
    expect(data.map(({ prefix }) => prefix)).toEqual([key.slice(0, 12), null]);
    expect(JSON.stringify(data)).not.toContain(key.slice(12));
  });

  it('A7 that is not in force costs one read by its whole hash, whatever is wrong with it', async () => {
    const at = ingressRig();
    const { key } = await made(at);
    const revoked = await made(at);
    const expired = await made(at, { expiresAt: at.clock.now() + 1_000 });
    await at.ingress.keys.revoke(tenant, revoked.id);
    await at.clock.advance(60_000);
    const { apiKeys } = at.ports;
    const reads: string[] = [];
    const counted: typeof apiKeys = {
      ...apiKeys,
      bySha256: (hash) => {
        reads.push(`bySha256 ${hash.length}`);
        return apiKeys.bySha256(hash);
      },
      list: () => Promise.reject(new Error('a key is not found by its prefix')),
      used: () => Promise.reject(new Error('it was not used')),
      end: () => Promise.reject(new Error('it was not ended')),
    };
    const { keys } = at.ingressWith({ apiKeys: counted });
    const wrong = [
      `dmk_${'cd'.repeat(32)}`,
      `${key.slice(0, 12)}${'0'.repeat(56)}`,
      `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
      ...[key.slice(0, -1), `${key}0`, key.toUpperCase(), '', revoked.key, expired.key],
    ];
    for (const text of wrong) {
      expect(await keys.authenticate(text)).toBeNull();
      expect(reads.splice(0)).toEqual(['bySha256 64']);
      expect(await keys.authenticate(text)).toBeNull(); // "no" is not remembered
      expect(reads.splice(0)).toEqual(['bySha256 64']);
    }
  });

  it('A2 that is revoked ends everywhere within a second, and stays in the list', async () => {
    const at = ingressRig();
    const elsewhere = at.ingressWith({});
    const { id, key } = await made(at);
    expect(await elsewhere.keys.authenticate(key)).not.toBeNull();
    expect((await at.ingress.keys.revoke(tenant, id)).ok).toBe(true);
    expect((await at.ingress.keys.revoke(tenant, id)).ok).toBe(true);
    expect((await at.ingress.keys.revoke(tenantId('other'), id)).ok).toBe(false);
    expect(await at.ingress.keys.authenticate(key)).toBeNull();
    const revokedAt = at.clock.now();
    await at.clock.advance(999);
    expect(await elsewhere.keys.authenticate(key)).toBeNull();
    expect((await elsewhere.keys.list(tenant, page)).data).toMatchObject([{ id, revokedAt }]);
  });

  it.each(['revoked', 'rerolled', 'expired'] as const)('A2 ends what it opened within a second: %s', async (how) => {
    const at = ingressRig();
    const elsewhere = at.ingressWith({});
    const { id, key } = await made(at, how === 'expired' ? { expiresAt: at.clock.now() + 10_000 } : {});
    const spared = await made(at);
    const watch = async (text: string) => {
      const record = await elsewhere.keys.authenticate(text);
      if (record === null) throw new Error('unknown');
      return elsewhere.watchCredential({ tenant, grant: null, keys: [record.keySha256] });
    };
    const [end, other] = [await watch(key), await watch(spared.key)];
    await at.clock.advance(how === 'expired' ? 9_000 : 5_000);
    expect([end.signal.aborted, other.signal.aborted]).toEqual([false, false]);
    if (how === 'revoked') await at.ingress.keys.revoke(tenant, id);
    if (how === 'rerolled') await at.ingress.keys.reroll(tenant, id, 0, all);
    await at.clock.advance(how === 'expired' ? 2_000 : 1_000);
    expect([end.signal.aborted, other.signal.aborted]).toEqual([true, false]);
    for (const each of [end, other]) each.stop();
  });

  it('A5 grants no scope and no agent that it lacks', async () => {
    const { keys } = ingressRig().ingress;
    const reader: Granting = { scopes: ['read', 'threads:write'], agents: null };
    const support: Granting = { scopes: ['tenant:admin'], agents: ['support'] };
    expect(await codeOf(keys.create(tenant, wanted, reader))).toBe('made');
    expect(await codeOf(keys.create(tenant, { ...wanted, scopes: ['read', 'approvals:write'] }, reader))).toContain(
      'FORBIDDEN This key lacks the scope approvals:write',
    );
    expect(await codeOf(keys.create(tenant, { ...wanted, scopes: [...allScopes], agents: ['support'] }, support))).toBe(
      'made',
    );
    expect(await codeOf(keys.create(tenant, wanted, support))).toContain('FORBIDDEN');
    expect(await codeOf(keys.create(tenant, { ...wanted, agents: ['support', 'sales'] }, support))).toContain(
      'FORBIDDEN',
    );
  });

  it('is not made with an end in the past', async () => {
    const at = ingressRig();
    const past = { ...wanted, expiresAt: at.clock.now() };
    expect(await codeOf(at.ingress.keys.create(tenant, past, all))).toContain('INVALID_BODY');
  });

  it('A6 is rerolled: its successor can do the same, and both are good until the overlap ends', async () => {
    const at = ingressRig();
    const old = await made(at, { scopes: ['read', 'threads:write'], agents: ['support'] });
    const rerolled = await at.ingress.keys.reroll(tenant, old.id, 60_000, all);
    if (!rerolled.ok) throw new Error(rerolled.refusal.detail);
    const { key } = rerolled.value;
    const before = await at.ingress.keys.authenticate(old.key);
    const after = await at.ingress.keys.authenticate(key);
    expect(after).toMatchObject({ name: before?.name, scopes: before?.scopes, agents: ['support'], expiresAt: null });
    await at.clock.advance(59_000);
    expect(await at.ingress.keys.authenticate(old.key)).not.toBeNull();
    await at.clock.advance(1_000);
    expect(await at.ingress.keys.authenticate(old.key)).toBeNull();
    expect(await at.ingress.keys.authenticate(key)).not.toBeNull();
    expect(await codeOf(at.ingress.keys.reroll(tenant, old.id, 0, all))).toContain('NOT_FOUND');
    const lesser: Granting = { scopes: ['read'], agents: null };
    expect(await codeOf(at.ingress.keys.reroll(tenant, rerolled.value.id, 0, lesser))).toContain('FORBIDDEN');
  });
});
