// The commands of how-tos that operators follow, pasted into a shell before real processes.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { connectionFlags, runCli } from '../cli/cli-process.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { readDocument, root } from './document.ts';
import { stepsOf, walk } from './walk-through.ts';

const cli = `'${process.execPath}' '${join(root, 'apps', 'cli', 'bin', 'dormouse.mjs')}'`;
const quoted = (text: string): string => `'${text}'`;
afterAll(cleanUp);

const how = (page: string) => stepsOf(readDocument(`docs/${page}.md`));

/** Does what a page asks of a person, whenever the walk sends a request to `url`. */
async function personWho(acts: () => Promise<void>): Promise<{ readonly url: string; readonly leave: () => void }> {
  const server = createServer((_, response) => {
    acts().then(
      () => response.writeHead(204).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, leave: () => server.close() };
}

describe('rotate each key', () => {
  it('prints what it shows', async () => {
    const folder = await scratchDirectory();
    let at = await startStandalone({ dataDir: join(folder, '.dormouse') });
    const operator = await personWho(async () => {
      await at.stop();
      at = await startStandalone({ dataDir: at.dataDir, port: at.port });
    });
    const walked = await walk(how('how-to/rotate-each-key'), folder, {
      ': restart the process': `curl -sS ${operator.url}`,
      'npx @dormouse/cli': `DORMOUSE_URL=${at.url} ${cli}`,
      '"$CRM"': quoted(`${operator.url}/hook`),
      '"$NEW_SECRET"': quoted('another-secret'),
    });
    operator.leave();
    expect(walked.surprises).toEqual([]);
    expect(await at.stop()).toBe(0);
  });
});

describe('create and suspend a tenant', () => {
  it('prints what it shows, and leaves the key to its owner alone', async () => {
    const folder = await scratchDirectory();
    await writeFile(join(folder, 'platform.key'), 'platform-key-of-the-walk\n');
    const at = await startStandalone({
      dataDir: join(folder, '.dormouse'),
      args: ['--no-example-tools'],
      env: { DORMOUSE_PLATFORM_KEY: 'platform-key-of-the-walk' },
    });
    const walked = await walk(how('how-to/create-and-suspend-a-tenant'), folder, {
      'npx @dormouse/cli': `DORMOUSE_URL=${at.url} ${cli}`,
    });
    expect(walked.surprises).toEqual([]);
    expect((await stat(join(folder, 'acme.key'))).mode & 0o777).toBe(0o600);
    await at.stop();
  });
});

describe('erase a user', () => {
  it('hands over a certificate that verifies, and a restored backup has lost the user again', async () => {
    const folder = await scratchDirectory();
    const args = ['--no-example-tools'];
    let at = await startStandalone({ dataDir: join(folder, '.dormouse'), args });
    const agent = await scriptedAgent(at, [[{ text: 'noted' }]], { tool_servers: [] });
    const thread = await openThread(at, agent, { user_id: 'user-7', message: { text: 'my name is Zanzibar' } });
    await untilStatus(at, thread, 'idle');
    const told = async (): Promise<string> => JSON.stringify(await eventsOf(at, thread));
    const backup = join(folder, 'monday');
    expect(await runCli([...connectionFlags(at), 'backup', backup])).toMatchObject({ code: 0 });
    let restored = '';
    const operator = await personWho(async () => {
      expect(await told()).not.toContain('Zanzibar');
      await at.stop();
      at = await startStandalone({ dataDir: backup, port: at.port, args });
      restored = await told();
    });
    const walked = await walk(how('how-to/erase-a-user'), folder, {
      ': restore the backup': `curl -sS ${operator.url}`,
      'npx @dormouse/cli': `DORMOUSE_URL=${at.url} ${cli}`,
    });
    operator.leave();
    expect(walked.surprises).toEqual([]);
    expect(restored).toContain('Zanzibar');
    expect(await told()).not.toContain('Zanzibar');
    await at.stop();
  });
});

describe('webhooks', () => {
  it('shows a test delivery, sends it again and changes the secret', async () => {
    const folder = await scratchDirectory();
    const at = await startStandalone({ dataDir: join(folder, '.dormouse'), args: ['--no-example-tools'] });
    const receiver = await personWho(() => Promise.resolve());
    const made = await at.request('POST', '/v1/webhooks', { url: receiver.url, events: ['thread.idle'] });
    await writeFile(join(folder, 'webhook.secret'), made.json.secret);
    const walked = await walk(how('guides/webhooks'), folder, {
      'npx @dormouse/cli': `DORMOUSE_URL=${at.url} ${cli}`,
      'http://127.0.0.1:8090/hooks': receiver.url,
    });
    receiver.leave();
    expect(walked.surprises).toEqual([]);
    const secret = (await readFile(join(folder, 'webhook.secret'), 'utf8')).trim();
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(made.json.secret);
    await at.stop();
  });
});

describe('events from outside', () => {
  it('takes a delivery that the page has signed', async () => {
    const folder = await scratchDirectory();
    const at = await startStandalone({ dataDir: join(folder, '.dormouse'), args: ['--no-example-tools'] });
    const walked = await walk(how('guides/inbound-events'), folder, {
      'npx @dormouse/cli': `DORMOUSE_URL=${at.url} ${cli}`,
    });
    expect(walked.surprises).toEqual([]);
    await at.stop();
  });
});

describe('move a tenant', () => {
  it('brings agents, tool servers and threads from one installation to another', async () => {
    const folder = await scratchDirectory();
    const [here, there] = await Promise.all([
      startStandalone({ args: ['--no-example-tools'] }),
      startStandalone({ args: ['--no-example-tools'] }),
    ]);
    const tools = await driveToolServer(here);
    const agent = await scriptedAgent(here, [[toolCall('work')], [{ text: 'done' }]], { tool_servers: [tools.name] });
    const quiet = await scriptedAgent(here, [[{ text: 'noted' }]], { tool_servers: [] });
    const waiting = await openThread(here, agent, { message: { text: 'work' } });
    const open = await tools.invocation(0);
    const done = await openThread(here, quiet, { message: { text: 'hello' } });
    await untilStatus(here, done, 'idle');

    const walked = await walk(stepsOf(readDocument('docs/how-to/move-a-tenant.md')), folder, {
      'npx @dormouse/cli': cli,
      '"$HERE"': quoted(here.url),
      '$HERE/': `${here.url}/`,
      '"$HERE_KEY"': quoted(here.key),
      'Bearer $HERE_KEY': `Bearer ${here.key}`,
      '"$THERE"': quoted(there.url),
      '$THERE/': `${there.url}/`,
      '"$THERE_KEY"': quoted(there.key),
      'Bearer $THERE_KEY': `Bearer ${there.key}`,
    });
    expect(walked).toEqual({ surprises: [], stderr: '' });
    const listed = async (at: Standalone, path: string) => (await at.request('GET', path)).json.data;
    const names = async (at: Standalone, path: string): Promise<readonly string[]> =>
      (await listed(at, path)).map(({ name }: { name: string }) => name).toSorted();
    for (const path of ['/v1/agents', '/v1/tool-servers'])
      expect(await names(there, path)).toEqual(await names(here, path));
    // Both, and the fork.
    const threads = (): Promise<readonly { readonly id: string; readonly status: string }[]> =>
      listed(there, '/v1/threads');
    const statuses = async (): Promise<readonly string[]> => (await threads()).map(({ status }) => status).toSorted();
    await expect.poll(statuses).toEqual(['closed', 'closed', 'idle']);
    const moved = await threads();
    const lengths = async (at: Standalone, ids: readonly string[]): Promise<readonly number[]> =>
      (await Promise.all(ids.map(async (id) => (await eventsOf(at, id)).length))).toSorted((one, other) => one - other);
    const closed = moved.filter(({ status }) => status === 'closed').map(({ id }) => id);
    expect(await lengths(there, closed)).toEqual(await lengths(here, [waiting, done]));
    // The call that was open: its address is of the installation of before, and what comes there changes nothing.
    expect(await tools.send(open, { type: 'tool_result', text: 'late' })).toBe(200);
    await tools.close();
    await Promise.all([here.stop(), there.stop()]);
  });
});
