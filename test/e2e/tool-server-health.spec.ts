// The health of tool servers, as the API, the command line and the metrics say it: asked of a real process, of a server
// that was never called, one that works, one that answers 500, one that is gone, and after a restart.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionFlags, runCli } from '../cli/cli-process.ts';
import { readScrape, valueOf } from '../metrics/prometheus-text.ts';
import { freePort } from '../services/free-ports.ts';
import { openThread, say, scriptedAgent, untilStatus } from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import { cleanUp, type Json, type Standalone, startStandalone } from './standalone-process.ts';

const env = { DORMOUSE_TOOL_RETRY_FIRST_MS: '50' };
let at: Standalone;
beforeAll(async () => {
  at = await startStandalone({ env });
});
afterAll(cleanUp);

const get = async (name: string): Promise<Json> => (await at.request('GET', `/v1/tool-servers/${name}`)).json;
const health = async (name: string): Promise<Json> => (await get(name)).health;
const none = { p50: null, p99: null };
const noErrors = { '5xx': 0, resets: 0, timeouts: 0, '4xx': 0 };
const unknown = {
  ...{ state: 'unknown', discovery_age_s: null, ack_ms: none, callback_ms: none, breaker: 'closed' },
  errors: { '5m': 0, '1h': 0, '24h': 0 },
  errors_by_class: { '5m': noErrors, '1h': noErrors, '24h': noErrors },
  oldest_open_call: null,
};
/** A thread that waits for this many calls of `work` at one server. */
async function calling(toolServer: string, calls = 1): Promise<string> {
  const steps = Array.from({ length: calls }, (_, n) => toolCall('work', { what: String(n) }));
  const agent = await scriptedAgent(at, [steps, [{ text: 'Done.' }]], { tool_servers: [toolServer] });
  const thread = await openThread(at, agent);
  await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'work' });
  await untilStatus(at, thread, 'waiting');
  return thread;
}

describe('the health of a tool server', () => {
  it('is unknown, with nulls, before the first call; lists do not have it; another name is 404', async () => {
    const body = { name: 'never-called', base_url: `http://127.0.0.1:${await freePort()}` };
    const created = await at.request('POST', '/v1/tool-servers', body);
    expect(created.json).not.toHaveProperty('health');
    expect(await health('never-called')).toEqual(unknown);
    expect(await health(created.json.id)).toEqual(unknown);
    const { data } = (await at.request('GET', '/v1/tool-servers')).json;
    expect(data.length).toBeGreaterThan(1);
    for (const server of data) expect(server).not.toHaveProperty('health');
    expect((await at.request('GET', '/v1/tool-servers/no-such-server')).status).toBe(404);
    const { stdout } = await runCli([...connectionFlags(at), 'tools', 'show', 'never-called']);
    expect(stdout).toMatch(/^state +unknown: no call in 24 hours$/m);
  });

  it('has the times of what works', async () => {
    const thread = await openThread(at);
    expect(await say(at, thread, 'What is the weather in Oslo?')).toMatchObject({ status: 'idle' });
    await expect.poll(async () => (await health('example-tools')).callback_ms.p99).not.toBeNull();
    const seen = await health('example-tools');
    expect(seen).toMatchObject({ state: 'healthy', breaker: 'closed', oldest_open_call: null, errors: { '24h': 0 } });
    for (const times of [seen.ack_ms, seen.callback_ms]) {
      expect(times.p50).toBeGreaterThan(0);
      expect(times.p99).toBeGreaterThanOrEqual(times.p50);
      expect(times.p99).toBeLessThan(60_000);
    }
    expect(seen.discovery_age_s).toBeLessThan(120);
    const { stdout } = await runCli([...connectionFlags(at), 'tools', 'show', 'example-tools']);
    expect(stdout).toMatch(/^state +healthy$/m);
    expect(stdout).toMatch(/^acknowledged +p50 \S+, p99 \S+ in the last hour$/m);
    expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true);
    const asked = await runCli([...connectionFlags(at), 'tools', 'show', 'example-tools', '--json']);
    expect(JSON.parse(asked.stdout)).toMatchObject({ name: 'example-tools', health: { state: 'healthy' } });
  });

  it('names the oldest call that is open, until it is answered', async () => {
    const tools = await driveToolServer(at);
    const first = await calling(tools.name);
    const { waiting_on } = (await at.request('GET', `/v1/threads/${first}`)).json;
    const oldest = async (): Promise<string | null> => (await health(tools.name)).oldest_open_call;
    await expect.poll(oldest).toBe(waiting_on[0].id);
    const labels = { tool_server: tools.name };
    const age = async (): Promise<number> =>
      valueOf(readScrape((await at.request('GET', '/metrics')).text), 'dormouse_tool_oldest_call_seconds', labels);
    await expect.poll(age).toBeGreaterThan(0); // acknowledged, and not answered
    const second = await calling(tools.name);
    const later = (await at.request('GET', `/v1/threads/${second}`)).json.waiting_on[0].id;
    expect(await tools.send(await tools.invocation(0), { type: 'tool_result', text: 'ok' })).toBe(200);
    await untilStatus(at, first, 'idle');
    await expect.poll(oldest).toBe(later);
    await at.request('POST', `/v1/threads/${second}/close`);
    await expect.poll(oldest).toBeNull();
    await expect.poll(age).toBe(0);
    await tools.close();
  });

  it('is not named for a call that waits for a person', async () => {
    const tools = await driveToolServer(at);
    const thread = await calling(tools.name);
    const invocation = await tools.invocation(0);
    const oldest = async (): Promise<string | null> => (await health(tools.name)).oldest_open_call;
    await expect.poll(oldest).not.toBeNull();
    const choice = { prompt: '?', choices: ['a', 'b'], default: 0, response_url: `${tools.url}/answers` };
    expect(await tools.send(invocation, { type: 'user_choice', ...choice })).toBe(200);
    await expect.poll(oldest).toBeNull();
    await at.request('POST', `/v1/threads/${thread}/close`);
    await tools.close();
  });

  it('fails with its server, by class, also in the metrics', async () => {
    const tools = await driveToolServer(at);
    tools.failAt('/invoke');
    const thread = await calling(tools.name, 8);
    await expect.poll(() => health(tools.name)).toMatchObject({ state: 'failing', ack_ms: none });
    await expect.poll(async () => ['open', 'half_open'].includes((await health(tools.name)).breaker)).toBe(true);
    await expect.poll(async () => (await health(tools.name)).errors_by_class['5m']['5xx']).toBeGreaterThanOrEqual(5);
    const seen = await health(tools.name);
    expect(seen.errors['5m']).toBe(seen.errors_by_class['5m']['5xx']);
    const { stdout } = await runCli([...connectionFlags(at), 'tools', 'show', tools.name]);
    expect(stdout).toMatch(/^state +failing$/m);
    expect(stdout).toMatch(/^errors 24h +(\d+): \1 5xx$/m);
    await tools.close(); // from now on connections are refused
    await expect.poll(async () => (await health(tools.name)).errors_by_class['5m'].resets).toBeGreaterThan(0);
    const scrape = readScrape((await at.request('GET', '/metrics')).text);
    const labels = { tool_server: tools.name };
    expect(valueOf(scrape, 'dormouse_tool_errors_total', { ...labels, error: '5xx' })).toBeGreaterThanOrEqual(5);
    expect(valueOf(scrape, 'dormouse_tool_discovery_age_seconds', labels)).toBeGreaterThan(0);
    expect(valueOf(scrape, 'dormouse_tool_callback_seconds', { tool_server: 'example-tools' })).toBe(1);
    await at.request('POST', `/v1/threads/${thread}/close`);
  });

  it('says when a person paused it', async () => {
    await at.request('POST', '/v1/tool-servers/never-called/pause');
    expect((await health('never-called')).state).toBe('paused');
    await at.request('POST', '/v1/tool-servers/never-called/resume');
    expect((await health('never-called')).state).toBe('unknown');
  });

  it('outlives a restart; a server that is removed leaves nothing to the next one of its name', async () => {
    const before = await health('example-tools');
    expect(await at.stop()).toBe(0);
    at = await startStandalone({ env, dataDir: at.dataDir, port: at.port });
    const { ack_ms, callback_ms, state } = await health('example-tools');
    expect({ ack_ms, callback_ms, state }).toEqual({
      ...{ ack_ms: before.ack_ms, callback_ms: before.callback_ms, state: before.state },
    });

    const { base_url } = await get('example-tools');
    expect((await at.request('DELETE', '/v1/tool-servers/example-tools')).status).toBe(204);
    expect((await at.request('GET', '/v1/tool-servers/example-tools')).status).toBe(404);
    expect((await at.request('POST', '/v1/tool-servers', { name: 'example-tools', base_url })).status).toBe(201);
    expect(await health('example-tools')).toEqual(unknown);
    const thread = await openThread(at);
    expect(await say(at, thread, 'What is the weather in Oslo?')).toMatchObject({ status: 'idle' });
    await expect.poll(async () => (await health('example-tools')).state).toBe('healthy');
  });

  it('follows the clock: a day later nothing is known but the discovery', async () => {
    await at.request('POST', '/v1/dev/clock', { advance_ms: 25 * 3_600_000 });
    const seen = await health('example-tools');
    expect(seen).toEqual({ ...unknown, discovery_age_s: expect.any(Number) });
    expect(seen.discovery_age_s).toBeGreaterThanOrEqual(25 * 3_600);
  });
});
