import { describe, expect, it } from 'vitest';
import { createSealer, secretFinder, secretReader } from './sealer.ts';

const sealer = createSealer(new Uint8Array(32).fill(9));
const owner = { tenant: 'acme', name: 'llm' };

describe('sealed secrets', () => {
  it('open for their owner, and never look alike', () => {
    const [one, two] = [sealer.seal(owner, 'value'), sealer.seal(owner, 'value')];
    expect(one).not.toBe(two);
    expect(one).not.toContain('value');
    expect(sealer.open(owner, one)).toBe('value');
  });

  it('do not open for another tenant, another name, another key, or when changed', () => {
    const sealed = sealer.seal(owner, 'value');
    const other = createSealer(new Uint8Array(32).fill(8));
    const changed = `${sealed.slice(0, 20)}${sealed[20] === 'A' ? 'B' : 'A'}${sealed.slice(21)}`;
    expect(() => sealer.open({ ...owner, tenant: 'other' }, sealed)).toThrow(/authenticate/);
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
      remove: none,
    };
    const find = secretFinder(secrets, sealer);
    const read = secretReader(find);
    expect(await read('acme', 'llm', 'https://a.example')).toBe('value');
    await expect(read('acme', 'llm', 'https://b.example')).rejects.toMatchObject({ code: 'SECRET_UNUSABLE' });
    await expect(read('acme', 'none', 'https://a.example')).rejects.toMatchObject({ code: 'SECRET_UNUSABLE' });
    expect(await find('acme', 'none', 'https://a.example')).toBeNull();
    await expect(find('acme', 'llm', 'https://b.example')).rejects.toMatchObject({ code: 'SECRET_UNUSABLE' });
  });
});
