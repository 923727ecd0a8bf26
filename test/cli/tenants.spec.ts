// `dormouse tenants` and `dormouse keys`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type CliRun, connectionFlags, runCli } from './cli-process.ts';

const platformKey = 'platform-key-of-the-specs';
let at: Standalone;
beforeAll(async () => {
  at = await startStandalone({ env: { DORMOUSE_PLATFORM_KEY: platformKey } });
});
afterAll(cleanUp);

const cli = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), ...args]);
const tenants = (...args: readonly string[]): Promise<CliRun> => cli('tenants', ...args, '--platform-key', platformKey);

describe('dormouse tenants', () => {
  it('makes a tenant, whose key alone is on stdout, and shows, changes, suspends, resumes and deletes it', async () => {
    const made = await tenants('create', 'acme', '--name', 'Acme, Inc.', '--quota', 'requests_per_s=50');
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^dmk_[0-9a-f]{64}\n$/) });
    const key = made.stdout.trim();
    expect((await tenants('list')).stdout).toMatch(/^acme +active +1 +Acme, Inc\.$/m);
    expect((await tenants('show', 'acme')).stdout).toMatch(/^requests_per_s +50$/m);
    expect(await tenants('set', 'acme', '--quota', 'threads_max=7', 'requests_per_s=default')).toMatchObject({
      code: 0,
    });
    expect((await tenants('show', 'acme', '--json')).stdout).toContain('"threads_max":7');
    expect((await tenants('suspend', 'acme')).stdout).toBe('acme is suspended\n');
    expect(await runCli(['--url', at.url, '--key', key, 'agents'])).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/suspended[^]*dormouse\/cli tenants resume TENANT/),
    });
    expect((await tenants('resume', 'acme')).stdout).toBe('acme is active\n');
    expect(await tenants('delete', 'acme')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect((await tenants('delete', 'acme', '--yes')).stdout).toContain('is being erased');
  });

  it('says which key it needs', async () => {
    const refused = await cli('tenants', 'list');
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('DORMOUSE_PLATFORM_KEY, the same where the runtime starts');
    const unknown = await cli('tenants', 'list', '--platform-key', 'another-platform-key');
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('DORMOUSE_PLATFORM_KEY')]);
    const pasted = await cli('tenants', 'list', '--platform-key', '…');
    expect([pasted.code, pasted.stderr]).toEqual([4, expect.stringContaining('characters that no key has')]);
    expect(await tenants('create', 'x', '--quota', 'many')).toMatchObject({ code: 2 });
  });
});

describe('dormouse keys', () => {
  it('makes, lists, rerolls and revokes keys', async () => {
    const made = await cli('keys', 'create', 'ci', '--scope', 'read', '--agent', 'assistant', '--expires', '90d');
    expect(made.stdout).toMatch(/^dmk_[0-9a-f]{64}\n$/);
    const listed = (await cli('keys', 'list', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { id } = listed.find(({ name }) => name === 'ci');
    expect((await cli('keys')).stdout).toMatch(
      new RegExp(`^${id} +ci +${made.stdout.slice(0, 12)} +read +assistant`, 'm'),
    );
    const rerolled = await cli('keys', 'reroll', id, '--overlap', '1h', '--json');
    expect(JSON.parse(rerolled.stdout).key).toMatch(/^dmk_/);
    expect((await cli('keys', 'revoke', id)).stdout).toBe(`${id} is revoked\n`);
    expect(await runCli(['--url', at.url, '--key', made.stdout.trim(), 'agents'])).toMatchObject({ code: 4 });
    expect(await cli('keys', 'create', 'x', '--scope', 'all')).toMatchObject({ code: 2 });
  });

  it('says which list has what was not found', async () => {
    const next = async (...args: readonly string[]): Promise<string | undefined> =>
      /What there is: npx @dormouse\/cli (\S+)/.exec((await cli(...args)).stderr)?.[1];
    expect(await next('keys', 'revoke', 'key_0')).toBe('keys');
    expect(await next('webhooks', 'test', 'whk_0')).toBe('webhooks');
    expect(await next('tools', 'pause', 'no-such')).toBe('tools');
    expect(await next('inbox', 'allow', 'chc_0')).toBe('inbox');
    expect(await next('why', 'thr_0')).toBe('threads');
  });
});
