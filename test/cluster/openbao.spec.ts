// The transit adapter against a real OpenBao: the contract, the commands of the how-to, and its refusals.
import { createVaultTransit } from '@dormouse/adapter-http';
import { keyManagementContract } from '@dormouse/ports/contracts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startOpenBao } from '../services/openbao/openbao.ts';
import { serviceCache } from '../services/service-cache.ts';

const rootToken = 'root-of-the-specs';
const directory = mkdtempSync(join(tmpdir(), 'dormouse-openbao-'));
const policy =
  'path "transit/encrypt/dormouse" { capabilities = ["update"] }\n' +
  'path "transit/decrypt/dormouse" { capabilities = ["update"] }';
const opened: { close(): Promise<void> }[] = [];
let bao: Awaited<ReturnType<typeof startOpenBao>>;
let tokenFile = '';

const urlOf = (): string => (bao.available ? bao.service.url : '');

async function asked(method: string, path: string, body?: object, token = rootToken) {
  const answer = await fetch(`${urlOf()}/v1/${path}`, {
    method,
    headers: { 'x-vault-token': token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text === '' ? {} : JSON.parse(text);
}

function tokenIn(name: string, token: string): string {
  const file = join(directory, name);
  writeFileSync(file, `${token}\n`);
  return file;
}

function transit(options: { readonly key?: string; readonly tokenFile?: string } = {}) {
  const kms = createVaultTransit({
    ...{ url: urlOf(), key: 'transit/dormouse', tokenFile, authorities: undefined, ...options },
  });
  opened.push(kms);
  return kms;
}

beforeAll(async () => {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  bao = await startOpenBao({ directory: join(directory, 'server'), cache: serviceCache, rootToken, say });
  if (!bao.available) return;
  await asked('POST', 'sys/mounts/transit', { type: 'transit' });
  await asked('POST', 'transit/keys/dormouse', {});
  await asked('PUT', 'sys/policies/acl/dormouse', { policy });
  const { auth } = await asked('POST', 'auth/token/create', { policies: ['dormouse'] });
  tokenFile = tokenIn('token', auth.client_token);
});
beforeEach((context) => {
  if (!bao.available) context.skip(`${bao.reason} ${bao.remedy}`);
});
afterAll(async () => {
  for (const kms of opened) await kms.close();
  if (bao?.available) await bao.service.stop();
  rmSync(directory, { recursive: true, force: true });
});

keyManagementContract('transit of a real OpenBao', async () => ({ one: transit(), another: transit() }));

const faultOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((thrown: unknown) => thrown);

// In this order: the last one seals the server.
describe('transit of a real OpenBao', () => {
  it('unwraps a key that was made wrapped, one that was encrypted, and both after a rotation and rewrap', async () => {
    const made = (await asked('POST', 'transit/datakey/wrapped/dormouse', { bits: 256 })).data.ciphertext;
    const key = Buffer.alloc(32, 7);
    const plaintext = key.toString('base64');
    const encrypted = (await asked('POST', 'transit/encrypt/dormouse', { plaintext })).data.ciphertext;
    const kms = transit();
    expect(await kms.unwrap(made)).toHaveLength(32);
    expect(await kms.unwrap(encrypted)).toEqual(new Uint8Array(key));
    await asked('POST', 'transit/keys/dormouse/rotate', {});
    const rewrapped = (await asked('POST', 'transit/rewrap/dormouse', { ciphertext: encrypted })).data.ciphertext;
    expect(rewrapped).toMatch(/^vault:v2:/);
    expect(await kms.unwrap(rewrapped)).toEqual(new Uint8Array(key));
    await asked('POST', 'transit/keys/dormouse/config', { min_decryption_version: 2 });
    expect(await faultOf(kms.unwrap(encrypted))).toMatchObject({ code: 'KMS_REFUSED' });
    expect(await kms.unwrap(rewrapped)).toEqual(new Uint8Array(key));
  });

  it('V3 refuses a key that it has not wrapped, a token without the policy, one that is revoked, another mount', async () => {
    const wrapped = await transit().wrap(new Uint8Array(32));
    const altered = wrapped.replace(/.(?=.{10}$)/, (letter) => (letter === 'A' ? 'B' : 'A'));
    const { auth } = await asked('POST', 'auth/token/create', { policies: ['default'] });
    const without = tokenIn('without', auth.client_token);
    const { auth: short } = await asked('POST', 'auth/token/create', { policies: ['dormouse'] });
    const revoked = tokenIn('revoked', short.client_token);
    expect(await transit({ tokenFile: revoked }).unwrap(wrapped)).toHaveLength(32);
    await asked('POST', 'auth/token/revoke', { token: short.client_token });
    const faults = await Promise.all([
      faultOf(transit().unwrap(altered)),
      faultOf(transit({ tokenFile: without }).unwrap(wrapped)),
      faultOf(transit({ tokenFile: revoked }).unwrap(wrapped)),
      faultOf(transit({ key: 'other/dormouse', tokenFile: tokenIn('root', rootToken) }).unwrap(wrapped)),
    ]);
    expect(faults).toEqual(faults.map(() => expect.objectContaining({ code: 'KMS_REFUSED' })));
  });

  it('V3 is away while it is sealed', async () => {
    const wrapped = await transit().wrap(new Uint8Array(32));
    await asked('PUT', 'sys/seal', {});
    expect(await faultOf(transit().unwrap(wrapped))).toMatchObject({ code: 'UNAVAILABLE' });
  });
});
