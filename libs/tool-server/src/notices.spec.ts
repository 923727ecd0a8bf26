import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bench, nextId, temporaryFolder } from './spec/bench.ts';
import { eventually, quiet } from './spec/callback-sink.ts';
import { defineTool } from './define/tool.ts';

const input = z.strictObject({ ms: z.number().default(0) });
const stopped: string[] = [];
const slow = defineTool({ name: 'slow', description: 'Takes a while.', input }, async ({ ms }, { id, signal }) => {
  signal.addEventListener('abort', () => stopped.push(id));
  await sleep(ms, undefined, { signal });
  return 'done';
});
const talkative = defineTool(
  { name: 'talkative', description: 'Has a last word.', input, onCancel: 'answer' },
  async ({ ms }, { signal }) => {
    await sleep(ms, undefined, { signal }).catch(() => {});
    return 'as far as I came';
  },
);
const tools = [slow, talkative];
const notices = ['/close_thread', '/cancel_tool_call'] as const;

describe('notices', () => {
  it('T4 both are served on the base URL', async () => {
    const at = await bench({ tools });
    expect((await at.post('/close_thread', { thread_id: 'thr_1' })).status).toBe(200);
    expect((await at.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: 'call_x' })).status).toBe(200);
  });

  it.each([
    ['unknown ids', { thread_id: 'nobody', tool_call_id: 'nothing' }],
    ['missing ids', {}],
    ['other types', { thread_id: 7, tool_call_id: null }],
    ['no JSON', 'not json'],
    ['too much', 'x'.repeat(2_100_000)],
  ])('T35 T36 are answered 200 with nothing, twice, for %s', async (_what, body) => {
    const at = await bench({ tools });
    for (const path of [...notices, ...notices]) {
      const response = await at.post(path, body);
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
  });

  it('T35 are answered 200 when the cleanup fails, which is logged', async () => {
    const clumsy = defineTool(
      {
        name: 'clumsy',
        description: 'Fails to forget.',
        input,
        forget: () => Promise.reject(new Error('no such folder')),
      },
      () => 'done',
    );
    const at = await bench({ tools: [clumsy] });
    const response = await at.post('/close_thread', { thread_id: 'thr_1' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    await eventually(() => at.log.join('\n').includes('no such folder'), 'the log line');
  });

  it('T36 T37 a cancelled call stops, and so do all calls of a closed thread; others go on', async () => {
    const at = await bench({ tools });
    const [one, two, three] = [
      await at.invoke('slow', { ms: 60_000 }),
      await at.invoke('slow', { ms: 60_000 }, { group_id: 'thr_2' }),
      await at.invoke('slow', { ms: 100 }, { group_id: 'thr_3' }),
    ];
    await quiet(20);
    await at.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: one });
    await at.post('/cancel_tool_call', { thread_id: 'thr_9', tool_call_id: three });
    await at.post('/close_thread', { thread_id: 'thr_2' });
    await at.sink.resultOf(three);
    await quiet(30);
    expect(stopped).toEqual(expect.arrayContaining([one, two]));
    expect(at.sink.delivered.length).toBe(1); // the other two are cancelled: no result is due
  });

  it('T36 a cancellation that overtakes its call keeps it from beginning', async () => {
    const at = await bench({ tools });
    const id = nextId();
    await at.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: id });
    expect(await at.ask('slow', {}, { id })).toBe('Error: the call was cancelled before it began.');
  });

  it('T36 a cancellation after the result changes nothing', async () => {
    const at = await bench({ tools });
    const id = await at.invoke('slow');
    await at.sink.resultOf(id);
    for (let times = 0; times < 2; times += 1)
      expect((await at.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: id })).status).toBe(200);
    await quiet();
    expect(at.sink.delivered.length).toBe(1);
  });

  it('T40 a tool may have its last word after a cancellation', async () => {
    const at = await bench({ tools });
    const id = await at.invoke('talkative', { ms: 60_000 });
    await quiet(20);
    await at.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: id });
    expect((await at.sink.resultOf(id)).text).toBe('as far as I came');
  });

  it('T37 a thread that is closed, or silent for long, is forgotten', async () => {
    const forgotten: string[] = [];
    const keeper = defineTool(
      { name: 'keeper', description: 'Keeps things.', input, forget: (threadId) => void forgotten.push(threadId) },
      (_given, { memory }) => {
        const before = memory.get('count') ?? 0;
        memory.set('count', Number(before) + 1);
        return { before };
      },
    );
    const at = await bench({ tools: [keeper], limits: { threadMsMax: 40 } });
    expect(await at.ask('keeper')).toBe('{"before":0}');
    expect(await at.ask('keeper')).toBe('{"before":1}');
    expect(await at.ask('keeper', {}, { group_id: 'child', thread_ancestors: ['thr_1', 'x'] })).toBe('{"before":2}');
    await at.post('/close_thread', { thread_id: 'thr_1' });
    await eventually(() => forgotten.includes('thr_1'), 'the closing');
    expect(await at.ask('keeper')).toBe('{"before":0}');
    await quiet(60);
    at.server.sweep();
    await eventually(() => forgotten.filter((id) => id === 'thr_1').length === 2, 'the time limit');
    expect(await at.ask('keeper')).toBe('{"before":0}');
  });

  it.each(['../../x', '..\\x', "'; DROP TABLE calls; --", '\u0000', '%2e%2e/', '__proto__'])(
    'T39 ids are text and nothing else: %j',
    async (odd) => {
      const dataDir = await temporaryFolder();
      const at = await bench({ tools, dataDir });
      const before = await readdir(dataDir);
      expect(await at.ask('slow', {}, { id: `${odd}1`, group_id: odd })).toBe('done');
      await at.post('/cancel_tool_call', { thread_id: odd, tool_call_id: odd });
      await at.post('/close_thread', { thread_id: odd });
      expect(await at.ask('slow', {}, { id: `${odd}2`, group_id: odd })).toBe('done');
      expect(await readdir(dataDir)).toEqual(before);
    },
  );
});
