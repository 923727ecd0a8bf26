// `dormouse sources`, and the schedules of the tenant.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type CliRun, connectionFlags, runCli } from './cli-process.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(cleanUp);

const cli = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), ...args]);

it('makes a source, whose URL alone is on stdout, lists it without its URL, and deletes it', async () => {
  await at.request('PUT', '/v1/secrets/hook', { value: 'a secret' });
  const options = [
    '--kind',
    'github',
    '--secret',
    'hook',
    '--agent',
    'assistant',
    '--thread-key',
    '/id',
    '--message',
    'x',
  ];
  const made = await cli('sources', 'create', 'issues', ...options);
  expect(made).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^http:\/\/[^ ]+\/hooks\/issues\/[\w-]{40,}\n$/),
  });
  expect((await cli('sources', 'create', 'issues', ...options)).stdout).toBe(made.stdout);
  const listed = await cli('sources');
  expect(listed.stdout).toMatch(/^issues +github +assistant +hook +\/id$/m);
  expect(listed.stdout).not.toContain('/hooks/');
  expect(await cli('sources', 'create', 'x', ...options.toSpliced(1, 1, 'gitlab'))).toMatchObject({ code: 2 });
  expect((await cli('sources', 'delete', 'issues')).stdout).toBe('issues is deleted\n');
});

it('makes, lists and deletes a schedule of the tenant', async () => {
  const made = await cli('schedules', 'create', 'standup', '0 9 * * 1-5', 'What is new?', '--agent', 'assistant');
  expect(made.stdout).toMatch(/^standup comes next at .+T09:00:00\.000Z\n$/);
  expect((await cli('schedules')).stdout).toMatch(
    /^standup +0 9 \* \* 1-5 +UTC +assistant .+ never +0 +0 +What is new\?$/m,
  );
  expect((await cli('schedules', 'delete', 'standup')).stdout).toBe('standup is deleted\n');
});
