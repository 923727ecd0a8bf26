// A topic is lost with records in it, and made again: what commits owe is paid again by `dormouse reconcile`, under the
// same ids, beside a running system. Real servers; the topic is really deleted.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { type RecordingModel, startRecordingModel } from '../conformance/recording-model.ts';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventsOf, eventually, openThread, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { patienceMs } from '../patience.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

const threadCount = 6;
const setup = fileURLToPath(new URL('../../apps/ingress-gateway/dist/main.js', import.meta.url));

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  let at: Cluster;
  let model: RecordingModel;
  let server: RecordingToolServer;
  beforeAll(async () => {
    [at, model] = await Promise.all([startCluster(urls, { DORMOUSE_LOG_LEVEL: 'info' }), startRecordingModel()]);
    server = await recordToolServer(at);
  });
  afterAll(async () => {
    await endClusters();
    await Promise.all([model.close(), server.close()]);
  });

  const starts = (service: string): number =>
    readFileSync(join(at.directory, `${service}.out`), 'utf8').split(`ready ${service}\n`).length - 1;

  /** Deletes the topic while its consumer is gone, and makes it again, as an operator does. */
  async function loseTopic(name: string, consumer: string, pid: number): Promise<void> {
    const before = starts(consumer);
    process.kill(pid, 'SIGKILL');
    const kafka = new Kafka({ brokers: urls.kafka.split(','), logLevel: logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [at.prefix + name] });
    await eventually(async () => !(await admin.listTopics()).includes(at.prefix + name));
    await admin.disconnect();
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('DORMOUSE_')));
    const made = spawnSync(process.execPath, [setup, 'setup'], {
      encoding: 'utf8',
      timeout: patienceMs,
      env: {
        ...inherited,
        DORMOUSE_KAFKA_BROKERS: urls.kafka,
        DORMOUSE_KAFKA_PREFIX: at.prefix,
        DORMOUSE_KAFKA_PARTITIONS: '4',
        DORMOUSE_MONGO_URL: Object.assign(new URL(urls.mongo), { pathname: `/${at.database}` }).href,
        DORMOUSE_REDIS_URL: urls.redis,
        DORMOUSE_MASTER_KEY: readFileSync(join(at.directory, 'master-key'), 'utf8').trim(),
      },
    });
    expect({ code: made.status, said: made.stderr }).toEqual({ code: 0, said: expect.any(String) });
    await eventually(async () => starts(consumer) > before);
  }

  async function reconcile(...flags: readonly string[]) {
    const connection = ['--url', at.url, '--data', at.directory];
    const ran = await runCli(['reconcile', '--older-than', '0', '--json', ...flags, ...connection]);
    expect(ran).toMatchObject({ code: 0 });
    return JSON.parse(ran.stdout);
  }

  it('calls that were lost with `dispatches` are sent, once each, under their ids', async () => {
    const played = model.plays((prompt) =>
      prompt.messages.at(-1).role === 'tool' ? [{ text: 'done' }] : [toolCall('work')],
    );
    await at.request('POST', '/v1/agents', { name: 'lost-calls', model: played.model, tool_servers: [server.name] });
    const threads = await Promise.all(Array.from({ length: threadCount }, () => openThread(at, 'lost-calls')));
    for (const thread of threads) await untilStatus(at, thread, 'idle');
    const dispatcher = at.pids['tool-dispatcher'] ?? 0;
    process.kill(dispatcher, 'SIGSTOP'); // what is published stays in the topic
    for (const thread of threads) await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    for (const thread of threads) await untilStatus(at, thread, 'waiting');
    await loseTopic('dispatches', 'tool-dispatcher', dispatcher);

    const found = await reconcile();
    expect(found).toMatchObject({ owing: threadCount, owed: { calls: threadCount }, paid: false });
    expect(server.invocations()).toHaveLength(0);
    expect(await reconcile('--pay')).toMatchObject({ owing: threadCount, paid: true });
    await eventually(async () => server.invocations().length >= threadCount);
    await eventually(async () => (await reconcile('--pay')).owing === 0); // again is harmless
    expect(server.invocations()).toHaveLength(threadCount);
    const requested = await Promise.all(
      threads.map(async (thread) => {
        const event = (await eventsOf(at, thread)).find(({ type }) => type === 'tool_call_requested');
        return event.tool_call_id;
      }),
    );
    const sent = server.invocations().map(({ headers }) => headers['idempotency-key']);
    expect(new Set(sent)).toEqual(new Set(requested));
    for (let place = 0; place < threadCount; place += 1)
      await server.send(await server.invocation(place), { type: 'tool_result', text: 'done' });
    for (const thread of threads) await untilStatus(at, thread, 'idle');
  });

  it('a completion that was lost with `inputs` is asked for again, and enters its thread once', async () => {
    let hangs = true;
    const played = model.plays(() => (hangs ? [{ wait_ms: 600_000 }] : [{ text: 'after the loss' }]));
    await at.request('POST', '/v1/agents', { name: 'lost-inputs', model: played.model, tool_servers: [] });
    const thread = await openThread(at, 'lost-inputs');
    await untilStatus(at, thread, 'idle');
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    await eventually(async () => played.prompts.length === 1);
    await loseTopic('inputs', 'thread-processor', at.pids['thread-processor'] ?? 0);
    hangs = false;

    expect(await reconcile()).toMatchObject({ owing: 1, owed: { completions: 1 } });
    expect(played.prompts).toHaveLength(1);
    await reconcile('--pay');
    await untilStatus(at, thread, 'idle');
    expect(await reconcile()).toMatchObject({ owing: 0 });
    const types = (await eventsOf(at, thread)).map(({ type }) => type);
    expect(types.filter((type) => type === 'completion_recorded')).toHaveLength(1);
    expect(played.prompts).toHaveLength(2);
  });
});
