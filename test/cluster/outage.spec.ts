// What clients, tools and models see while MongoDB is away: nothing proceeds on a state that nobody could read, nothing that was
// taken is lost, and nothing happens twice when it comes back.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../chaos/fault-proxy.ts';
import { type RecordingModel, startRecordingModel } from '../conformance/recording-model.ts';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventsOf, eventually, openThread, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

const longerThanAnyRetryMs = 3_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  let at: Cluster;
  let model: RecordingModel;
  let network: FaultProxy;
  let server: RecordingToolServer;
  let mongoPort: number;

  beforeAll(async () => {
    mongoPort = Number(new URL(urls.mongo).port);
    network = await startFaultProxy([mongoPort]);
    const mongo = new URL(urls.mongo);
    mongo.port = String(network.port);
    [at, model] = await Promise.all([startCluster({ ...urls, mongo: mongo.href }), startRecordingModel()]);
    server = await recordToolServer(at);
  });
  afterAll(async () => {
    await endClusters();
    await Promise.all([network.close(), model.close(), server.close()]);
  });

  const away = (): void => {
    network.targets = [];
    network.cut();
  };
  const back = (): void => {
    network.targets = [mongoPort];
  };

  async function waitingThread(): Promise<{ readonly thread: string; readonly prompts: readonly unknown[] }> {
    const played = model.plays([[toolCall('work')], [{ text: 'understood' }], [{ text: 'yes' }]]);
    const name = `outage-${randomUUID()}`;
    await at.request('POST', '/v1/agents', { name, model: played.model, tool_servers: [server.name] });
    const thread = await openThread(at, name);
    await untilStatus(at, thread, 'idle');
    return { thread, prompts: played.prompts };
  }

  describe('while MongoDB is away', () => {
    it('R54 a message is answered with 503, no model and no tool hears of it, and sent again later it counts once', async () => {
      const { thread, prompts } = await waitingThread();
      const before = server.invocations().length;
      const post = () =>
        at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' }, { headers: { 'idempotency-key': 'one' } });
      away();
      const refused = await post();
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
      await pause(longerThanAnyRetryMs);
      expect([prompts.length, server.invocations().length - before]).toEqual([0, 0]);
      back();
      await eventually(async () => (await post()).status === 202, 30_000);
      const call = await server.invocation(before);
      await server.send(call, { type: 'tool_result', text: 'done' });
      await untilStatus(at, thread, 'idle');
      const accepted = (await eventsOf(at, thread)).filter(({ type }) => type === 'message_accepted');
      expect(accepted).toHaveLength(1);
    });

    it('R57 a result is taken, waits, and is in the history once when it can be written', async () => {
      const { thread, prompts } = await waitingThread();
      const before = server.invocations().length;
      await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
      const call = await server.invocation(before);
      away();
      const result = { type: 'tool_result', text: 'written down once' };
      for (let sent = 0; sent < 3; sent++) expect((await server.send(call, result)).status).toBe(200);
      await pause(longerThanAnyRetryMs);
      expect(prompts).toHaveLength(1);
      back();
      await eventually(async () => {
        const answer = await at.request('GET', `/v1/threads/${thread}`);
        return answer.status === 200 && answer.json.status === 'idle';
      }, 30_000);
      const settled = (await eventsOf(at, thread)).filter(({ type }) => type === 'tool_call_settled');
      expect(settled).toMatchObject([{ outcome: 'result', content: [{ text: 'written down once' }] }]);
      expect(prompts).toHaveLength(2);
    });
  });
});
