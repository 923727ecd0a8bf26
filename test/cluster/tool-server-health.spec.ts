// The health of tool servers in a real cluster: the ingress gateway answers what dispatcher and processor saw, what two
// lives of a dispatcher saw adds up, and a breaker that its dispatcher took with it no longer holds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  let at: Cluster;
  let tools: DrivenToolServer;
  beforeAll(async () => {
    at = await startCluster(urls, { DORMOUSE_TOOL_RETRY_FIRST_MS: '50', DORMOUSE_TOOL_RETRY_TOTAL_MS: '2000' });
    tools = await driveToolServer(at);
  });
  afterAll(async () => {
    await tools?.close();
    await endClusters();
  });

  const health = async (name: string): Promise<Json> =>
    (await at.request('GET', `/v1/tool-servers/${name}`)).json.health;

  async function calling(): Promise<string> {
    const script = [[toolCall('work')], [{ text: 'Done.' }]];
    const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'work' });
    return thread;
  }

  const failures = async (): Promise<number> => (await health(tools.name)).errors_by_class['24h']['5xx'];

  /** Requests that the tool server answered with 500. */
  const failed = (): number => tools.requests.filter(({ path }) => path === '/invoke').length - answered;
  let answered = 0;

  describe('the health of a tool server in a cluster', () => {
    it('is unknown before the first call', async () => {
      const base_url = `http://127.0.0.1:${await freePort()}`;
      const never = await at.request('POST', '/v1/tool-servers', { name: 'never', base_url });
      expect(never.status).toBe(201);
      const none = { p50: null, p99: null };
      expect(await health('never')).toMatchObject({
        ...{ state: 'unknown', discovery_age_s: null, ack_ms: none, callback_ms: none, breaker: 'closed' },
        ...{ errors: { '5m': 0, '1h': 0, '24h': 0 }, oldest_open_call: null },
      });
    });

    it('has the acknowledgements of the dispatcher and the callbacks of the processor', async () => {
      expect(await say(at, await openThread(at), 'What is the weather in Oslo?')).toMatchObject({ status: 'idle' });
      await expect.poll(async () => (await health('example-tools')).callback_ms.p50).not.toBeNull();
      await expect.poll(async () => (await health('example-tools')).ack_ms.p50).not.toBeNull();
      const seen = await health('example-tools');
      expect(seen).toMatchObject({ state: 'healthy', errors: { '24h': 0 }, breaker: 'closed', oldest_open_call: null });
      expect(seen.callback_ms.p50).toBeLessThan(60_000);
      expect(seen.discovery_age_s).toBeLessThan(300);
    });

    it('names the oldest open call, as the processor writes it', async () => {
      const thread = await calling();
      await untilStatus(at, thread, 'waiting');
      const call = (await at.request('GET', `/v1/threads/${thread}`)).json.waiting_on[0].id;
      await expect.poll(async () => (await health(tools.name)).oldest_open_call).toBe(call);
      expect(await tools.send(await tools.invocation(0), { type: 'tool_result', text: 'ok' })).toBe(200);
      answered = 1;
      await expect.poll(async () => (await health(tools.name)).oldest_open_call).toBeNull();
    });

    it('adds up what two lives of the dispatcher saw; a breaker ends with its dispatcher', async () => {
      tools.failAt('/invoke');
      const first = await calling();
      await expect.poll(async () => (await health(tools.name)).breaker).toBe('open');
      await expect.poll(async () => (await health(tools.name)).state).toBe('failing');
      await untilStatus(at, first, 'idle'); // the dispatcher has given up
      await eventually(async () => (await failures()) === failed());
      const before = failed();
      expect(before).toBeGreaterThanOrEqual(5);
      process.kill(at.pids['tool-dispatcher'] ?? 0, 'SIGKILL');
      const second = await calling(); // for the dispatcher that is started in its place
      await untilStatus(at, second, 'idle');
      expect(failed()).toBeGreaterThan(before);
      await eventually(async () => (await failures()) === failed());

      tools.failAt('');
      const after = await calling();
      answered += 1;
      await untilStatus(at, after, 'waiting');
      await expect.poll(async () => (await health(tools.name)).breaker).toBe('closed');
    });
  });
});
