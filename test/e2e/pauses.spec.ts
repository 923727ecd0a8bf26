// What operators stop: a tool server, an agent, all threads of a filter. Nothing is lost, nothing is sent twice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { eventsOf, eventually, openThread, say, scriptedAgent, type System, untilStatus } from './conversation.ts';
import { driveToolServer, type DrivenToolServer, toolCall } from './driven-tool-server.ts';
import type { Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem({ DORMOUSE_TOOL_RETRY_FIRST_MS: '200' });
});
afterAll(endSystems);

const flagsOf = ({ url, key }: System): readonly string[] => ['--url', url, '--key', key];

/** Longer than a process remembers what is paused, and than a completion runs on. */
const inForceMs = 2_500;
const inForce = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, inForceMs));

const paths = (tools: DrivenToolServer): readonly string[] => tools.requests.map(({ path }) => path);
const waiting = async (thread: string): Promise<string | null> =>
  (await at.request('GET', `/v1/threads/${thread}`)).json.waiting;
const typesOf = async (thread: string): Promise<readonly string[]> =>
  (await eventsOf(at, thread)).map(({ type }: Json) => type);
const audited = async (action: string, target: string): Promise<number> => {
  const { data } = (await at.request('GET', `/v1/audit?action=${action}`)).json;
  return data.filter((row: Json) => row.target === target).length;
};

/** A thread whose agent will call the server's tool once for each word, and then say that it is done. */
async function opened(tools: DrivenToolServer, ...words: readonly string[]): Promise<string> {
  const calls = words.map((what) => [toolCall('work', { what })]);
  const agent = await scriptedAgent(at, [...calls, [{ text: 'Done.' }]], { tool_servers: [tools.name] });
  const thread = await openThread(at, agent);
  await untilStatus(at, thread, 'idle');
  return thread;
}

const go = (thread: string) => at.request('POST', `/v1/threads/${thread}/messages`, { text: 'Go.' });

async function working(tools: DrivenToolServer, ...words: readonly string[]): Promise<string> {
  const thread = await opened(tools, ...words);
  await go(thread);
  return thread;
}

const result = (words: string) => ({ type: 'tool_result', text: words });

describe('a paused tool server', () => {
  it('is sent nothing; its calls wait, each is sent once when it is resumed', async () => {
    const tools = await driveToolServer(at);
    const threads = [await opened(tools, 'one'), await opened(tools, 'two')];
    const paused = await at.request('POST', `/v1/tool-servers/${tools.name}/pause`);
    expect(paused).toMatchObject({ status: 200, json: { paused: true, state: 'paused' } });
    await inForce();
    for (const thread of threads) {
      expect((await go(thread)).status).toBe(202);
      await untilStatus(at, thread, 'waiting');
      await expect
        .poll(() => waiting(thread))
        .toContain(`tool server ${tools.name} is paused, until \`dormouse tools resume ${tools.name}\``);
    }
    await inForce();
    expect(paths(tools)).toEqual([]);
    const { data } = (await at.request('GET', '/v1/tool-servers')).json;
    expect(data.find(({ name }: Json) => name === tools.name)).toMatchObject({ paused: true, state: 'paused' });
    expect((await at.request('PATCH', `/v1/tool-servers/${tools.name}`, { state: 'active' })).json.paused).toBe(false);
    for (const [nth, thread] of threads.entries()) {
      const call = await tools.invocation(nth);
      expect(await tools.send(call, result('ok'))).toBe(200);
      await untilStatus(at, call.group_id, 'idle');
      expect(threads).toContain(thread);
    }
    await inForce();
    expect(paths(tools)).toEqual(['/invoke', '/invoke']);
    const sent = new Set(tools.requests.map(({ body }) => body.arguments.what));
    expect(sent).toEqual(new Set(['one', 'two']));
    expect([await audited('tool_server.paused', tools.name), await audited('tool_server.resumed', tools.name)]).toEqual(
      [1, 1],
    );
    await tools.close();
  });

  it('settles what was sent before, and is not told of what ends meanwhile until it is resumed', async () => {
    const tools = await driveToolServer(at);
    const thread = await working(tools, 'before', 'after');
    const before = await tools.invocation(0);
    await at.request('POST', `/v1/tool-servers/${tools.name}/pause`);
    await inForce();
    expect(await waiting(thread)).not.toContain('paused');
    expect(await tools.send(before, result('ok'))).toBe(200); // taken, and the next call waits
    await expect.poll(() => waiting(thread)).toContain('is paused');
    await at.request('POST', `/v1/threads/${thread}/close`);
    await untilStatus(at, thread, 'closed');
    await inForce();
    expect(paths(tools)).toEqual(['/invoke']);
    await at.request('POST', `/v1/tool-servers/${tools.name}/resume`);
    await expect.poll(() => paths(tools)).toContain('/close_thread');
    await inForce();
    expect(paths(tools).filter((path) => path === '/invoke')).toHaveLength(1); // the withdrawn call never left
    expect(paths(tools).filter((path) => path === '/close_thread')).toHaveLength(1);
    await tools.close();
  });

  it('gives a call that was tried before its whole schedule again', async () => {
    const tools = await driveToolServer(at);
    tools.failAt('/invoke');
    const thread = await working(tools, 'tried');
    await tools.invocation(0);
    await at.request('POST', `/v1/tool-servers/${tools.name}/pause`);
    await inForce();
    const tried = tools.requests.length;
    await expect.poll(() => waiting(thread)).toContain('is paused');
    await inForce();
    expect(tools.requests).toHaveLength(tried);
    tools.failAt('');
    await at.request('POST', `/v1/tool-servers/${tools.name}/resume`);
    const call = await tools.invocation(tried);
    expect(call.id).toBe(tools.requests[0]?.body.id);
    await tools.send(call, result('ok'));
    await untilStatus(at, thread, 'idle');
    await tools.close();
  });

  it('lets new threads have the tools that it had', async () => {
    const tools = await driveToolServer(at);
    const agent = await scriptedAgent(at, [[{ text: 'Hello.' }]], { tool_servers: [tools.name] });
    await untilStatus(at, await openThread(at, agent), 'idle');
    await at.request('POST', `/v1/tool-servers/${tools.name}/pause`);
    await inForce();
    const thread = await untilStatus(at, await openThread(at, agent), 'idle');
    expect(thread.toolsets).toMatchObject([{ tool_server: tools.name, stale: true }]);
    await tools.close();
  });

  it('is paused and resumed from the command line', async () => {
    const tools = await driveToolServer(at);
    const paused = await runCli([...flagsOf(at), 'tools', 'pause', tools.name]);
    expect(paused.stdout).toContain(`${tools.name} is paused; go on with: `);
    const resumed = await runCli([...flagsOf(at), 'tools', 'resume', tools.name, '--json']);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ name: tools.name, state: 'active' });
    await tools.close();
  });
});

const setAgent = (agent: string, state: 'active' | 'paused') => at.request('PATCH', `/v1/agents/${agent}`, { state });

describe('a paused agent', () => {
  it('asks nothing: messages are taken and answered once it goes on, each once', async () => {
    const agent = await scriptedAgent(at, [[{ text: 'First.' }], [{ text: 'Second.' }]], { tool_servers: [] });
    const thread = await openThread(at, agent);
    expect(await say(at, thread, 'One.')).toMatchObject({ message: { text: 'First.' } });
    expect(await setAgent(agent, 'paused')).toMatchObject({ status: 200, json: { name: agent, state: 'paused' } });
    await inForce();
    const taken = await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'Two.' });
    expect(taken.status).toBe(202);
    await expect
      .poll(() => waiting(thread))
      .toContain(`and the model is not asked: agent ${agent} is paused, until \`dormouse agents resume ${agent}\``);
    await inForce();
    expect((await typesOf(thread)).filter((type) => type === 'completion_recorded')).toHaveLength(1);
    const { data } = (await at.request('GET', '/v1/agents?limit=200')).json;
    expect(data.find(({ name }: Json) => name === agent).state).toBe('paused');
    await setAgent(agent, 'active');
    await untilStatus(at, thread, 'idle');
    expect((await typesOf(thread)).filter((type) => type === 'completion_recorded')).toHaveLength(2);
    expect([await audited('agent.paused', agent), await audited('agent.resumed', agent)]).toEqual([1, 1]);
  });

  it('breaks a running completion off, and asks for it again', async () => {
    const agent = await scriptedAgent(at, [[{ text: 'Well, ' }, { wait_ms: 6_000 }, { text: 'that is all.' }]], {
      tool_servers: [],
    });
    const thread = await openThread(at, agent);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'Go.' });
    await untilStatus(at, thread, 'thinking');
    await setAgent(agent, 'paused');
    await expect.poll(() => waiting(thread)).toContain('is paused');
    await new Promise((resolve) => setTimeout(resolve, 7_000)); // it would have ended by now
    expect(await typesOf(thread)).not.toContain('completion_recorded');
    await setAgent(agent, 'active');
    await untilStatus(at, thread, 'idle');
    const events = await eventsOf(at, thread);
    expect(events.filter(({ type }) => type === 'completion_recorded')).toMatchObject([
      { message: { text: 'Well, that is all.' }, interrupted: false },
    ]);
  });

  it('sends no call, takes callbacks, and can be interrupted', async () => {
    const tools = await driveToolServer(at);
    const thread = await working(tools, 'first', 'second');
    const first = await tools.invocation(0);
    const { agent } = (await at.request('GET', `/v1/threads/${thread}`)).json;
    await setAgent(agent.name, 'paused');
    await inForce();
    expect(await tools.send(first, result('ok'))).toBe(200);
    await eventually(async () => (await typesOf(thread)).includes('tool_call_settled'));
    await inForce();
    expect(paths(tools)).toEqual(['/invoke']);
    expect((await at.request('POST', `/v1/threads/${thread}/interrupt`)).status).toBe(202);
    await untilStatus(at, thread, 'idle'); // while it is paused
    await setAgent(agent.name, 'active');
    await inForce();
    expect(paths(tools)).toEqual(['/invoke']);
    await tools.close();
  });

  it('is unknown to others, and says what a state is', async () => {
    expect((await setAgent('no-such-agent', 'paused')).status).toBe(404);
    const agent = await scriptedAgent(at, [[{ text: 'Hello.' }]]);
    for (const body of [{}, { state: 'stopped' }, { state: 'paused', model: {} }])
      expect((await at.request('PATCH', `/v1/agents/${agent}`, body)).status).toBe(422);
    const stale = await at.request(
      'PATCH',
      `/v1/agents/${agent}`,
      { state: 'paused' },
      { headers: { 'if-match': '"x"' } },
    );
    expect([stale.status, stale.json.code]).toEqual([412, 'PRECONDITION_FAILED']);
    const paused = await runCli([...flagsOf(at), 'agents', 'pause', agent]);
    expect(paused.stdout).toContain(`${agent} is paused; go on with: `);
    const listed = await runCli([...flagsOf(at), 'agents', 'list']);
    expect(listed.stdout).toMatch(new RegExp(`^${agent} .* paused`, 'm'));
    const resumed = await runCli([...flagsOf(at), 'agents', 'resume', agent, '--json']);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ name: agent, state: 'active' });
  });
});

const batch = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  at.request('POST', '/v1/threads:batch', body, { headers });

describe('all threads of a filter', () => {
  it('are counted, interrupted and closed; the same request again asks none twice', async () => {
    const slow = await scriptedAgent(at, [[{ wait_ms: 60_000 }, { text: 'Late.' }]], { tool_servers: [] });
    const other = await scriptedAgent(at, [[{ text: 'Hello.' }]], { tool_servers: [] });
    const busy: string[] = [];
    for (let nth = 0; nth < 5; nth += 1) {
      const thread = await openThread(at, slow, { metadata: { lot: nth < 3 ? 'a' : 'b' } });
      await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'Go.' });
      await untilStatus(at, thread, 'thinking');
      busy.push(thread);
    }
    const idle = await openThread(at, other);
    await eventually(
      async () => (await batch({ action: 'interrupt', filter: { agent: slow }, dry_run: true })).json.matched === 5,
    );
    const dry = await batch({ action: 'interrupt', filter: { agent: slow, metadata: { lot: 'a' } }, dry_run: true });
    expect([dry.status, dry.json]).toEqual([202, { matched: 3, next_cursor: null }]);
    expect(await typesOf(busy[0] ?? '')).not.toContain('request_refused');
    const done = await batch({ action: 'interrupt', filter: { agent: slow, metadata: { lot: 'a' } } });
    expect(done.json).toEqual({ matched: 3, next_cursor: null });
    for (const thread of busy.slice(0, 3)) await untilStatus(at, thread, 'idle');
    for (const thread of busy.slice(3))
      expect((await at.request('GET', `/v1/threads/${thread}`)).json.status).toBe('thinking');
    const close = { action: 'close', filter: { agent: slow } };
    const closed = await batch(close, { 'idempotency-key': 'close-them-all' });
    expect(closed.json).toEqual({ matched: 5, next_cursor: null });
    for (const thread of busy) await untilStatus(at, thread, 'closed');
    const again = await batch(close, { 'idempotency-key': 'close-them-all' });
    expect([again.json, again.headers.get('idempotency-replayed')]).toEqual([closed.json, 'true']);
    const left = async (): Promise<number> => (await batch({ ...close, dry_run: true })).json.matched;
    await expect.poll(left).toBe(0); // nothing of them is left to close, once their rows say so
    expect((await at.request('GET', `/v1/threads/${idle}`)).json.status).toBe('idle');
    for (const thread of busy)
      expect((await typesOf(thread)).filter((type) => type === 'thread_closed' || type === 'request_refused')).toEqual([
        'thread_closed',
      ]);
    expect((await at.request('GET', '/v1/audit?action=threads.closed')).json.data.length).toBeGreaterThan(0);
  });

  it.each([
    ['no filter', { action: 'close' }],
    ['no action', { filter: {} }],
    ['another action', { action: 'retry', filter: {} }],
    ['an unknown field', { action: 'close', filter: { colour: 'red' } }],
    ['a status that there is not', { action: 'close', filter: { status: 'dead' } }],
    ['a label that is no text', { action: 'close', filter: { metadata: { a: 1 } } }],
  ])('are not asked by a request with %s', async (_name, body) => {
    expect((await batch(body)).status).toBe(422);
  });

  it('are those of the key: one for some agents reaches no thread of others', async () => {
    const [mine, others] = [await scriptedAgent(at, [[{ text: 'a' }]]), await scriptedAgent(at, [[{ text: 'b' }]])];
    const threads = [await openThread(at, mine), await openThread(at, others)];
    for (const thread of threads) await untilStatus(at, thread, 'idle');
    const made = await at.request('POST', '/v1/api-keys', {
      name: 'mine',
      scopes: ['read', 'threads:write'],
      agents: [mine],
    });
    const key = { key: made.json.key };
    const answer = await at.request('POST', '/v1/threads:batch', { action: 'close', filter: {} }, key);
    expect([answer.status, answer.json.matched]).toEqual([202, 1]);
    await untilStatus(at, threads[0] ?? '', 'closed');
    expect((await at.request('GET', `/v1/threads/${threads[1]}`)).json.status).toBe('idle');
    const reader = await at.request('POST', '/v1/api-keys', { name: 'reader', scopes: ['read'] });
    const refused = await at.request(
      'POST',
      '/v1/threads:batch',
      { action: 'close', filter: {} },
      { key: reader.json.key },
    );
    expect(refused.status).toBe(403);
  });

  it('are counted by the command line, and closed with --yes', async () => {
    const agent = await scriptedAgent(at, [[{ text: 'Hello.' }]]);
    const thread = await openThread(at, agent);
    await untilStatus(at, thread, 'idle');
    const flags = [...flagsOf(at), 'threads', 'batch'];
    const counted = await runCli([...flags, 'close', '--agent', agent]);
    expect(counted.stdout).toContain('1 threads would be closed; do it with --yes');
    const done = await runCli([...flags, 'close', '--agent', agent, '--yes', '--json']);
    expect(JSON.parse(done.stdout)).toEqual({ action: 'close', matched: 1, dry_run: false });
    await untilStatus(at, thread, 'closed');
    expect((await runCli([...flags, 'close', '--yes'])).stderr).toContain('Which threads?');
    expect((await runCli([...flags, 'burn', '--all'])).stderr).toContain('"burn" is no action');
  });
});
