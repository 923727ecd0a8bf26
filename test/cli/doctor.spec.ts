// `dormouse doctor` beside real processes, each fault really there: what is found, what it says to do, the exit code.
import { tenantId } from '@dormouse/ports';
import { openSqlite } from '@dormouse/adapter-sqlite';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionFlags, runCli } from './cli-process.ts';
import { eventually, openThread, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';

interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly next: string | null;
}

async function doctor(...flags: readonly string[]) {
  const { code, stdout } = await runCli(['doctor', '--json', ...flags]);
  const findings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);
  const found = (check: string): Finding | undefined => findings.find((finding) => finding.check === check);
  return { code, findings, found };
}

const closing: (() => Promise<unknown> | void)[] = [];
let at: Standalone;
let operations: string;
let parked: string;

/** A real process with a thread that an input has poisoned. */
beforeAll(async () => {
  const before = await startStandalone();
  parked = await openThread(before);
  await untilStatus(before, parked, 'idle');
  await before.stop();
  const port = await freePort();
  operations = `http://127.0.0.1:${port}`;
  at = await startStandalone({
    dataDir: before.dataDir,
    port: before.port,
    env: { DORMOUSE_HEALTH_PORT: String(port) },
  });
});
afterAll(async () => {
  for (const close of closing) await close();
  await cleanUp();
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A proxy to the runtime that sets the clock of its answers. */
function withSkew(skewMs: number): Promise<string> {
  return listen(
    createServer((request, response) => {
      const headers = { authorization: request.headers.authorization ?? '' };
      void fetch(at.url + (request.url ?? ''), { method: request.method ?? 'GET', headers }).then(async (answer) => {
        response.writeHead(answer.status, { date: new Date(Date.now() + skewMs).toUTCString() });
        response.end(await answer.text());
      });
    }),
  );
}

describe('an installation in order', () => {
  it('has no failure, and each check says what it saw', async () => {
    const { code, findings, found } = await doctor(
      ...connectionFlags(at),
      '--operations',
      operations,
      '--callbacks',
      at.url,
    );
    expect(findings.filter(({ level, check }) => level === 'fail' && check !== 'disk')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      ...['reachable', 'clock', 'version', 'ready', 'key', 'callbacks', 'parked', `ready ${operations}`],
      ...['lag', 'waits', 'disk', 'data'],
    ]);
    expect(found('key')?.detail).toContain('tenant:admin');
    expect(found('disk')?.detail).toMatch(/^\d+ MiB are free$/);
    expect(found('data')?.detail).toMatch(/^\d+ MiB are in use, without a bound$/);
    expect(code).toBe(
      findings.every(({ level }) => level === 'ok') ? 0 : findings.some(({ level }) => level === 'fail') ? 2 : 1,
    );
  });

  it('is shown to people line by line, with what to do', async () => {
    const { stdout } = await runCli(['doctor', ...connectionFlags(at), '--callbacks', 'http://127.0.0.1:9']);
    expect(stdout).toMatch(/^ok {4}reachable: /m);
    expect(stdout).toMatch(/^fail {2}callbacks: nothing answers .*\n {6}→ Tool servers call this address/m);
  });
});

describe('a fault', () => {
  it('of the address: nothing answers there, and nothing more is asked', async () => {
    const { code, findings } = await doctor('--url', 'http://127.0.0.1:9', '--key', 'any');
    expect([code, findings.map(({ check, level }) => [check, level])]).toEqual([2, [['reachable', 'fail']]]);
  });

  it('of the key: it is not accepted; or it has too few scopes', async () => {
    const unknown = await doctor('--url', at.url, '--key', 'dm_unknown_key_of_nobody');
    expect([unknown.code, unknown.found('key')?.level]).toEqual([2, 'fail']);
    const { key } = (await at.request('POST', '/v1/api-keys', { name: 'reader', scopes: ['read'] })).json;
    const few = await doctor('--url', at.url, '--key', key);
    expect([few.found('key')?.level, few.found('key')?.detail]).toEqual(['warn', 'it lacks the scope tenant:admin']);
    expect(few.found('parked')?.level).toBe('warn');
  });

  it.each([
    [20_000, 'warn'],
    [-300_000, 'fail'],
  ] as const)('of the clock: off by %i ms', async (skewMs, level) => {
    const { found } = await doctor('--url', await withSkew(skewMs), '--key', at.key);
    expect(found('clock')).toMatchObject({ level, next: expect.stringContaining('timedatectl set-ntp true') });
  });

  it('of the callback address: nothing, or another program, answers there', async () => {
    const other = await listen(createServer((_, response) => response.end('welcome')));
    for (const [callbacks, words] of [
      ['http://127.0.0.1:9', 'nothing answers'],
      [other, 'not as Dormouse does'],
    ] as const) {
      const { code, found } = await doctor(...connectionFlags(at), '--callbacks', callbacks);
      expect([code, found('callbacks')?.detail]).toEqual([2, expect.stringContaining(words)]);
    }
  });

  it('of the program: something else answers at the address', async () => {
    const other = await listen(createServer((_, response) => response.end('welcome')));
    const { code, found } = await doctor('--url', other, '--key', at.key);
    expect([code, found('version')?.level]).toEqual([2, 'fail']);
  });

  it('of a service: it waits for Kafka, and the reason is its own', async () => {
    const health = await freePort();
    const main = fileURLToPath(new URL('../../apps/callback-gateway/dist/main.js', import.meta.url));
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
    const child = spawn(process.execPath, [main], {
      env: {
        ...inherited,
        DORMOUSE_KAFKA_BROKERS: '127.0.0.1:9',
        DORMOUSE_MONGO_URL: 'mongodb://127.0.0.1:9/none',
        DORMOUSE_REDIS_URL: 'redis://127.0.0.1:9',
        DORMOUSE_MASTER_KEY: 'a'.repeat(64),
        DORMOUSE_HEALTH_PORT: String(health),
        DORMOUSE_PORT: '0',
      },
      stdio: 'ignore',
    });
    closing.push(() => void child.kill('SIGKILL'));
    const service = `http://127.0.0.1:${health}`;
    const reason = await eventually(async () => {
      const { code, found } = await doctor(...connectionFlags(at), '--operations', service);
      const detail = found(`ready ${service}`)?.detail ?? '';
      return code === 2 && detail.includes('Kafka') && detail;
    });
    expect(reason).toContain('DORMOUSE_KAFKA_BROKERS');
  });

  it('of a thread: it is parked', async () => {
    await at.stop();
    const stores = await openSqlite({ directory: at.dataDir });
    const key = { tenant: tenantId('local'), thread: parked };
    await stores.parked.park(key, 'cannot decide', Date.now());
    await stores.close();
    at = await startStandalone({ dataDir: at.dataDir, port: at.port });
    const { code, found } = await doctor(...connectionFlags(at));
    expect(found('parked')).toMatchObject({
      level: 'warn',
      next: expect.stringMatching(/npx @dormouse\/cli parked --url http/) as string,
    });
    expect(code).toBeGreaterThan(0);
  });

  it('of a missing operations port: the metrics cannot be read, and that is said', async () => {
    const dead = 'http://127.0.0.1:9';
    const { found } = await doctor(...connectionFlags(at), '--operations', dead);
    expect([found(`ready ${dead}`)?.level, found('metrics')?.level]).toEqual(['fail', 'warn']);
  });

  it('of many records: lag, oldest wait and disk are judged by what the processes measure', async () => {
    const text = [
      'dormouse_consumer_lag{topic="inputs",partition="0"} 900',
      'dormouse_consumer_lag{topic="inputs",partition="1"} 200',
      'dormouse_oldest_wait_seconds{kind="tool_call"} 4000',
      'dormouse_disk_free_bytes 52428800',
      'dormouse_data_directory_bytes 3145728',
      'dormouse_data_directory_warn_bytes 2097152',
    ].join('\n');
    const metrics = await listen(
      createServer(({ url }, response) => response.end(url === '/metrics' ? text : '{"status":"ready"}')),
    );
    const { code, found } = await doctor(...connectionFlags(at), '--operations', metrics);
    expect(['lag', 'waits', 'disk', 'data'].map((check) => found(check)?.level)).toEqual([
      ...['warn', 'warn', 'fail', 'warn'],
    ]);
    expect(found('data')?.detail).toBe('3 MiB are in use, the bound is 2 MiB');
    expect([code, found('lag')?.detail]).toEqual([2, '1100 records wait, the oldest input for 0 s']);
  });
});
