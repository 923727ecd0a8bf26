// Parked threads through the API and the command line: what an operator sees and does. A spec of the processor proves
// that a poisoned input parks its thread; here its store is filled by hand, and a real process continues from there.
import { tenantId } from '@dormouse/ports';
import { openSqlite } from '@dormouse/adapter-sqlite';
import { text } from '@dormouse/thread';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { eventually, eventsOf, openThread, untilStatus } from './conversation.ts';
import { cleanUp, type Standalone, startStandalone } from './standalone-process.ts';

let at: Standalone;
let thread: string;

/** As the processor leaves a thread that it has parked: a mark, its row, and the waiting inputs. */
beforeAll(async () => {
  const before = await startStandalone();
  thread = await openThread(before);
  await untilStatus(before, thread, 'idle');
  await before.stop();
  const stores = await openSqlite({ directory: before.dataDir });
  const key = { tenant: tenantId('local'), thread };
  await stores.parked.park(key, 'cannot decide', Date.now());
  const row = await stores.directory.get(key);
  if (row !== null) await stores.directory.project([{ ...row, status: 'parked' }]);
  for (const name of ['one', 'two', 'three'])
    await stores.parked.add(
      key,
      { kind: 'UserMessage', id: `c:${name}`, messageId: `msg_${name}`, content: [text(`say ${name}`)] },
      null,
      Date.now(),
    );
  await stores.close();
  at = await startStandalone({ dataDir: before.dataDir, port: before.port });
});
afterAll(cleanUp);

const accepted = async (): Promise<readonly string[]> =>
  (await eventsOf(at, thread)).filter(({ type }) => type === 'message_accepted').map((event) => event.message_id);

describe('a parked thread', () => {
  it('is listed and shown, with what waits in order', async () => {
    expect((await at.request('GET', '/v1/parked')).json.data).toMatchObject([
      { thread_id: thread, state: 'parked', reason: 'cannot decide' },
    ]);
    const { json } = await at.request('GET', `/v1/parked/${thread}`);
    expect(json.inputs).toMatchObject([
      { id: 'c:one', kind: 'user_message', dropped_at: null },
      { id: 'c:two' },
      { id: 'c:three' },
    ]);
    expect((await at.request('GET', '/v1/parked/thr_nobody')).json).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it('takes what is sent to it and decides nothing', async () => {
    expect((await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'four' })).status).toBe(202);
    await eventually(async () => (await at.request('GET', `/v1/parked/${thread}`)).json.inputs.length === 4);
    expect(await accepted()).toEqual([]);
  });

  it('is seen and steered from the command line', async () => {
    const where = ['--url', at.url, '--data', at.dataDir, '--json'];
    const listed = await runCli(['parked', 'list', ...where]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ thread_id: thread, state: 'parked' });
    const dropped = await runCli(['parked', 'drop', thread, 'c:two', ...where]);
    expect(JSON.parse(dropped.stdout)).toMatchObject({ id: 'c:two', dropped_at: expect.any(String) });
    const shown = await runCli(['parked', 'show', thread, ...where]);
    expect(JSON.parse(shown.stdout).inputs).toMatchObject([
      { id: 'c:one', dropped_at: null },
      { id: 'c:two', dropped_at: expect.any(String) },
      { id: 'c:three' },
      { kind: 'user_message' },
    ]);
    const told = (await runCli(['parked', 'show', thread, '--url', at.url, '--data', at.dataDir])).stdout;
    expect(told).toMatch(/^parked since .*: cannot decide\n\nINPUT +KIND +DROPPED\nc:one +user_message/);
    expect(told).toMatch(/\nc:two +user_message +20/);
    const asked = await runCli(['why', thread, '--url', at.url, '--data', at.dataDir]);
    expect(asked.stdout).toMatch(
      /^parked, .* ago: an input that fails every time; next: `dormouse parked show thr_\w+`\n/,
    );
    expect(asked.stdout).toContain('\nreason    cannot decide\n');
    expect((await runCli(['parked', 'drop', thread, 'c:nobody', ...where])).code).not.toBe(0);
    expect((await runCli(['parked', 'replay', thread, ...where])).code).toBe(0);
  });

  it('goes on after a replay: in order, without what was dropped, then what is new', async () => {
    await eventually(async () => (await at.request('GET', '/v1/parked')).json.data.length === 0);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'five' }, { headers: { prefer: 'wait=60' } });
    const ids = await accepted();
    expect(ids.slice(0, 2)).toEqual(['msg_one', 'msg_three']);
    expect(ids).toHaveLength(4);
    await untilStatus(at, thread, 'idle');
  });
});
