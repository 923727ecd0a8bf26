import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type HealthServer, startHealthServer } from './health-server.ts';

let server: HealthServer | undefined;
afterEach(() => server?.close());

async function unusedPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

it('a process that waits is alive and not ready; one that stands still is not alive either', async () => {
  const says: { waits: string | null; stands: string | null } = { waits: 'no broker', stands: null };
  const port = await unusedPort();
  const statusOf = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  server = await startHealthServer('127.0.0.1', port, { ready: async () => says.waits, stalled: () => says.stands });
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 503]);
  says.waits = null;
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);
  says.stands = 'nothing for 30 s';
  expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()).toEqual({
    status: 'stalled',
    reason: 'nothing for 30 s',
  });
  expect(await statusOf('/healthz')).toBe(503);
});
