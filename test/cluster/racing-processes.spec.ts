// Five processes of one service, on one database, race for what may be done once: the refresh of a user's grant, and
// sealing again with another master key. Two ingress gateways fire the schedules of a tenant.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, openThread, scriptedAgent } from '../e2e/conversation.ts';
import { driveToolServer, type DrivenToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { request } from '../e2e/standalone-process.ts';
import { readScrape } from '../metrics/prometheus-text.ts';
import { withServices } from '../services/needed-services.ts';
import { type AnotherProcess, startAnother } from './another-process.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';
import { documentCount } from './stored-bytes.ts';

/** A provider whose refresh tokens are good once. It is slow, so that the others ask while it is asked. */
const provider = { good: new Map<string, string>(), asked: [] as string[] };
const slowMs = 1_000;

function startProvider(): Promise<Server> {
  const server = createServer((incoming, response) => {
    void text(incoming).then(async (body) => {
      const token = new URLSearchParams(body).get('refresh_token') ?? '';
      provider.asked.push(token);
      await sleep(slowMs);
      const user = provider.good.get(token);
      provider.good.delete(token);
      const granted = { access_token: `access-of-${user}`, token_type: 'Bearer', expires_in: 3_600 };
      response.writeHead(user === undefined ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(user === undefined ? { error: 'invalid_grant' } : granted));
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  let at: Cluster;
  let server: Server;
  let tools: DrivenToolServer;
  let agent: string;
  const others: AnotherProcess[] = [];
  const endOthers = async (): Promise<void> => {
    await Promise.all(others.splice(0).map((each) => each.end('SIGKILL')));
  };

  beforeAll(async () => {
    server = await startProvider();
    at = await startCluster(urls, { DORMOUSE_KAFKA_PARTITIONS: '10' });
    tools = await driveToolServer(at);
    agent = await scriptedAgent(at, [[toolCall('work')], [{ text: 'done' }]], { tool_servers: [tools.name] });
  });
  afterAll(async () => {
    await endOthers();
    server.close();
    await tools.close();
    await endClusters();
  });

  describe('five dispatchers with calls of one user', () => {
    const grant = (user: string) => ({
      ...{ type: 'oauth2', client_id: 'client', client_secret: null, refresh_token: `refresh-of-${user}` },
      token_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    });
    const callsOf = (user: string, count: number): Promise<readonly string[]> =>
      Promise.all(
        Array.from({ length: count }, () => openThread(at, agent, { user_id: user, message: { text: 'work' } })),
      );

    /** Attempts of calls that a process has made, by its metrics. */
    async function attemptsOf(health: number): Promise<number> {
      const scraped = readScrape(await (await fetch(`http://127.0.0.1:${health}/metrics`)).text());
      const samples = scraped.get('dormouse_tool_attempts_total')?.samples ?? [];
      return samples.reduce((sum, { value }) => sum + value, 0);
    }

    /** Of the five; the one that the launcher keeps running is a sixth. */
    const attempts = (): Promise<readonly number[]> => Promise.all(others.map(({ health }) => attemptsOf(health)));

    beforeAll(async () => {
      for (let nth = 0; nth < 5; nth += 1) others.push(await startAnother('tool-dispatcher', at, urls));
      await at.request('PUT', `/v1/users/warm/credentials/${tools.name}`, { type: 'bearer', value: 'warm' });
      // The partitions are shared out when each of the five has made an attempt.
      await eventually(async () => {
        await callsOf('warm', 10);
        return (await attempts()).every((count) => count > 0);
      });
    });
    afterAll(endOthers);

    it('T1 make one refresh, and all of them present what it gave', async () => {
      provider.good.set('refresh-of-gina', 'gina');
      await at.request('PUT', `/v1/users/gina/credentials/${tools.name}`, grant('gina'));
      const before = await attempts();
      const count = 100;
      await callsOf('gina', count);
      const presented = (): number =>
        tools.requests.filter(({ headers }) => headers.authorization === 'Bearer access-of-gina').length;
      await eventually(async () => presented() >= count);
      expect(provider.asked.filter((token) => token === 'refresh-of-gina')).toHaveLength(1);
      const after = await attempts();
      expect(after.every((each, nth) => each > (before[nth] ?? 0))).toBe(true);
    });

    it('T3 ask a provider that refuses once, and each thread is told', async () => {
      await at.request('PUT', `/v1/users/hugo/credentials/${tools.name}`, grant('hugo'));
      const threads = await callsOf('hugo', 20);
      for (const thread of threads) {
        const told = await eventually(async () =>
          (await eventsOf(at, thread)).find(({ type }) => type === 'credential_refresh_failed'),
        );
        expect(told).toMatchObject({ tool_server: tools.name, user_id: 'hugo' });
      }
      expect(provider.asked.filter((token) => token === 'refresh-of-hugo')).toHaveLength(1);
      expect(tools.requests.filter(({ body }) => threads.includes(body.group_id))).toHaveLength(0);
    });
  });

  // Before the master key is another one.
  describe('two ingress gateways', () => {
    it('F1 F2 fire each time of a schedule once', async () => {
      others.push(await startAnother('ingress-gateway', at, urls));
      const quiet = await scriptedAgent(at, [[{ text: 'noted' }]], { tool_servers: [] });
      const names = Array.from({ length: 6 }, (_, nth) => `raced-${nth}`);
      for (const name of names) {
        const body = { name, cron: '* * * * *', time_zone: 'UTC', agent: quiet, message: 'It is {{/scheduled_for}}.' };
        expect((await at.request('POST', '/v1/schedules', body)).status).toBe(201);
      }
      const listed = async () =>
        (await at.request('GET', '/v1/schedules')).json.data.filter(({ name }: { name: string }) =>
          names.includes(name),
        ) as readonly { readonly name: string; readonly fired: number }[];
      const until = Date.now() + 150_000;
      while ((await listed()).some(({ fired }) => fired < 1) && Date.now() < until) await sleep(500);
      for (const name of names) await at.request('DELETE', `/v1/schedules/${name}`);
      const threads = (await at.request('GET', `/v1/threads?agent=${quiet}&limit=200`)).json.data;
      const fired = await Promise.all(
        threads.map(async ({ id }: { id: string }) =>
          (await eventsOf(at, id)).flatMap(({ type, schedule }) =>
            type === 'message_accepted' ? [`${schedule.name} ${schedule.scheduled_for}`] : [],
          ),
        ),
      );
      const all = fired.flat();
      expect(new Set(all).size).toBe(all.length);
      expect(fired.every((each) => each.length === 1)).toBe(true);
      expect(new Set(all.map((each) => each.split(' ')[0]))).toEqual(new Set(names));
      await endOthers();
    });
  });

  describe('five ingress gateways', () => {
    it('R1 seal each value again once, and what they have sealed opens without the old key', async () => {
      const values = 40;
      for (let nth = 0; nth < values; nth += 1)
        await at.request('PUT', `/v1/secrets/raced_${nth}`, { value: `value-${nth}`, origins: [tools.url] });
      const before = await sealedCount();
      const oldKey = readFileSync(join(at.directory, 'master-key'), 'utf8').trim();
      const newKey = randomBytes(32).toString('hex');
      const both = { DORMOUSE_MASTER_KEY: `${newKey}@2020-01-01T00:00:00Z,${oldKey}` };
      for (let nth = 0; nth < 5; nth += 1) others.push(await startAnother('ingress-gateway', at, urls, both));
      const reseal = ({ url }: AnotherProcess) => request(url, at.key, 'POST', '/v1/master-key/reseal');
      const answers = await Promise.all(others.map(reseal));
      expect(answers.map(({ status }) => status)).toEqual(others.map(() => 200));
      const resealed = answers.reduce((sum, { json }) => sum + (json.resealed as number), 0);
      expect(resealed).toBe(before);
      expect(answers.filter(({ json }) => json.resealed > 0).length).toBeGreaterThanOrEqual(1);
      const again = await Promise.all(others.map(reseal));
      expect(again.map(({ json }) => [json.done, json.resealed, json.unreadable])).toEqual(
        others.map(() => [true, 0, []]),
      );
      await endOthers();
      const alone = { DORMOUSE_MASTER_KEY: `${newKey}@2020-01-01T00:00:00Z` };
      const last = await startAnother('tool-dispatcher', at, urls, alone);
      others.push(last);
      expect(last.output()).toContain('ready tool-dispatcher');
      await endOthers();
    });

    /** Values that are sealed in this database: secrets, the credentials of users, and the keys of families. */
    async function sealedCount(): Promise<number> {
      const secrets = (await at.request('GET', '/v1/secrets?limit=200')).json.data.length;
      const users = await Promise.all(
        ['warm', 'gina', 'hugo'].map(async (user) => (await at.request('GET', `/v1/users/${user}/credentials`)).json),
      );
      const families = await documentCount(urls, at, 'family_keys');
      return secrets + families + users.reduce((sum, { data }) => sum + data.length, 0);
    }
  });
});
