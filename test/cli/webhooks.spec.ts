// `dormouse webhooks`, with the receiver that the guide shows.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openThread, say } from '../e2e/conversation.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { type CliRun, connectionFlags, runCli } from './cli-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let at: Standalone;
let receiver: ChildProcess | null = null;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(async () => {
  receiver?.kill('SIGKILL');
  await cleanUp();
});

const webhooks = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), 'webhooks', ...args]);

/** The only program of the guide, on another port. */
function receiverOfGuide(port: number): string {
  const guide = readFileSync(join(root, 'docs/guides/webhooks.md'), 'utf8');
  const code = /```js\n(.*?)```/s.exec(guide)?.[1];
  if (code === undefined) throw new Error('the guide has no program');
  return code.replace('8090', String(port));
}

it('makes a webhook whose secret alone is on stdout, and the receiver of the guide verifies what it is sent', async () => {
  const port = await freePort();
  const made = await webhooks('create', `http://127.0.0.1:${port}/hooks`, '--event', 'thread.idle', 'choice.requested');
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_[A-Za-z0-9+/=]{44}\n$/) });
  const id = /whk_\w+/.exec(made.stderr)?.[0] ?? '';
  const directory = await scratchDirectory();
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'webhook.secret'), made.stdout);
  writeFileSync(join(directory, 'receiver.mjs'), receiverOfGuide(port));
  const child = spawn(process.execPath, ['receiver.mjs'], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  receiver = child;
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const thread = await openThread(at);
  await say(at, thread, 'Hello');
  await eventually(async () => output.includes(`thread.idle ${thread} `));
  await eventually(async () =>
    /dlv_\w+ +thread\.idle +delivered +(\S+ +)*204/.test((await webhooks('deliveries', id)).stdout),
  );
});

it('lists, shows, changes, rotates, disables, enables, tests, sends again and deletes', async () => {
  const url = `http://127.0.0.1:${await freePort()}/`; // nothing listens there
  const made = await webhooks('create', url, '--event', 'thread.idle', '--label', 'a=b=c', '--json');
  const { id, filter } = JSON.parse(made.stdout);
  expect(filter).toEqual({ metadata: { a: 'b=c' } });
  expect((await webhooks()).stdout).toMatch(new RegExp(`^${id} +active +${url} +thread.idle`, 'm'));
  expect(await webhooks('set', id, '--agent', 'assistant')).toMatchObject({ code: 0 });
  expect((await webhooks('show', id)).stdout).toMatch(/^filter +\{"agents":\["assistant"\]\}$/m);
  expect((await webhooks('rotate', id)).stdout).toMatch(/^whsec_/);
  const delivery = (await webhooks('test', id)).stdout.trim();
  await eventually(async () => (await webhooks('deliveries', id)).stdout.includes('UNREACHABLE'));
  expect((await webhooks('redeliver', id, delivery)).stdout).toBe(`${delivery} is sent again\n`);
  expect((await webhooks('recover', id, '--since', '24h')).stdout).toContain('deliveries are sent again');
  expect((await webhooks('disable', id)).stdout).toBe(`${id} is disabled\n`);
  expect(await webhooks('test', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('disabled') });
  expect((await webhooks('enable', id)).stdout).toBe(`${id} is active\n`);
  expect((await webhooks('delete', id)).stdout).toBe(`${id} is deleted\n`);
  expect(await webhooks('create', 'https://10.0.0.1/', '--event', 'thread.idle')).toMatchObject({ code: 1 });
  expect(await webhooks('set', id, '--label', 'nothing')).toMatchObject({ code: 2 });
});
