import { existsSync, readFileSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, scriptedAgent, untilEvent, untilStatus } from './conversation.ts';
import { openStream, openStreamOf } from './event-stream.ts';
import { cleanUp, scratchDirectory, spawnStandalone, startStandalone } from './standalone-process.ts';
import { slownessOfMachine } from '../machine-pace.ts';
import { freePort } from '../services/free-ports.ts';

afterAll(cleanUp);

/** Runs until it ends by itself: the exit code and the output. */
async function failedStart(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawnStandalone(args, env);
  const code = await child.exit;
  return { code, output: child.output() };
}

/** Processor time of a process so far, in milliseconds; null where the system does not tell. */
function processorMs(pid: number | undefined): number | null {
  if (process.platform !== 'linux') return null;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10; // in hundredths of a second
}

const clear = (output: string): void => {
  expect(output).not.toMatch(/\n\s+at .+:\d+/);
  expect(output).not.toMatch(/^ready /m);
};

describe('a standalone process', () => {
  it('says where it is, where the key is and what to type; the last line is for programs', async () => {
    const at = await startStandalone();
    expect(at.output()).toContain(at.url);
    expect(at.output()).toContain(join(at.dataDir, 'key'));
    expect(at.output()).toContain(at.key);
    expect(at.output().trimEnd().split('\n').at(-1)).toBe(`ready ${at.url}`);
    await at.stop();
    const again = await startStandalone({ dataDir: at.dataDir, port: at.port });
    expect(again.key).toBe(at.key);
    expect(again.output()).not.toContain(at.key);
    await again.stop();
  });

  it('starts again with less than three seconds of processor time, and with everything it had', async () => {
    const at = await startStandalone();
    const thread = await openThread(at);
    await say(at, thread, 'What is the weather in Lisbon?');
    const before = await eventsOf(at, thread);
    expect(await at.stop()).toBe(0);
    const again = await startStandalone({ dataDir: at.dataDir, port: at.port });
    // Not by the clock: the machine may be busy with other tests.
    expect((processorMs(again.process.pid) ?? 0) / slownessOfMachine()).toBeLessThan(3_000);
    expect(await eventsOf(again, thread)).toEqual(before);
    expect(await say(again, thread, 'What is the weather in Oslo?')).toMatchObject({ status: 'idle' });
    await again.stop();
  });

  it('goes on after a kill with what was pending', async () => {
    const at = await startStandalone();
    const agent = await scriptedAgent(at, [
      [{ tool_call: { name: 'weather', arguments: { city: 'Oslo' } } }],
      [{ wait_ms: 2_000 }, { text: 'it is cold' }],
    ]);
    const thread = await openThread(at, agent);
    expect((await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' })).status).toBe(202);
    await at.stop('SIGKILL');
    const again = await startStandalone({ dataDir: at.dataDir, port: at.port });
    await untilEvent(again, thread, 'tool_call_settled'); // before its turn began the thread was idle too
    await untilStatus(again, thread, 'idle');
    const messages = (await again.request('GET', `/v1/threads/${thread}/messages`)).json.data;
    expect(messages.filter(({ role }: { role: string }) => role === 'assistant')).toMatchObject([
      { text: 'it is cold' },
    ]);
    await again.stop();
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'drains on %s and exits with 0, with streams and waits open',
    async (signal) => {
      const at = await startStandalone();
      const agent = await scriptedAgent(at, [
        [{ tool_call: { name: 'slow_job', arguments: { seconds: 60 } } }],
        [{ text: 'late' }],
      ]);
      const thread = await openThread(at, agent);
      const stream = await openStream(at, thread);
      const everything = await openStreamOf(at, '/v1/events');
      const waits = at.request(
        'POST',
        `/v1/threads/${thread}/messages`,
        { text: 'go' },
        { headers: { prefer: 'wait=60' } },
      );
      await untilStatus(at, thread, 'waiting');
      const began = Date.now();
      const code = await at.stop(signal);
      expect(code).toBe(0);
      expect(Date.now() - began).toBeLessThan(5_000 * slownessOfMachine());
      expect((await waits).status).toBe(202);
      while ((await everything.next()) !== null); // it was ended, not cut off
      stream.close();
    },
  );

  it('takes signals that come together for one', async () => {
    const at = await startStandalone();
    const stream = await openStream(at, await openThread(at, await scriptedAgent(at, [[{ text: 'ok' }]])));
    const ended = at.stop('SIGINT');
    for (const signal of ['SIGTERM', 'SIGINT'] as const) at.process.kill(signal);
    expect(await ended).toBe(0);
    stream.close();
  });

  it('ends at once when it is told a second time', async () => {
    const at = await startStandalone();
    const agent = await scriptedAgent(at, [[{ wait_ms: 60_000 }, { text: 'late' }]], { tool_servers: [] });
    const thread = await openThread(at, agent);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    await untilStatus(at, thread, 'thinking');
    const ended = at.stop(); // waits for the model
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(at.process.exitCode).toBeNull();
    at.process.kill('SIGINT');
    expect(await ended).toBe(130);
    const again = await startStandalone({ dataDir: at.dataDir, port: at.port });
    await untilStatus(again, thread, 'thinking');
    await again.stop('SIGKILL');
  });

  it('refuses a port that is taken, and leaves no data directory', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    const directory = join(await scratchDirectory(), 'not', 'yet');
    const { code, output } = await failedStart(['--data', directory, '--port', String(port)]);
    expect(code).toBe(1);
    expect(output).toContain(`port ${port} is in use`);
    expect(output).toContain('--port');
    clear(output);
    const unhealthy = await failedStart(['--data', directory, '--port', '0', '--health-port', String(port)]);
    other.close();
    expect(unhealthy).toMatchObject({ code: 1, output: expect.stringContaining('--health-port') });
    for (const args of [
      ['--host', '192.0.2.1', '--port', '0'],
      ['--log-level', 'loud'],
    ])
      expect((await failedStart(['--data', directory, ...args])).code).toBe(1);
    expect(existsSync(dirname(directory))).toBe(false);
  });

  it('refuses a data directory that another process uses', async () => {
    const at = await startStandalone();
    const { code, output } = await failedStart(['--data', at.dataDir, '--port', '0']);
    expect(code).toBe(1);
    expect(output).toContain('DATA_DIR_IN_USE');
    clear(output);
    expect((await at.request('GET', '/v1/agents')).status).toBe(200);
    await at.stop();
  });

  it.each(['a file', 'below a file', 'where nothing can be made'])(
    'refuses a data directory that is %s',
    async (which) => {
      const file = join(await scratchDirectory(), 'file');
      await writeFile(file, '');
      const directory = { 'a file': file, 'below a file': join(file, 'deep', 'down') }[which] ?? '/proc/nothing/here';
      const { code, output } = await failedStart(['--data', directory, '--port', '0']);
      expect(code).toBe(1);
      expect(output).toContain('DATA_DIR_UNWRITABLE');
      clear(output);
    },
  );

  it('refuses a database that is damaged', async () => {
    const at = await startStandalone();
    await at.stop();
    const file = join(at.dataDir, 'dormouse.db');
    const bytes = await readFile(file);
    await chmod(file, 0o600);
    await writeFile(file, Buffer.concat([Buffer.from('this is not a database'), bytes.subarray(22)]));
    const { code, output } = await failedStart(['--data', at.dataDir, '--port', '0']);
    expect(code).toBe(1);
    expect(output).toContain('DATABASE_CORRUPT');
    clear(output);
  });

  it('refuses a database of a newer version', async () => {
    const at = await startStandalone();
    await at.stop();
    const database = new DatabaseSync(join(at.dataDir, 'dormouse.db'));
    database.exec('PRAGMA user_version = 9999');
    database.close();
    const { code, output } = await failedStart(['--data', at.dataDir, '--port', '0']);
    expect(code).toBe(1);
    expect(output).toContain('DATABASE_NEWER');
    clear(output);
  });

  it('names every setting that is wrong, and repeats no value', async () => {
    const { code, output } = await failedStart(['--port', 'harbour', '--colour', 'red'], {
      DORMOUSE_LOG_LEVEL: 'loud-canary',
      DORMOUSE_PROT: '1',
    });
    expect(code).toBe(1);
    for (const name of ['--port', '--colour', 'DORMOUSE_LOG_LEVEL', 'DORMOUSE_PROT']) expect(output).toContain(name);
    expect(output).not.toMatch(/harbour|canary/);
    clear(output);
  });

  it('refuses half of the settings of a cluster, and names the other half', async () => {
    const { code, output } = await failedStart(['--data', await scratchDirectory(), '--port', '0'], {
      DORMOUSE_KAFKA_BROKERS: 'k:9092',
    });
    expect(code).toBe(1);
    for (const missing of ['DORMOUSE_MONGO_URL', 'DORMOUSE_REDIS_URL', 'DORMOUSE_MASTER_KEY'])
      expect(output).toContain(missing);
    clear(output);
  });

  it('prints every setting with its default on --help', async () => {
    const { code, output } = await failedStart(['--help']);
    expect(code).toBe(0);
    for (const name of [
      'DORMOUSE_PORT',
      '--port',
      '7420',
      'DORMOUSE_DATA_DIR',
      'DORMOUSE_OUTBOUND_ALLOW',
      'DORMOUSE_TOOL_RETRY_TOTAL_MS',
    ])
      expect(output).toContain(name);
  });

  it('moves time for who develops', async () => {
    const at = await startStandalone();
    const now = (): Promise<number> =>
      at.request('POST', '/v1/dev/clock', { advance_ms: 0 }).then(({ json }) => Date.parse(json.now));
    const before = await now();
    await at.request('POST', '/v1/dev/clock', { advance_ms: 3 * 86_400_000 });
    expect((await now()) - before).toBeGreaterThanOrEqual(3 * 86_400_000);
    const agent = await scriptedAgent(
      at,
      [[{ tool_call: { name: 'slow_job', arguments: { seconds: 60 } } }], [{ text: 'gave up' }]],
      { limits: { tool_timeout_ms: { slow_job: 86_400_000 } } },
    );
    const thread = await openThread(at, agent);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    await untilStatus(at, thread, 'waiting');
    await at.request('POST', '/v1/dev/clock', { advance_ms: 2 * 86_400_000 });
    await untilStatus(at, thread, 'idle');
    expect((await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data).toMatchObject([
      { outcome: 'timed_out' },
    ]);
    await at.stop();
  });
});
