// `dormouse erasures` beside a real process: says how much is meant, hands over a certificate, and checks it offline.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openThread, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { connectionFlags, runCli } from './cli-process.ts';

let at: Standalone;
let directory: string;
beforeAll(async () => {
  at = await startStandalone({ args: ['--no-example-tools'] });
  directory = await scratchDirectory();
  const agent = await scriptedAgent(at, [[{ text: 'noted' }]], { tool_servers: [] });
  const thread = await openThread(at, agent, { user_id: 'user-7', message: { text: 'hello' } });
  await untilStatus(at, thread, 'idle');
});
afterAll(cleanUp);

const erasures = (...args: readonly string[]) => runCli(['erasures', ...args, ...connectionFlags(at)]);

describe('dormouse erasures verify', () => {
  it('says how much is meant before it does anything, also of a user who has nothing', async () => {
    const asked = await erasures('request', '--user', 'user-7');
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('user-7, in 1 thread, would be gone')]);
    expect((await erasures('request', '--user', 'USER_ID')).stderr).toContain('in no thread');
    expect((await erasures()).stderr).toContain('Nothing was erased.');
  });

  it('hands over a certificate, which is checked without the runtime', async () => {
    const asked = await erasures('request', '--user', 'user-7', '--yes', '--json');
    const { id } = JSON.parse(asked.stdout);
    await expect.poll(async () => (await erasures('get', id)).code).toBe(0);
    const inFolder = (name: string): string => join(directory, name);
    const [certificate, keys, changed] = [
      inFolder('certificate.json'),
      inFolder('keys.json'),
      inFolder('changed.json'),
    ];
    await writeFile(certificate, (await erasures('get', id)).stdout);
    await writeFile(keys, (await runCli(['audit', 'keys', ...connectionFlags(at)])).stdout);
    await writeFile(changed, (await readFile(certificate, 'utf8')).replace('"user"', '"family"'));
    const offline = (...args: readonly string[]) => runCli(['erasures', 'verify', ...args]);
    const good = await offline(certificate, '--keys', keys);
    expect([good.code, good.stdout]).toEqual([0, 'The certificate is as it was signed.\n']);
    const broken = await offline(changed, '--keys', keys);
    expect([broken.code, broken.stdout]).toEqual([5, expect.stringContaining('was changed')]);
    expect((await offline(keys, '--keys', keys)).code).toBe(5);
    expect((await offline(join(directory, 'none'), '--keys', keys)).code).toBe(2);
    expect((await offline(certificate, '--keys', certificate)).code).toBe(2);
  });
});
