// The transit engine of Vault as key management: the contract, and what each fault of the service is to a process.
import { createVaultTransit } from '@dormouse/adapter-http';
import { keyManagementContract } from '@dormouse/ports/contracts';
import { rm, writeFile } from 'node:fs/promises';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startVault, vaultKey, type VaultServer } from './vault-server.ts';

const token = 's.canary-token';
const directory = mkdtempSync(join(tmpdir(), 'dormouse-vault-'));
const tokenFile = join(directory, 'token');
const opened: { close(): Promise<void> }[] = [];
let vault: VaultServer;

function transit(options: { readonly key?: string; readonly url?: string } = {}) {
  const kms = createVaultTransit({
    ...{ url: vault.url, key: vaultKey, tokenFile, authorities: undefined, timeoutMs: 500, ...options },
  });
  opened.push(kms);
  return kms;
}

beforeAll(async () => {
  vault = await startVault(token);
  await writeFile(tokenFile, `${token}\n`);
});
afterEach(async () => {
  vault.behave('open');
  vault.setToken(token);
  await writeFile(tokenFile, `${token}\n`);
  for (const kms of opened.splice(0)) await kms.close();
});
afterAll(async () => {
  await vault.close();
  await rm(directory, { recursive: true });
});

keyManagementContract('transit of Vault', async () => ({ one: transit(), another: transit() }));

const key = new Uint8Array(32).fill(7);
const faultOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((thrown: unknown) => thrown);

describe('transit of Vault', () => {
  it.each(['sealed', 'silent', 'redirecting'] as const)('V2 V3 is away when it is %s', async (as) => {
    const kms = transit();
    const wrapped = await kms.wrap(key);
    vault.behave(as);
    const fault = await faultOf(kms.unwrap(wrapped));
    expect(fault).toMatchObject({ code: 'UNAVAILABLE' });
    expect(String(fault)).toContain(vault.url);
    vault.behave('open');
    expect(await kms.unwrap(wrapped)).toEqual(key);
  });

  it('V3 is away where nothing listens', async () => {
    const kms = transit({ url: 'http://127.0.0.1:9' });
    expect(await faultOf(kms.wrap(key))).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it.each([
    ['a token that is not good', 'its policy', async () => vault.setToken('another'), {}],
    ['a mount that is not there', 'nothing is mounted', async () => undefined, { key: 'other/dormouse' }],
    ['an empty token file', 'DORMOUSE_VAULT_TOKEN_FILE', () => writeFile(tokenFile, '\n'), {}],
    ['no token file', 'DORMOUSE_VAULT_TOKEN_FILE', () => rm(tokenFile), {}],
  ])('V3 V4 refuses for %s', async (_, words, meanwhile, options) => {
    await meanwhile();
    const fault = await faultOf(transit(options).wrap(key));
    expect(fault).toMatchObject({ code: 'KMS_REFUSED' });
    expect(String(fault)).toContain(words);
    expect(String(fault)).not.toContain(token);
  });

  it('V1 takes a renewed token from its file', async () => {
    const kms = transit();
    const wrapped = await kms.wrap(key);
    vault.setToken('renewed');
    expect(await faultOf(kms.unwrap(wrapped))).toMatchObject({ code: 'KMS_REFUSED' });
    await writeFile(tokenFile, 'renewed');
    expect(await kms.unwrap(wrapped)).toEqual(key);
  });

  it('refuses what was altered', async () => {
    const kms = transit();
    const wrapped = await kms.wrap(key);
    const altered = wrapped.replace(/.(?=.{10}$)/, (letter) => (letter === 'A' ? 'B' : 'A'));
    expect(await faultOf(kms.unwrap(altered))).toMatchObject({ code: 'KMS_REFUSED' });
  });
});
