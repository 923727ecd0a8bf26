// A processor that is stopped for longer than its session and then continues: its partitions belong to another by then,
// and nothing that it still does counts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RecordingModel, startRecordingModel } from '../conformance/recording-model.ts';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventsOf, openThread, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';
import { startSecondProcessor } from './second-processor.ts';

const threadCount = 12;

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  let at: Cluster;
  let model: RecordingModel;
  let server: RecordingToolServer;
  let endSecond = async (): Promise<void> => {};
  beforeAll(async () => {
    [at, model] = await Promise.all([
      startCluster(urls, { DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: '3000', DORMOUSE_LOG_LEVEL: 'info' }),
      startRecordingModel(),
    ]);
    server = await recordToolServer(at);
  });
  afterAll(async () => {
    await endSecond();
    await endClusters();
    await Promise.all([model.close(), server.close()]);
  });

  const status = async (thread: string): Promise<string> =>
    (await at.request('GET', `/v1/threads/${thread}`)).json.status;

  it('a zombie changes nothing that it no longer owns: each thread has one history, and goes on', async () => {
    const name = 'zombie';
    const played = model.plays(
      Array.from({ length: threadCount * 2 }, (_, place) =>
        place < threadCount ? [toolCall('work')] : [{ text: 'after the takeover' }],
      ),
    );
    await at.request('POST', '/v1/agents', { name, model: played.model, tool_servers: [server.name] });
    const threads = await Promise.all(Array.from({ length: threadCount }, () => openThread(at, name)));
    for (const thread of threads) await untilStatus(at, thread, 'idle');
    for (const thread of threads)
      expect((await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' })).status).toBe(202);
    for (const thread of threads) await untilStatus(at, thread, 'waiting');
    const calls = await Promise.all(threads.map((_, place) => server.invocation(place)));

    // It stops in the middle of its inputs: the results are in its topic, and some perhaps in its memory.
    const first = at.pids['thread-processor'] ?? 0;
    for (const [place, call] of calls.entries()) {
      if (place === calls.length / 2) process.kill(first, 'SIGSTOP');
      expect((await server.send(call, { type: 'tool_result', text: 'done' })).status).toBe(200);
    }
    const settings = { DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: '3000' };
    const second = await startSecondProcessor(at, urls, settings);
    endSecond = () => second.end('SIGTERM');
    for (const thread of threads) await expect.poll(() => status(thread)).toBe('idle');
    const before = await Promise.all(threads.map((thread) => eventsOf(at, thread)));
    process.kill(first, 'SIGCONT');
    // It learns that it is no member any more: by its heartbeat, by a commit of offsets, or because its connection
    // broke.
    const hasHeard = /not aware of this member|offsets_not_committed|consumer_lost/;
    await expect.poll(() => at.output()).toMatch(hasHeard);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await Promise.all(threads.map((thread) => eventsOf(at, thread)))).toEqual(before);
    for (const events of before) {
      const types = events.map(({ type }) => type);
      expect(types.filter((type) => type === 'tool_call_settled')).toHaveLength(1);
      expect(types.filter((type) => type === 'completion_recorded')).toHaveLength(2);
    }
    for (const thread of threads)
      expect((await at.request('POST', `/v1/threads/${thread}/close`, {})).status).toBe(202);
    for (const thread of threads) await expect.poll(() => status(thread)).toBe('closed');
  });
});
