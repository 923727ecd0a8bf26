import { createSecretKey } from 'node:crypto';
import { tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { createSealer, type SealKey, secretFinder, secretReader } from './sealer.ts';

const acme = tenantId('acme');

const keyOf = (id: string, byte: number): SealKey => ({ id, key: createSecretKey(Buffer.alloc(32, byte)) });
const sealerWith = (...all: readonly SealKey[]) => createSealer({ all, inUse: () => all.at(-1) ?? keyOf('none', 0) });
const sealer = sealerWith(keyOf('nine', 9));
const owner = { tenant: acme, name: 'llm' };

describe('sealed secrets', () => {
  it('open for their owner, and never look alike', () => {
    const [one, two] = [sealer.seal(owner, 'value'), sealer.seal(owner, 'value')];
    expect(one).not.toBe(two);
    expect(one).not.toContain('value');
    expect(sealer.open(owner, one)).toBe('value');
  });

  it('do not open for another tenant, another name, another key, or when changed', () => {
    const sealed = sealer.seal(owner, 'value');
    const other = sealerWith(keyOf('eight', 8));
    const changed = `${sealed.slice(0, 20)}${sealed[20] === 'A' ? 'B' : 'A'}${sealed.slice(21)}`;
    expect(() => sealer.open({ ...owner, tenant: tenantId('other') }, sealed)).toThrow(/authenticate/);
    expect(() => sealer.open({ ...owner, name: 'other' }, sealed)).toThrow(/authenticate/);
    expect(() => other.open(owner, sealed)).toThrow(/authenticate/);
    expect(() => sealer.open(owner, changed)).toThrow(/authenticate/);
  });

  it('leave only towards an origin they name', async () => {
    const stored = { ...owner, origins: ['https://a.example'], sealed: sealer.seal(owner, 'value'), createdAt: 0 };
    const none = () => Promise.reject(new Error('not used'));
    const secrets = {
      get: (_: string, name: string) => Promise.resolve(name === 'llm' ? stored : null),
      put: none,
      list: none,
      replace: none,
      remove: none,
    };
    const find = secretFinder(secrets, sealer);
    const read = secretReader(find);
    expect(await read(acme, 'llm', 'https://a.example')).toBe('value');
    await expect(read(acme, 'llm', 'https://b.example')).rejects.toMatchObject({ code: 'SECRET_UNUSABLE' });
    await expect(read(acme, 'none', 'https://a.example')).rejects.toMatchObject({ code: 'SECRET_UNUSABLE' });
    expect(await find(acme, 'none', 'https://a.example')).toBeNull();
    await expect(find(acme, 'llm', 'https://b.example')).rejects.toMatchObject({ code: 'SECRET_UNUSABLE' });
  });
});

describe('several keys', () => {
  const both = sealerWith(keyOf('nine', 9), keyOf('eight', 8));

  it('S3 open what each of them has sealed, also as earlier releases wrote it', () => {
    const before = sealer.seal(owner, 'of before');
    expect(before.startsWith('v1.')).toBe(true);
    expect(both.open(owner, before)).toBe('of before');
    const now = both.seal(owner, 'of now');
    expect(now.startsWith('v2.eight.')).toBe(true);
    expect(both.open(owner, now)).toBe('of now');
    expect([both.isInUse(before), both.isInUse(now)]).toEqual([false, true]);
    const after = sealerWith(keyOf('eight', 8));
    expect(after.open(owner, now)).toBe('of now');
    expect(after.open(owner, after.seal(owner, 'alone'))).toBe('alone');
    expect(() => after.open(owner, before)).toThrow(/authenticate/);
    expect(() => sealer.open(owner, now)).toThrow('a master key that is not configured');
  });

  it('S1 S3 open nothing of another owner, and nothing whose key was exchanged for another', () => {
    const now = both.seal(owner, 'of now');
    expect(() => both.open({ ...owner, tenant: tenantId('other') }, now)).toThrow(/authenticate/);
    expect(() => both.open(owner, now.replace('eight', 'nine'))).toThrow(/authenticate/);
    expect(() => both.open({ ...owner, name: 'other' }, sealer.seal(owner, 'of before'))).toThrow(/authenticate/);
  });
});
