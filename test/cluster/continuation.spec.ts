// The conversation over five real processes continues when any of them, or a server, is killed in the middle of it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { withServices } from '../services/needed-services.ts';
import { type OwnServers, startOwnServers } from '../services/own-servers.ts';
import { type Cluster, endClusters, type ServerUrls, startCluster } from './cluster-process.ts';

const slowJob = [
  [{ tool_call: { name: 'slow_job', arguments: { seconds: 3 } } }],
  [{ text: 'the job is done' }],
] as const;

const types = async (at: Cluster, thread: string): Promise<readonly string[]> =>
  (await eventsOf(at, thread)).map((event) => event.type);

/** A turn whose tool takes three seconds, with something happening meanwhile; each step happened exactly once. */
async function survives(at: Cluster, meanwhile: () => Promise<void> | void): Promise<void> {
  const agent = await scriptedAgent(at, slowJob);
  const thread = await openThread(at, agent);
  await untilStatus(at, thread, 'idle');
  const posted = await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'do it' });
  expect(posted.status).toBe(202);
  await untilStatus(at, thread, 'waiting');
  await meanwhile();
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await at.request('GET', `/v1/threads/${thread}`).catch(() => null);
    if (answer?.status === 200 && answer.json.status === 'idle') break;
    if (Date.now() > deadline) throw new Error(`not finished: ${answer?.text}\n${at.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await types(at, thread)).toEqual([
    'thread_opened',
    'toolsets_requested',
    'toolsets_loaded',
    'message_accepted',
    'completion_requested',
    'completion_recorded',
    'tool_call_requested',
    'tool_call_settled',
    'completion_requested',
    'completion_recorded',
  ]);
  const { json } = await at.request('GET', `/v1/threads/${thread}/messages`);
  expect(json.data.at(-1)).toMatchObject({ role: 'assistant', text: 'the job is done' });
}

withServices(['kafka', 'mongo', 'redis'], () => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-continuation-'));
  let own: OwnServers;
  let at: Cluster;
  beforeAll(async () => {
    own = await startOwnServers(directory);
    if (own.missing !== null) return;
    const urlOf = (name: keyof ServerUrls): string => own.servers.get(name)?.url ?? '';
    at = await startCluster({ kafka: urlOf('kafka'), mongo: urlOf('mongo'), redis: urlOf('redis') });
  });
  beforeEach((context) => context.skip(own.missing !== null, own.missing ?? undefined));
  afterAll(async () => {
    await endClusters();
    for (const server of own.servers.values()) await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  describe('the conversation goes on', () => {
    it('over five processes', async () => {
      const thread = await openThread(at);
      const answer = await say(at, thread, 'What is the weather in Lisbon?');
      expect(answer).toMatchObject({ status: 'idle', message: { text: expect.stringContaining('Lisbon') } });
    });

    it.each(['thread-processor', 'tool-dispatcher', 'callback-gateway', 'notifier', 'ingress-gateway'])(
      'when the %s is killed',
      async (service) => {
        await survives(at, () => void process.kill(pidOf(at, service), 'SIGKILL'));
      },
    );

    it.each(['kafka', 'mongo', 'redis'] as const)('when the server is killed and started again: %s', async (name) => {
      const server = own.servers.get(name);
      if (server === undefined) throw new Error(name);
      await survives(at, async () => {
        server.kill('SIGKILL');
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await server.restart();
      });
    });

    it('and ends with exit code 0', async () => {
      expect(await at.stop()).toBe(0);
    });
  });
});

withServices(['kafka', 'mongo', 'redis'], () => {
  describe('a cluster that started its servers', () => {
    afterAll(endClusters);

    it('starts each of them again when it dies, says so, and the conversation goes on', async (context) => {
      const at = await startCluster('its own').catch(async (error: unknown) => {
        const missing = await whatCannotBeBuilt();
        context.skip(missing !== null, missing ?? undefined);
        throw error;
      });
      for (const name of ['kafka', 'mongo', 'redis']) {
        const [pid] = at.serverPids[name] ?? [];
        if (pid === undefined) throw new Error(`no ${name}`);
        await survives(at, async () => {
          process.kill(pid, 'SIGKILL');
          await expect.poll(() => at.output()).toContain(`${name} ended`);
        });
      }
      expect(await at.stop()).toBe(0);
    });
  });
});

/** Why this machine cannot build the servers that a cluster starts. */
async function whatCannotBeBuilt(): Promise<string | null> {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-continuation-'));
  const { servers, missing } = await startOwnServers(directory, () => ({ built: true }));
  for (const server of servers.values()) await server.stop();
  rmSync(directory, { recursive: true, force: true });
  return missing;
}

/** The current one: a service that was killed has been started again under another id. */
function pidOf(at: Cluster, service: string): number {
  const pid = at.pids[service];
  if (pid === undefined) throw new Error(`no ${service}`);
  return pid;
}
