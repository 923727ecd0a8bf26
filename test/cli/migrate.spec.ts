// `dormouse migrate`, as users and scripts run it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, scriptedAgent } from '../e2e/conversation.ts';
import { type DrivenToolServer, driveToolServer } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type CliRun, connectionFlags, runCli } from './cli-process.ts';

let at: Standalone;
const servers: DrivenToolServer[] = [];
beforeAll(async () => {
  at = await startStandalone({ args: ['--no-example-tools'] });
});
afterAll(async () => {
  await cleanUp();
  await Promise.all(servers.map((server) => server.close()));
});

const migrate = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), 'migrate', ...args]);

async function server(): Promise<DrivenToolServer> {
  const started = await driveToolServer(at, { needsMigration: true });
  servers.push(started);
  return started;
}

async function idleThread(...used: readonly DrivenToolServer[]): Promise<string> {
  const tool_servers = used.map(({ name }) => name);
  const thread = await openThread(at, await scriptedAgent(at, [[{ text: 'ready' }]], { tool_servers }));
  await say(at, thread, 'hello');
  return thread;
}

describe('migrate', () => {
  it('shows how far it is, moves the tool servers of a thread, and says who was told', async () => {
    const [from, to] = [await server(), await server()];
    const run = await migrate(await idleThread(from), `${from.name}=${to.url}`);
    expect(run, run.stderr).toMatchObject({ code: 0, stdout: `moved; told to migrate: ${from.name}\n` });
    expect(run.stderr).toMatch(/waiting for the tool servers[^]*the thread has stopped/);
    expect(from.others('/migrate').map(({ body }) => body.destination_url)).toEqual([to.url]);
  });

  it('ends with 1 when nothing was moved, with 5 when it is refused, with 2 when it is not understood', async () => {
    const [from, gone] = [await server(), await server()];
    await gone.close();
    const thread = await idleThread(from);
    const stayed = await migrate(thread, `${from.name}=${gone.url}`);
    expect(stayed).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing was moved: .*destination/) });
    expect(stayed.stderr).toContain('goes on with its tool servers where they were');
    expect(from.others('/migrate')).toEqual([]);
    const refused = await migrate(thread, `nobody=${from.url}`);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('INVALID_BODY') });
    expect(await migrate(thread, 'nonsense')).toMatchObject({ code: 2 });
    expect(await say(at, thread, 'still there?')).toMatchObject({ status: 'idle' });
  });

  it('R103 moves none when one refuses: who had handed over before is asked back', async () => {
    const [willing, unwilling, there] = [await server(), await server(), await server()];
    unwilling.failAt('/migrate');
    const thread = await idleThread(willing, unwilling);
    const run = await migrate(thread, `${willing.name}=${there.url}`, `${unwilling.name}=${there.url}`);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain(`${unwilling.name}: refused to migrate: HTTP 500`);
    expect(run.stderr).toContain('goes on with its tool servers where they were');
    expect(there.others('/migrate').map(({ body }) => body.destination_url)).toEqual([willing.url]);
    const ended = (await eventsOf(at, thread)).find(({ type }) => type === 'migration_ended');
    expect(ended).toMatchObject({ ok: false, migrated: [] });
    expect(await say(at, thread, 'still there?')).toMatchObject({ status: 'idle' });
  });

  it('R103 names the server that does not come back', async () => {
    const [willing, unwilling, there] = [await server(), await server(), await server()];
    for (const one of [unwilling, there]) one.failAt('/migrate');
    const thread = await idleThread(willing, unwilling);
    const run = await migrate(thread, `${willing.name}=${there.url}`, `${unwilling.name}=${there.url}`);
    expect(run.stderr).toContain(
      `${willing.name}: has handed over to ${there.url}, and that refused to migrate: HTTP 500`,
    );
    expect(run.stderr).toContain(`look after ${willing.name}: it has handed over`);
    expect([willing, unwilling, there].map((each) => each.others('/migrate').length)).toEqual([1, 1, 1]);
    const ended = (await eventsOf(at, thread)).find(({ type }) => type === 'migration_ended');
    expect(ended).toMatchObject({ ok: false, migrated: [willing.name] });
  });
});
