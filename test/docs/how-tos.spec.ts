// The commands of how-tos that operators follow, pasted into a shell before real processes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { readDocument, root } from './document.ts';
import { stepsOf, walk } from './walk-through.ts';

const cli = `'${process.execPath}' '${join(root, 'apps', 'cli', 'bin', 'dormouse.mjs')}'`;
const quoted = (text: string): string => `'${text}'`;
afterAll(cleanUp);

describe('rotate each key', () => {
  it('prints what it shows', async () => {
    const folder = await scratchDirectory();
    let at = await startStandalone({ dataDir: join(folder, '.dormouse') });
    const operator = createServer((_, response) => {
      const restart = async (): Promise<void> => {
        await at.stop();
        at = await startStandalone({ dataDir: at.dataDir, port: at.port });
      };
      restart().then(
        () => response.writeHead(204).end(),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve) => operator.listen(0, '127.0.0.1', resolve));
    const { port } = operator.address() as AddressInfo;
    const walked = await walk(stepsOf(readDocument('docs/how-to/rotate-each-key.md')), folder, {
      ': restart the process': `curl -sS http://127.0.0.1:${port}`,
      'npx @dormouse/cli': `DORMOUSE_URL=${at.url} ${cli}`,
      '"$CRM"': quoted(`http://127.0.0.1:${port}/hook`),
      '"$NEW_SECRET"': quoted('another-secret'),
    });
    operator.close();
    expect(walked.surprises).toEqual([]);
    expect(await at.stop()).toBe(0);
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
