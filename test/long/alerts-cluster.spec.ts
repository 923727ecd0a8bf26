// The alerts of a cluster, each by its real fault: the rules are those of the installation on a short clock, and the
// processes, Kafka, the database and Redis are real and belong to this spec, which damages them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { metricServices } from '@dormouse/ports';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../chaos/fault-proxy.ts';
import { type Cluster, endClusters, startCluster } from '../cluster/cluster-process.ts';
import { startSecondProcessor } from '../cluster/second-processor.ts';
import { startRecordingModel } from '../conformance/recording-model.ts';
import { recordToolServer } from '../conformance/recording-tool-server.ts';
import { openThread, scriptedAgent, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { type OwnServers, startOwnServers } from '../services/own-servers.ts';
import type { RunningService } from '../services/service.ts';
import { agentOf, beginTurn, chatting, type Repeated, repeat, startModelServer } from './load.ts';
import { type WatchedAlerts, watchAlerts } from './watched-alerts.ts';

/** On the short clock a rule needs its window and its `for`, at most two minutes. */
const firesWithinMs = 180_000;
const resolvesWithinMs = 180_000;
const sessionTimeoutMs = 3_000;
/** Late enough for the rule, whose threshold is a minute. */
const lateMs = 66_000;
const storeLatencyMs = 400;
const sleepers = 20;
const sleepSeconds = 30;

describe('the alerts of a cluster', () => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-alerts-'));
  const closing: (() => Promise<unknown>)[] = [];
  let own: OwnServers;
  let mongo: FaultProxy;
  let at: Cluster;
  let alerts: WatchedAlerts;
  let missing: string | null = null;

  const serverOf = (name: 'kafka' | 'mongo' | 'redis'): RunningService => {
    const found = own.servers.get(name);
    if (found === undefined) throw new Error(name);
    return found;
  };

  beforeAll(async () => {
    own = await startOwnServers(directory);
    closing.push(() => Promise.all([...own.servers.values()].map((server) => server.stop())));
    if (own.missing !== null) return void (missing = own.missing);
    const database = serverOf('mongo').url;
    const port = Number(/:(\d+)(?:\/|$)/.exec(database)?.[1]);
    mongo = await startFaultProxy([port]);
    closing.push(() => mongo.close());
    const servers = {
      kafka: serverOf('kafka').url,
      mongo: database.replace(`:${port}`, `:${mongo.port}`),
      redis: serverOf('redis').url,
    };
    const settings = {
      DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: String(sessionTimeoutMs),
      DORMOUSE_MODEL_RETRY_TOTAL_MS: '1000',
    };
    at = await startCluster(servers, settings);
    closing.push(endClusters);
    const second = await startSecondProcessor(at, servers, settings);
    closing.push(() => second.end('SIGTERM'));
    const firstHealth = Number(new URL(at.url).port) + 10;
    const targets = Object.fromEntries(
      metricServices.map((service, nth) => [
        service,
        [firstHealth + nth, ...(service === 'thread-processor' ? [second.health] : [])].map(
          (health) => `127.0.0.1:${health}`,
        ),
      ]),
    );
    const watching = await watchAlerts(join(directory, 'prometheus'), targets);
    if (!watching.available) return void (missing = watching.reason);
    alerts = watching.alerts;
    closing.push(() => alerts.stop());
    const chat: Repeated = chatting(at);
    closing.push(() => chat.stop());
  });
  beforeEach((context) => context.skip(missing !== null, missing ?? undefined));
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Silent before, firing with the fault. What the fault returns ends it. */
  async function fires(names: readonly string[], fault: () => Promise<() => unknown>): Promise<void> {
    await alerts.silent(names, resolvesWithinMs);
    const end = await fault();
    try {
      await alerts.fired(names, firesWithinMs);
    } finally {
      await end();
    }
  }

  const pidOf = (service: string): number => at.pids[service] ?? 0;

  it('none fires while all is well', async () => {
    await sleep(45_000); // twice most windows
    expect(await alerts.firingOfOurs()).toEqual([]);
  });

  it('a process that stands still', () =>
    fires(['DormouseProcessDown'], async () => {
      process.kill(pidOf('notifier'), 'SIGSTOP');
      return () => process.kill(pidOf('notifier'), 'SIGCONT');
    }));

  it('an input that cannot be decided', () =>
    fires(['DormouseThreadsParked'], async () => {
      const thread = await openThread(at);
      await untilStatus(at, thread, 'idle');
      const input = { kind: 'FromTheFuture', id: 'c:poison' };
      const producer = new Kafka({ brokers: [serverOf('kafka').url], logLevel: logLevel.NOTHING }).producer();
      await producer.connect();
      const value = JSON.stringify({ tenant: 'local', thread, input });
      await producer.send({ topic: `${at.prefix}inputs`, messages: [{ key: `local:${thread}`, value }] });
      await producer.disconnect();
      return async () => {
        await at.request('POST', `/v1/parked/${thread}/drop`, { input: 'c:poison' });
        await at.request('POST', `/v1/parked/${thread}/replay`, {});
      };
    }));

  it('a tool server that sends each result again and again', () =>
    fires(['DormouseDuplicatesJump'], async () => {
      const server = await recordToolServer(at);
      const agent = await scriptedAgent(at, [[toolCall('work')], [{ text: 'done' }]], { tool_servers: [server.name] });
      let sent = 0;
      const repeating = repeat(500, async () => {
        await beginTurn(at, agent);
        const call = await server.invocation(sent++);
        for (let times = 0; times < 10; times++) await server.send(call, { type: 'tool_result', text: 'done' });
      });
      return async () => {
        await repeating.stop();
        await server.close();
      };
    }));

  it('a model that never answers, and ever more threads that ask it', () =>
    fires(['DormouseConsumerLagGrowing'], async () => {
      const hanging = await startModelServer(null);
      const agent = await agentOf(at, hanging.model);
      const asking = repeat(100, () => beginTurn(at, agent));
      return async () => {
        await asking.stop();
        await hanging.close();
      };
    }));

  it('a network to the database that is slow', () =>
    fires(['DormouseStoreSlow'], async () => {
      mongo.latencyMs = storeLatencyMs;
      return () => {
        mongo.latencyMs = 0;
      };
    }));

  it('a Redis that has died', () =>
    fires(['DormouseRedisAway'], async () => {
      serverOf('redis').kill('SIGKILL');
      return () => serverOf('redis').restart();
    }));

  it('a Kafka that has died: callbacks, messages and timers cannot enter it', () =>
    fires(['DormouseCallbacksFailing', 'DormouseRequestsFailing', 'DormouseTimersLate'], async () => {
      const server = await recordToolServer(at);
      const calling = await scriptedAgent(at, [[toolCall('work')]], { tool_servers: [server.name] });
      await beginTurn(at, calling);
      const call = await server.invocation(0);
      const script = [[toolCall('sleep', { seconds: sleepSeconds })], [{ text: 'awake' }]];
      const asleep = await scriptedAgent(at, script);
      const threads = await Promise.all(Array.from({ length: sleepers }, () => beginTurn(at, asleep)));
      for (const thread of threads) await untilEvent(at, thread, 'timer_set');
      serverOf('kafka').kill('SIGKILL');
      const sending = repeat(500, () => server.send(call, { type: 'tool_result', text: 'done' }));
      // The other two fire meanwhile; a timer is late when it can fire at last.
      const coming = sleep(sleepSeconds * 1_000 + lateMs).then(() => serverOf('kafka').restart());
      return async () => {
        await coming;
        await sending.stop();
        await server.close();
      };
    }));

  it('a processor that freezes again and again, with completions in flight', () =>
    fires(['DormouseTakeoverStorm', 'DormouseAppendConflicts'], async () => {
      const model = await startRecordingModel();
      const slow = model.plays(() => [{ wait_ms: 4_000 }, { text: 'at last' }]);
      const agent = await agentOf(at, slow.model);
      const asking = repeat(100, () => beginTurn(at, agent));
      const pid = pidOf('thread-processor');
      const freezing = repeat(4_000, async () => {
        process.kill(pid, 'SIGSTOP');
        await sleep(sessionTimeoutMs + 2_000).finally(() => process.kill(pid, 'SIGCONT'));
      });
      return async () => {
        await freezing.stop();
        await asking.stop();
        await model.close();
      };
    }));
});
