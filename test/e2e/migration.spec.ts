// Moving a thread's tool servers to other addresses: the protocol's order, all or nothing.
import { defineTool, serve, type ToolServer } from '@dormouse/tool-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  eventsOf,
  eventually,
  openThread,
  say,
  scriptedAgent,
  type System,
  untilEvent,
  untilStatus,
} from './conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from './driven-tool-server.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
const started: DrivenToolServer[] = [];
beforeAll(async () => {
  at = await startSystem();
});
afterAll(async () => {
  await Promise.all(started.map((server) => server.close()));
  await endSystems();
});

async function serverWith(manifest: object): Promise<DrivenToolServer> {
  const server = await driveToolServer(at, manifest);
  started.push(server);
  return server;
}

const twoTurns = [[{ text: 'ready' }], [toolCall('work')], [{ text: 'done' }]];

async function idleThread(tools: DrivenToolServer): Promise<string> {
  const thread = await openThread(at, await scriptedAgent(at, twoTurns, { tool_servers: [tools.name] }));
  await say(at, thread, 'hello');
  return thread;
}

const migrate = (thread: string, servers: Record<string, string>) =>
  at.request('POST', `/v1/threads/${thread}/migration`, { tool_servers: servers });

describe('migration', () => {
  it('R101 R102 a server that needs it is told once, at its old address; then calls go to the new one', async () => {
    const old = await serverWith({ needsMigration: true });
    const destination = await serverWith({ needsMigration: true });
    const thread = await idleThread(old);
    expect((await migrate(thread, { [old.name]: destination.url })).status).toBe(202);
    const ended = await untilEvent(at, thread, 'migration_ended');
    expect(ended).toMatchObject({ ok: true, migrated: [old.name], problems: [] });
    expect(old.others('/migrate').map(({ body }) => body)).toEqual([
      { session_id: thread, destination_url: destination.url },
    ]);
    expect(destination.others('/migrate')).toEqual([]);
    await untilStatus(at, thread, 'idle');
    const turn = say(at, thread, 'work now');
    const call = await destination.invocation(0);
    await destination.send(call, { type: 'tool_result', text: 'moved' });
    expect(await turn).toMatchObject({ message: { text: 'done' } });
    expect(old.requests.filter(({ path }) => path === '/invoke')).toEqual([]);
    const types = (await eventsOf(at, thread)).map(({ type }) => type);
    expect(types.indexOf('migration_started')).toBeLessThan(types.indexOf('migration_ended'));
  });

  it('R101 a server that does not need it is not told', async () => {
    const old = await serverWith({});
    const destination = await serverWith({});
    const thread = await idleThread(old);
    await migrate(thread, { [old.name]: destination.url });
    expect(await untilEvent(at, thread, 'migration_ended')).toMatchObject({ ok: true, migrated: [] });
    expect(old.others('/migrate')).toEqual([]);
  });

  const destinations: Readonly<Record<string, (old: DrivenToolServer) => Promise<string>>> = {
    'the destination is not there': () => Promise.resolve('http://127.0.0.1:9'),
    'the server answers 500': async (old) => {
      old.failAt('/migrate');
      return (await serverWith({})).url;
    },
  };

  it.each(Object.keys(destinations))('R103 %s: nothing moves, the thread goes on where it was', async (why) => {
    const old = await serverWith({ needsMigration: true });
    const thread = await idleThread(old);
    const destination = await destinations[why]?.(old);
    await migrate(thread, { [old.name]: destination ?? '' });
    const ended = await untilEvent(at, thread, 'migration_ended');
    expect(ended.ok).toBe(false);
    expect(ended.problems).toHaveLength(1);
    const turn = say(at, thread, 'work now');
    await old.send(await old.invocation(0), { type: 'tool_result', text: 'still here' });
    expect(await turn).toMatchObject({ message: { text: 'done' } });
  });

  it('is for operators: a key that writes to threads may not ask for it', async () => {
    const thread = await idleThread(await serverWith({}));
    const made = await at.request('POST', '/v1/api-keys', { name: 'writer', scopes: ['read', 'threads:write'] });
    const path = `/v1/threads/${thread}/migration`;
    const answer = await at.request(
      'POST',
      path,
      { tool_servers: { any: 'http://127.0.0.1:9' } },
      { key: made.json.key },
    );
    expect([answer.status, answer.json.code]).toEqual([403, 'FORBIDDEN']);
    const types = (await eventsOf(at, thread)).map(({ type }) => type);
    expect(types).not.toContain('request_refused');
    expect(types).not.toContain('migration_started');
  });

  it('is refused, and recorded, for servers that the thread does not use and while something runs', async () => {
    const old = await serverWith({});
    const thread = await openThread(at, await scriptedAgent(at, [[toolCall('work')]], { tool_servers: [old.name] }));
    await migrate(thread, { nobody: 'http://127.0.0.1:9' });
    expect(await untilEvent(at, thread, 'request_refused')).toMatchObject({
      request: 'migration',
      code: 'INVALID_BODY',
    });
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    await old.invocation(0);
    await migrate(thread, { [old.name]: 'http://127.0.0.1:9' });
    const refused = async () => (await eventsOf(at, thread)).filter(({ type }) => type === 'request_refused');
    await eventually(async () => (await refused()).length > 0); // accepted is not yet decided
    await untilStatus(at, thread, 'waiting');
    expect((await refused()).at(-1)).toMatchObject({ code: 'CALLS_PENDING' });
    expect((await migrate(thread, {})).status).toBe(422);
  });
});

describe('two servers of the SDK', () => {
  const servers: ToolServer[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  const watch = defineTool(
    { name: 'watch', description: 'Watches.', input: z.strictObject({}) },
    async (_, context) => void (await context.subscribe()),
  );

  async function watching(): Promise<ToolServer> {
    const handoverKey = new Uint8Array(32).fill(9);
    const server = await serve({ name: 'watchers', tools: [watch], handoverKey, log: () => undefined });
    servers.push(server);
    return server;
  }

  it('R101 T45 hand a subscription over: the thread hears of events from its new place, and cancels it there', async () => {
    const [from, to] = [await watching(), await watching()];
    const name = `watchers-${process.pid}`;
    expect((await at.request('POST', '/v1/tool-servers', { name, base_url: from.url })).status).toBe(201);
    const script = [[toolCall('watch')], [{ text: 'I watch.' }], [{ text: 'It came.' }]];
    const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [name] }));
    await say(at, thread, 'watch');
    expect((await migrate(thread, { [name]: to.url })).status).toBe(202);
    expect(await untilEvent(at, thread, 'migration_ended')).toMatchObject({ ok: true, migrated: [name] });
    expect(from.subscriptions()).toEqual([]);
    const [subscription] = to.subscriptions('watch');
    expect(subscription?.emit('somebody is there', { associative: true })).toBe('emitted');
    expect(await untilEvent(at, thread, 'subscription_event_received')).toMatchObject({ text: 'somebody is there' });
    await untilStatus(at, thread, 'idle');
    await at.request('POST', `/v1/threads/${thread}/subscriptions/${subscription?.callId}/cancel`);
    await expect.poll(() => to.subscriptions()).toEqual([]);
  });
});
