// The alerts of a standalone process, each by its real fault: the rules are those of the installation on a short clock,
// and the process, its tool servers, its models and its collector are real. Ages (five and fifteen minutes) are no
// clocks of a rule: they pass, beside the other faults.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Started, startNode } from '../../bench/src/child-process.ts';
import { recordToolServer, type RecordingToolServer, silence, status } from '../conformance/recording-tool-server.ts';
import { scriptedAgent } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { agentOf, beginTurn, chatting, type ModelServer, type Repeated, repeat, startModelServer } from './load.ts';
import { type WatchedAlerts, watchAlerts } from './watched-alerts.ts';

/** On the short clock a rule needs its window and its `for`, at most a minute. */
const firesWithinMs = 120_000;
const resolvesWithinMs = 120_000;
/** More than one endpoint may have, see completion-slots.ts. */
const hangingThreads = 2_200;
const oldestInput = ['DormouseOldestInput'];
const oldestInputSeconds = 900;
const oldestCall = ['DormouseOldestToolCall'];
const oldestCallSeconds = 300;
const collectorScript = fileURLToPath(new URL('../../bench/src/collector.ts', import.meta.url));

describe('the alerts of a standalone process', () => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-alerts-'));
  const closing: (() => Promise<unknown>)[] = [];
  let at: Standalone;
  let alerts: WatchedAlerts;
  let missing: string | null = null;
  let chat: Repeated;
  let collector: Started;
  let silent: RecordingToolServer;
  let hangingSince = 0;
  let silentSince = 0;

  beforeAll(async () => {
    collector = await startNode('collector', collectorScript, directory);
    closing.push(() => collector.stop());
    const health = await freePort();
    at = await startStandalone({
      env: {
        DORMOUSE_HEALTH_PORT: String(health),
        DORMOUSE_MODEL_RETRY_TOTAL_MS: '1000',
        DORMOUSE_MODEL_START_TIMEOUT_MS: '1700000',
        OTEL_EXPORTER_OTLP_ENDPOINT: (await collector.ask({ ask: 'base' })) as string,
        OTEL_BSP_SCHEDULE_DELAY: '500',
      },
    });
    const watching = await watchAlerts(join(directory, 'prometheus'), { standalone: [`127.0.0.1:${health}`] });
    if (!watching.available) return void (missing = watching.reason);
    alerts = watching.alerts;
    closing.push(() => alerts.stop());
    chat = chatting(at);
    closing.push(() => chat.stop());
  });
  beforeEach((context) => context.skip(missing !== null, missing ?? undefined));
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
    await cleanUp();
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

  it('none fires while all is well', async () => {
    await sleep(45_000); // twice the longest window
    expect(await alerts.firingOfOurs()).toEqual([]);
  });

  it('a tool server that answers 503', () =>
    fires(['DormouseToolServerFailing', 'DormouseBreakerOpen'], async () => {
      const failing = await recordToolServer(at);
      closing.push(() => failing.close());
      failing.replies('/invoke', status(503));
      const script = [[toolCall('work')], [{ text: 'not today' }]];
      const agent = await scriptedAgent(at, script, { tool_servers: [failing.name] });
      const calls = repeat(1_000, () => beginTurn(at, agent));
      return async () => {
        await calls.stop();
        failing.replies('/invoke', status(400)); // its calls are given up at the next attempt
      };
    }));

  it('a tool server that accepts a connection and never answers', async () => {
    await alerts.silent(oldestCall, resolvesWithinMs);
    silent = await recordToolServer(at);
    closing.push(() => silent.close());
    silent.replies('/invoke', silence);
    silentSince = Date.now();
    const agent = await scriptedAgent(at, [[toolCall('work')], [{ text: 'done' }]], { tool_servers: [silent.name] });
    await beginTurn(at, agent);
    await silent.invocation(0); // the alert is waited for below
  });

  it('a model that never answers, and more threads than there are slots', () =>
    fires(['DormouseModelSlotsExhausted'], async () => {
      await alerts.silent(oldestInput, resolvesWithinMs);
      const hanging = await startModelServer(null);
      closing.push(() => hanging.close()); // it hangs until the end: the oldest input is waited for below
      const agent = await agentOf(at, hanging.model);
      hangingSince = Date.now();
      for (let opened = 0; opened < hangingThreads; opened += 20)
        await Promise.all(Array.from({ length: 20 }, () => beginTurn(at, agent)));
      return () => {};
    }));

  it('callbacks with tokens that are not ours', () =>
    fires(['DormouseCallbacksRefused'], async () => {
      const bad = repeat(250, () => fetch(`${at.url}/callback/not-a-token`, { method: 'POST', body: '{}' }));
      return () => bad.stop();
    }));

  it('a model that answers 500', () =>
    fires(['DormouseModelFailing', 'DormouseTurnsFailing'], async () => {
      const failing: ModelServer = await startModelServer(500);
      const agent = await agentOf(at, failing.model);
      const turns = repeat(250, () => beginTurn(at, agent));
      return async () => {
        await turns.stop();
        await failing.close();
      };
    }));

  it('a process that is not given the processor', () =>
    fires(['DormouseEventLoopDelay'], async () => {
      const pid = at.process.pid ?? 0;
      const starving = repeat(100, async () => {
        process.kill(pid, 'SIGSTOP');
        await sleep(500).finally(() => process.kill(pid, 'SIGCONT'));
      });
      return () => starving.stop();
    }));

  it('a collector that answers 500', () =>
    fires(['DormouseSpansDropped'], async () => {
      await collector.ask({ ask: 'behave', how: 'failing' });
      return () => collector.ask({ ask: 'behave', how: 'well' });
    }));

  it('a call that its tool server has not answered for five minutes', async () => {
    await sleep(Math.max(0, silentSince + oldestCallSeconds * 1_000 - Date.now()));
    await alerts.fired(oldestCall, firesWithinMs);
    silent.replies('/invoke', status(400));
    await alerts.silent(oldestCall, resolvesWithinMs);
  });

  it('an input that was delivered a quarter of an hour ago, and whose model does not answer', async () => {
    await sleep(Math.max(0, hangingSince + oldestInputSeconds * 1_000 - Date.now()));
    await alerts.fired(oldestInput, firesWithinMs);
  });
});
