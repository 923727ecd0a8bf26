// A processor that is stopped for longer than its session and then continues: its partitions belong to another by then,
// and nothing that it still does counts.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RecordingModel, startRecordingModel } from '../conformance/recording-model.ts';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventsOf, openThread, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { withServices } from '../services/needed-services.ts';
import { freePorts } from '../services/free-ports.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

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

  /** Another processor of the same installation. */
  async function startSecond(): Promise<void> {
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
    const [healthPort = 0] = await freePorts(1);
    const mongo = new URL(urls.mongo);
    mongo.pathname = `/${at.database}`;
    const main = fileURLToPath(new URL('../../apps/thread-processor/dist/main.js', import.meta.url));
    const child = spawn(process.execPath, [main], {
      env: {
        ...inherited,
        DORMOUSE_KAFKA_BROKERS: urls.kafka,
        DORMOUSE_KAFKA_PREFIX: at.prefix,
        DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: '3000',
        DORMOUSE_MONGO_URL: mongo.href,
        DORMOUSE_REDIS_URL: urls.redis,
        DORMOUSE_MASTER_KEY: readFileSync(join(at.directory, 'master-key'), 'utf8').trim(),
        DORMOUSE_CALLBACK_BASE_URL: `http://127.0.0.1:${Number(new URL(at.url).port) + 1}`,
        DORMOUSE_OUTBOUND_ALLOW: 'http://127.0.0.0/8',
        DORMOUSE_HEALTH_PORT: String(healthPort),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    endSecond = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    await expect.poll(() => said).toContain('ready thread-processor');
  }

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
    await startSecond();
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
