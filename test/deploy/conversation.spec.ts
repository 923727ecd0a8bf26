// The check after an install, with a real process: the pod of `helm test` runs the same file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../docs/document.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { patienceMs } from '../patience.ts';
import { freePort } from '../services/free-ports.ts';
import { runCommand } from '../services/run-command.ts';

let at: Standalone | null = null;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(cleanUp);

function running(): Standalone {
  if (at === null) throw new Error('nothing was started');
  return at;
}

function converse(...args: readonly string[]): Promise<string> {
  const file = join(root, 'deploy/docker/conversation.mjs');
  return runCommand(process.execPath, [file, ...args], { withinMs: 120_000 });
}

async function keyFile(key: string): Promise<string> {
  const path = join(await scratchDirectory(), 'key');
  writeFileSync(path, `${key}\n`);
  return path;
}

describe('one conversation', () => {
  it('is had, and its thread is closed', async () => {
    const { url, key } = running();
    expect(await converse('--url', url, '--key-file', await keyFile(key))).toMatch(
      /the agent answered after \d+ ms: ./,
    );
    // The list follows the log after a moment.
    await expect
      .poll(
        async () => {
          const answer = await fetch(`${url}/v1/threads`, { headers: { authorization: `Bearer ${key}` } });
          const { data } = (await answer.json()) as { readonly data: readonly { readonly status: string }[] };
          return data.map(({ status }) => status);
        },
        { timeout: patienceMs },
      )
      .toEqual(['closed']);
  });

  it('may be had again', async () => {
    const { url, key } = running();
    expect(await converse('--url', url, '--key-file', await keyFile(key))).toMatch(/the agent answered/);
  });

  it('is refused for another name than the public one, and says so', async () => {
    const { url, key } = running();
    const refused = converse('--url', url, '--key-file', await keyFile(key), '--host', 'elsewhere.example');
    await expect(refused).rejects.toThrow(/POST \/v1\/agents was answered with 403/);
  });

  it('fails with a wrong key, without one, and where nothing is', async () => {
    const { url } = running();
    const wrong = await keyFile('a-key-that-is-none');
    await expect(converse('--url', url, '--key-file', wrong)).rejects.toThrow(/was answered with 401/);
    await expect(converse('--url', url)).rejects.toThrow(/there is no key/);
    const nowhere = ['--url', `http://127.0.0.1:${await freePort()}`, '--patience', '1'];
    await expect(converse(...nowhere, '--key-file', wrong)).rejects.toThrow(/cannot be reached/);
  });
});
