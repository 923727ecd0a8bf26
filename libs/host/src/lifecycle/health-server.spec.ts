import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type HealthServer, startHealthServer } from './health-server.ts';

let server: HealthServer | undefined;
afterEach(() => server?.close());

it('a process that waits is alive and not ready; one that stands still is not alive either', async () => {
  const says: { waits: string | null; stands: string | null } = { waits: 'no broker', stands: null };
  const { url } = (server = await startHealthServer('127.0.0.1', 0, {
    ready: async () => says.waits,
    stalled: () => says.stands,
    metrics: null,
  }));
  const statusOf = async (path: string): Promise<number> => (await fetch(url + path)).status;
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 503]);
  says.waits = null;
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);
  says.stands = 'nothing for 30 s';
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({
    status: 'stalled',
    reason: 'nothing for 30 s',
  });
  expect(await statusOf('/healthz')).toBe(503);
});

it('has metrics for a scraper that sends parameters too', async () => {
  const health = { ready: async () => null, stalled: () => null, metrics: async () => 'up 1\n' };
  server = await startHealthServer('127.0.0.1', 0, health);
  for (const path of ['/metrics', '/metrics?name[]=up'])
    expect(await (await fetch(`${server.url}${path}`)).text()).toBe('up 1\n');
  expect((await fetch(`${server.url}/metrics/more`)).status).toBe(404);
});

it('ends a request that is not finished in time, and what a peer has too many of', async () => {
  const health = { ready: async () => null, stalled: () => null, metrics: null };
  const limits = { requestTimeoutMs: 3_000, unfinishedBytesMax: 1, unfinishedPerPeerMax: 2 };
  const { url } = (server = await startHealthServer('127.0.0.1', 0, health, limits));
  const ends: string[] = [];
  const slow = ['one', 'two', 'three'].map((name) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\n'));
    socket.on('error', () => socket.destroy()).resume();
    return once(socket, 'close').then(() => ends.push(name));
  });
  await Promise.race(slow);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await Promise.all(slow); // those within the bound end when their time is over
  expect(ends).toHaveLength(3);
});
