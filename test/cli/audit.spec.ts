// `dormouse audit` beside a real process: lists, exports, and finds what was changed in an export.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { connectionFlags, runCli } from './cli-process.ts';

let at: Standalone;
let directory: string;
beforeAll(async () => {
  at = await startStandalone();
  directory = await scratchDirectory();
  await at.request('PUT', '/v1/secrets/llm_key', { value: 'v', origins: ['https://a.example'] });
});
afterAll(cleanUp);

const audit = (...args: readonly string[]) => runCli(['audit', ...args, ...connectionFlags(at)]);

describe('dormouse audit', () => {
  it('lists the rows, newest first, and by action', async () => {
    const { code, stdout } = await audit('list', '--json', '--action', 'secret.set');
    expect(code).toBe(0);
    expect(JSON.parse(stdout.trim())).toMatchObject({ action: 'secret.set', target: 'llm_key', outcome: 'done' });
    expect((await audit()).stdout).toMatch(/^SEQ +AT .*\n1 .* secret\.set +llm_key /);
    expect((await audit('list', '--action', 'nothing')).stderr).toContain('No row of the audit matches.');
    expect((await audit('list', '--limit', 'x')).code).toBe(2);
  });

  it('exports into a new file, whose chain and signature verify without the runtime', async () => {
    const [file, keys] = [join(directory, 'audit.ndjson'), join(directory, 'keys.json')];
    expect((await audit('export', file)).code).toBe(0);
    expect((await audit('export', file)).stderr).toContain('is there already');
    await writeFile(keys, (await audit('keys')).stdout);
    const offline = (...args: readonly string[]) => runCli(['audit', 'verify', ...args]);
    const unchecked = await offline(file);
    expect([unchecked.code, unchecked.stdout]).toEqual([0, expect.stringContaining('signature was not checked')]);
    const checked = await offline(file, '--keys', keys);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('signature is valid')]);
    expect((await offline(file, '--keys', file)).code).toBe(2);
    const changed = join(directory, 'changed.ndjson');
    await writeFile(changed, (await readFile(file, 'utf8')).replace('llm_key', 'other'));
    const broken = await offline(changed, '--keys', keys);
    expect([broken.code, broken.stdout]).toEqual([5, expect.stringContaining('broken at line 1')]);
  });
});
