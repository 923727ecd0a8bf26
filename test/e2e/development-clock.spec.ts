// The development clock is only for the local user of a process without a proxy: a proxy reaches loopback too.
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, untilStatus } from './conversation.ts';
import {
  cleanUp,
  request,
  scratchDirectory,
  spawnStandalone,
  type Standalone,
  startStandalone,
} from './standalone-process.ts';

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

it('refuses to go further than a thousand years, as a mistake of the request', async () => {
  const dataDir = await scratchDirectory();
  await writeFile(join(dataDir, 'clock-offset'), String(1_000 * 365 * 86_400_000 - 1_000));
  const at = await startStandalone({ dataDir, args: ['--no-example-tools'] });
  const { status, json } = await at.request('POST', '/v1/dev/clock', { advance_ms: 60_000 });
  expect([status, json.code, json.errors[0].pointer]).toEqual([422, 'INVALID_BODY', '/advance_ms']);
});

describe('a process that starts again', () => {
  const threeDaysMs = 3 * 86_400_000;
  const advance = async (at: Standalone, ms: number): Promise<number> => {
    const { status, json } = await at.request('POST', '/v1/dev/clock', { advance_ms: ms });
    expect(status).toBe(200);
    return Date.parse(json.now);
  };

  it('goes on with the clock that was moved, so that a thread of the future sleeps as long as it says', async () => {
    const first = await startStandalone();
    const thread = await openThread(first, 'assistant');
    await advance(first, threeDaysMs - 1_000);
    const before = await advance(first, 1_000);
    expect(await say(first, thread, 'Sleep for 1 second.')).toMatchObject({ status: 'waiting' });
    await untilStatus(first, thread, 'idle');
    expect(first.output()).not.toContain('ahead');
    await first.stop('SIGKILL');
    const copied = await scratchDirectory();
    await cp(first.dataDir, copied, { recursive: true });
    for (const dataDir of [first.dataDir, copied]) {
      const again = await startStandalone({ dataDir });
      expect(again.output()).toContain('3d 0h ahead of the machine');
      expect(await advance(again, 0)).toBeGreaterThan(before);
      expect(await say(again, thread, 'Sleep for 2 seconds.')).toMatchObject({ status: 'waiting' });
      await untilStatus(again, thread, 'idle');
      const { at, due } = (await eventsOf(again, thread)).findLast(({ type }) => type === 'timer_set');
      expect(Date.parse(due) - Date.parse(at)).toBeLessThan(10_000);
      await again.stop();
    }
  });

  it.each(['-5', 'tomorrow', '', '1e400', '99999999999999999'])(
    'refuses a kept offset that reads "%s", and names its file',
    async (text) => {
      const dataDir = await scratchDirectory();
      await writeFile(join(dataDir, 'clock-offset'), text);
      const child = spawnStandalone(['--data', dataDir, '--port', '0', '--no-example-tools']);
      expect(await child.exit).toBe(1);
      expect(child.output()).toContain(`The file ${join(dataDir, 'clock-offset')} is damaged`);
      expect(child.output()).not.toMatch(/\n\s+at /);
      expect(await readFile(join(dataDir, 'clock-offset'), 'utf8')).toBe(text);
    },
  );
});
