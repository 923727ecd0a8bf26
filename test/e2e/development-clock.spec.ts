// The development clock is only for the local user of a process without a proxy: a proxy reaches loopback too.
import { afterAll, expect, it } from 'vitest';
import { cleanUp, request, type Standalone, startStandalone } from './standalone-process.ts';

afterAll(cleanUp);

const statusAt = async ({ port, key }: Standalone, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
  (await request(`http://127.0.0.1:${port}`, key, 'POST', '/v1/dev/clock', { advance_ms: 0 }, { headers })).status;

it('is there for who asks on the machine itself, and not for what a proxy has passed on', async () => {
  const at = await startStandalone({ args: ['--no-example-tools'] });
  expect(await statusAt(at)).toBe(200);
  for (const name of ['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP'])
    expect([name, await statusAt(at, { [name]: '203.0.113.7' })]).toEqual([name, 404]);
});

it.each(['DORMOUSE_PUBLIC_URL', 'DORMOUSE_CALLBACK_BASE_URL'])(
  'is not there where %s is another host, though the process listens on loopback',
  async (name) => {
    const args = ['--no-example-tools'];
    expect(await statusAt(await startStandalone({ args, env: { [name]: 'https://agents.example' } }))).toBe(404);
    expect(await statusAt(await startStandalone({ args, env: { [name]: 'http://localhost:7420' } }))).toBe(200);
  },
);
