// A process whose master keys are wrapped by a key management: its start, its life without it, and its end.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { eventually } from '../e2e/conversation.ts';
import {
  cleanUp,
  scratchDirectory,
  spawnStandalone,
  type Standalone,
  startStandalone,
} from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { startVault, type VaultServer } from './vault-server.ts';

const token = 's.canary-token';
let vault: VaultServer;
let [directory, tokenFile] = ['', ''];
const plain = /^[0-9a-f]{64}/m;

const settings = (more: Readonly<Record<string, string>> = {}) => ({
  ...{ DORMOUSE_VAULT_URL: vault.url, DORMOUSE_VAULT_TOKEN_FILE: tokenFile, ...more },
});
const keyFile = (): Promise<string> => readFile(join(directory, 'master-key'), 'utf8');
const start = (more: Readonly<Record<string, string>> = {}): Promise<Standalone> =>
  startStandalone({ dataDir: directory, args: ['--no-example-tools'], env: settings(more) });

/** Of a process that does not start. */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  const port = String(await freePort());
  const { exit, output } = spawnStandalone(['--data', directory, '--port', port, '--no-example-tools'], env);
  expect(await exit).toBe(1);
  return output();
}

const source = { name: 'code', kind: 'github', secret: 'tools', agent: 'quiet', key: '/id', message: 'pushed' };
/** Of a source, which is stored sealed and shown by opening it. */
const urlOf = async (at: Standalone): Promise<string> => (await at.request('POST', '/v1/sources', source)).json.url;
let url = '';
const pathOf = (address: string): string => new URL(address).pathname;

beforeAll(async () => {
  vault = await startVault(token);
  directory = join(await scratchDirectory(), 'data');
  await mkdir(directory);
  tokenFile = join(directory, '..', 'token');
  await writeFile(tokenFile, token);
});
afterEach(() => {
  vault.behave('open');
  vault.setToken(token);
});
afterAll(async () => {
  await vault.close();
  await cleanUp();
});

// One story, in this order.
describe('master keys that a key management has wrapped', () => {
  it('O2 are wrapped at the start, also one that was in the clear', async () => {
    const before = await startStandalone({ dataDir: directory, args: ['--no-example-tools'] });
    const canary = { value: 'canary-secret', origins: ['https://a.example'] };
    await before.request('PUT', '/v1/secrets/tools', canary);
    await before.request('POST', '/v1/agents', { name: 'quiet', model: { provider: 'demo' } });
    url = await urlOf(before);
    expect(url).toContain('/hooks/code/');
    await before.stop();
    expect(await keyFile()).toMatch(plain);
    const at = await start();
    expect(await keyFile()).toMatch(/^vault:v1:\S+\n$/);
    expect(pathOf(await urlOf(at))).toBe(pathOf(url));
    await at.stop();
  });

  it('O3 are not used when the key management refuses, and the sentence says what to do', async () => {
    vault.setToken('another');
    const output = await refusal(settings());
    expect(output).toContain('KMS_REFUSED: The key management at');
    expect(output).toContain('the token is not good, or its policy does not allow it');
    expect(output).not.toContain(token);
  });

  it('O3 are not used when it is away', async () => {
    vault.behave('sealed');
    expect(await refusal(settings())).toContain('UNAVAILABLE: The key management at');
  });

  it('O3 are not used without one, and the sentence names the setting', async () => {
    const output = await refusal({});
    expect(output).toContain('KMS_REFUSED: The file');
    expect(output).toContain('DORMOUSE_VAULT_URL');
  });

  it('H1 are used on by a process that has them, whatever becomes of it', async () => {
    const at = await start();
    vault.behave('sealed');
    expect(pathOf(await urlOf(at))).toBe(pathOf(url));
    expect((await at.request('GET', '/readyz', undefined, { key: null })).status).toBe(200);
    expect(await at.stop()).toBe(0);
  });

  it('H2 are given up after the time, and the process ends with the reason', async () => {
    const at = await start({ DORMOUSE_MASTER_KEY_HELD_MS: '6000' });
    await eventually(async () => vault.unwrapped() > 3);
    vault.behave('silent');
    const code = await new Promise((resolve) => at.process.once('close', resolve));
    expect(code).toBe(1);
    expect(at.output()).toContain('KMS_REFUSED: the key management has not confirmed the master keys for 6 s');
  });

  it('are rotated like others: a new key is added in the clear, and wrapped at the next start', async () => {
    expect((await runCli(['keys', 'new-master', '--in', '0s', '--into', directory])).code).toBe(0);
    expect(await keyFile()).toMatch(plain);
    const at = await start();
    expect((await keyFile()).trim().split('\n')).toEqual([
      expect.stringMatching(/^vault:v1:\S+@\d{4}-\S+Z$/),
      expect.stringMatching(/^vault:v1:[^@]+$/),
    ]);
    const rotated = await runCli(['keys', 'rotate-master', '--url', at.url, '--data', directory, '--json']);
    expect(JSON.parse(rotated.stdout)).toMatchObject({ done: true, resealed: 2 });
    await at.stop();
  });
});
