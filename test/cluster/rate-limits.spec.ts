// A sender that goes too fast gets a retry time: a client with 429, a tool server with 503, because tools do not repeat
// a 4xx.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { openThread, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  let at: Cluster;
  let server: RecordingToolServer;
  beforeAll(async () => {
    at = await startCluster(urls, { DORMOUSE_TENANT_REQUESTS_PER_S: '10', DORMOUSE_TENANT_CALLBACKS_PER_S: '5' });
    server = await recordToolServer(at);
  });
  afterAll(async () => {
    await endClusters();
    await server.close();
  });

  it('R43 a client gets 429 with Retry-After, and goes on after the wait', async () => {
    const ask = () => at.request('GET', '/v1/threads');
    const answers = await Promise.all(Array.from({ length: 60 }, ask));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers, json } of refused) {
      expect(json).toMatchObject({ code: 'RATE_LIMITED' });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await at.request('GET', '/healthz', undefined, { key: null })).status).toBe(200);
    await pause(2_000);
    expect((await ask()).status).toBe(200);
  });

  it('R43 a tool server gets 503 with Retry-After, never 429, and what it repeats is taken', async () => {
    const script = [[toolCall('work')], [{ text: 'ok' }]];
    const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [server.name] }));
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const call = await server.invocation(0);
    const view = { type: 'view_update', view_type: 'board', content: { a: 1 } };
    const answers = await Promise.all(Array.from({ length: 60 }, () => server.send(call, view)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    await pause(2_000);
    expect((await server.send(call, { type: 'tool_result', text: 'done' })).status).toBe(200);
    await pause(1_000); // because of the client's own limit
    await untilStatus(at, thread, 'idle');
  });
});
