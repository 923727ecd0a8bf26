// Retention of one process without a platform key, by the development clock: what rests for the days of the setting
// goes, with its log and what only it named; what is open, used or needed stays.
import { verifyAudit } from '@dormouse/client';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, openThread, say } from './conversation.ts';
import { cleanUp, type Json, spawnStandalone, type Standalone, startStandalone } from './standalone-process.ts';

const dayMs = 86_400_000;
let at: Standalone;
beforeAll(async () => {
  const env = { DORMOUSE_RETENTION_DAYS: '30', DORMOUSE_AUDIT_RETENTION_DAYS: '60', DORMOUSE_DATA_DIR_WARN_BYTES: '1' };
  at = await startStandalone({ args: ['--log-level', 'info'], env });
});
afterAll(cleanUp);

const advance = (ms: number) => at.request('POST', '/v1/dev/clock', { advance_ms: ms });
const statusOf = async (thread: string): Promise<number> => (await at.request('GET', `/v1/threads/${thread}`)).status;

/** Days of waiting, then minutes until each of these is gone. */
async function rested(days: number, gone: readonly string[]): Promise<void> {
  await advance(days * dayMs);
  await eventually(async () => {
    await advance(61_000);
    const statuses = await Promise.all(gone.map(statusOf));
    return statuses.every((status) => status === 404);
  });
  for (let minute = 0; minute < 15; minute += 1) {
    await advance(61_000); // what is closed and gone for clients is removed ten minutes later
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function inFile(sql: string): readonly unknown[] {
  const file = new DatabaseSync(join(at.dataDir, 'dormouse.db'), { readOnly: true });
  const rows = file.prepare(sql).all();
  file.close();
  return rows.flatMap((row) => Object.values(row));
}

/** Names of all that are stored. */
const blobs = (): readonly unknown[] => inFile('SELECT sha256 FROM blobs');

/** Of the database, its log included. */
const pages = (): number => Number(inFile('PRAGMA page_count')[0]);

const metric = async (name: string): Promise<number> => {
  const { text } = await at.request('GET', '/metrics');
  return Number(new RegExp(`^${name}(?:\\{\\})? (\\S+)$`, 'm').exec(text)?.[1]);
};

describe('threads at rest', () => {
  it('go after their days, with what only they named, and leave a row in the audit', async () => {
    const large = 'A long story. '.repeat(10_000);
    const [idle, closed] = [await openThread(at), await openThread(at, 'assistant', { external_id: 'order-7' })];
    await say(at, idle, large);
    const blob = (await eventsOf(at, idle)).find(({ type }) => type === 'message_accepted').content[0].blob;
    expect(blobs()).toEqual([`${blob}/${idle}`]); // of its family
    await say(at, closed, 'Hello');
    await at.request('POST', `/v1/threads/${closed}/close`);
    await rested(31, [idle, closed]);
    expect((await at.request('GET', '/v1/threads')).text).not.toContain(idle);
    expect((await at.request('GET', `/v1/threads/${idle}/events`)).status).toBe(404);
    expect((await at.request('POST', `/v1/threads/${closed}/messages`, { text: 'Still there?' })).status).toBe(404);
    expect(blobs()).toEqual([]);
    expect(inFile('SELECT family FROM family_keys')).toEqual([]);
    const rows: readonly Json[] = (await at.request('GET', '/v1/audit?action=threads.removed')).json.data;
    expect(rows.map(({ actor, from }) => [actor, from])).toEqual(rows.map(() => ['retention', null]));
    const outcomes = rows.map(({ outcome }) => /^(\d+) threads, (\d+) bytes$/.exec(outcome)?.slice(1).map(Number));
    expect(outcomes.reduce((sum, [threads = 0] = []) => sum + threads, 0)).toBe(2);
    expect(outcomes.reduce((sum, [, bytes = 0] = []) => sum + bytes, 0)).toBeGreaterThan(large.length);
    expect(await metric('dormouse_retention_threads_total')).toBe(2);
    expect(await metric('dormouse_retention_bytes_total')).toBeGreaterThan(large.length);
    expect(at.output()).toContain('"event":"retention_removed"');
    const again = await at.request('POST', '/v1/threads', { agent: 'assistant', external_id: 'order-7' });
    expect([again.status, again.json.id === closed]).toEqual([201, false]);
  });

  it('stay while something is open, and while a fork begins with them', async () => {
    const sleeping = await openThread(at);
    await say(at, sleeping, 'Sleep for 9000000 seconds.');
    const source = await openThread(at);
    await say(at, source, 'Hello');
    await advance(20 * dayMs);
    const fork = await at.request('POST', `/v1/threads/${source}/fork`, { position: 3 });
    expect(fork.status, fork.text).toBe(201);
    const alone = await openThread(at);
    await say(at, alone, 'Hello');
    await rested(15, []);
    expect(await Promise.all([sleeping, source, fork.json.id, alone].map(statusOf))).toEqual([200, 200, 200, 200]);
    await rested(17, [fork.json.id, source, alone]);
    expect(await statusOf(sleeping)).toBe(200);
    expect((await at.request('GET', `/v1/threads/${sleeping}`)).json.status).toBe('waiting');
  });

  it('give their place in the file to those that come later', async () => {
    const fill = async (): Promise<readonly string[]> => {
      const threads: string[] = [];
      for (let nth = 0; nth < 12; nth += 1) {
        const thread = await openThread(at);
        await say(at, thread, `${nth} `.repeat(150_000));
        threads.push(thread);
      }
      return threads;
    };
    await rested(31, await fill());
    const before = pages();
    await rested(31, await fill());
    expect(before).toBeGreaterThan(900); // of 4 KiB: twelve messages of 300 KB
    expect(pages()).toBeLessThan(before * 1.1);
  });
});

describe('an audit that is kept for a time', () => {
  it('begins with the signed root of what was removed', async () => {
    await at.request('PUT', '/v1/secrets/early', { value: 'v', origins: ['https://a.example'] });
    await advance(70 * dayMs);
    const rows = async (): Promise<readonly Json[]> => (await at.request('GET', '/v1/audit?limit=200')).json.data;
    await eventually(async () => {
      await advance(3_700_000);
      return (await rows()).some(({ action }) => action === 'audit.trimmed');
    });
    expect((await rows())[0]?.seq).toBeGreaterThan(1);
    const lines = (await at.request('GET', '/v1/audit/export')).text.split('\n');
    const { keys } = (await at.request('GET', '/v1/audit/keys')).json;
    const verdict = await verifyAudit(lines, keys);
    expect(verdict).toMatchObject({ ok: true, signature: 'checked', removed: JSON.parse(lines[0] ?? '').root.seq });
    expect(await verifyAudit(lines.slice(1), keys)).toMatchObject({ ok: false, line: 1 });
  });
});

describe('the bound of the data directory', () => {
  it('is reported in the log and in the metrics, and refuses nothing', async () => {
    await eventually(async () => at.output().includes('"event":"data_directory_large"'));
    expect(await metric('dormouse_data_directory_bytes')).toBeGreaterThan(10_000);
    expect(await metric('dormouse_data_directory_warn_bytes')).toBe(1);
    expect(await statusOf(await openThread(at))).toBe(200);
  });
});

it.each([
  ['DORMOUSE_RETENTION_DAYS', '0'],
  ['DORMOUSE_RETENTION_DAYS', '-1'],
  ['DORMOUSE_RETENTION_DAYS', '40000'],
  ['DORMOUSE_AUDIT_RETENTION_DAYS', '1.5'],
  ['DORMOUSE_DATA_DIR_WARN_BYTES', '0'],
])('%s=%s is refused at the start', async (name, value) => {
  const child = spawnStandalone(['--data', join(at.dataDir, 'none')], { [name]: value });
  expect(await child.exit).not.toBe(0);
  expect(child.output()).toContain(`${name}: must be`);
});
