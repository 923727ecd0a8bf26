import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Bench, bench, temporaryFolder } from '../spec/bench.ts';
import { quiet } from '../spec/callback-sink.ts';
import { defineTool } from '../define/tool.ts';

const input = z.strictObject({
  choices: z.array(z.string()).default(['Once', 'For this conversation', 'No']),
  fallback: z.number().default(2),
  timeoutMs: z.number().optional(),
});
const careful = defineTool(
  { name: 'careful', description: 'Asks first.', input, deadlineMs: 60 },
  async ({ choices, fallback, timeoutMs }, context) => {
    if (context.memory.get('allowed') === true) return 'allowed before';
    const { label } = await context.choose({ prompt: 'May I?', choices, default: fallback, timeoutMs });
    if (label === 'For this conversation') context.memory.set('allowed', true);
    return `chosen: ${label}`;
  },
);
const tools = [careful];

interface Question {
  readonly id: string;
  readonly response_url: string;
}

async function asked(at: Bench, given: object = {}): Promise<Question & Record<string, unknown>> {
  const before = at.sink.delivered.length;
  await at.invoke('careful', given, { call_id: 'p_1', group_id: 'thr_5' });
  const messages = await at.sink.until(before + 1);
  return JSON.parse(messages[before]?.body ?? '') as Question & Record<string, unknown>;
}

const answer = async (url: string, body: unknown): Promise<number> =>
  (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }))
    .status;

describe('a choice', () => {
  it('T43 is a message with choices, a valid default and an address of ours, and its answer ends in a result', async () => {
    const at = await bench({ tools });
    const { id, response_url: url, ...question } = await asked(at);
    expect(question).toEqual({
      type: 'user_choice',
      group_id: 'thr_5',
      call_id: 'p_1',
      prompt: 'May I?',
      choices: ['Once', 'For this conversation', 'No'],
      default: 2,
    });
    expect(url.startsWith(`${at.server.url}/choice/`)).toBe(true);
    await quiet(100); // longer than the deadline of the handler, which does not count the user's time
    expect(await answer(url, { id, selected: 0 })).toBe(200);
    expect((await at.sink.resultOf(id)).text).toBe('chosen: Once');
    expect(await answer(url, { id, selected: 1 })).toBe(200); // answers are posted at least once
    await quiet();
    expect(at.sink.delivered.length).toBe(2);
  });

  it.each([3, -1, 1.5, '0', null, undefined])('T43 answered with %j ends in an error result', async (selected) => {
    const at = await bench({ tools });
    const { id, response_url: url } = await asked(at);
    expect(await answer(url, { id, selected })).toBe(200);
    expect((await at.sink.resultOf(id)).text).toBe(
      'Error: the answer was none of the choices. Call again to ask again.',
    );
  });

  it('T43 does not take the answer of another call, nor one to an address that nobody gave', async () => {
    const at = await bench({ tools });
    const { id, response_url: url } = await asked(at);
    expect(await answer(url, { id: 'call_other', selected: 0 })).toBe(403);
    expect(await answer(`${at.server.url}/choice/guess`, { id, selected: 0 })).toBe(404);
    expect(await answer(url, { id, selected: 2 })).toBe(200);
    expect((await at.sink.resultOf(id)).text).toBe('chosen: No');
  });

  it('T43 that nobody answers ends in an error result', async () => {
    const at = await bench({ tools });
    const { id } = await asked(at, { timeoutMs: 30 });
    expect((await at.sink.resultOf(id)).text).toMatch(/^Error: the question was not answered in time/);
  });

  it('T43 for the whole conversation is remembered by the tool, also for its children', async () => {
    const at = await bench({ tools });
    const { id, response_url: url } = await asked(at);
    await answer(url, { id, selected: 1 });
    await at.sink.resultOf(id);
    expect(await at.ask('careful', {}, { group_id: 'child', thread_ancestors: ['thr_5'] })).toBe('allowed before');
    await at.post('/close_thread', { thread_id: 'thr_5' });
    expect((await asked(at))['type']).toBe('user_choice');
  });

  it('T26 T43 outlives a server that is closed and one of an older release, when its tool says that it may begin again', async () => {
    const dataDir = await temporaryFolder();
    const patient = [{ ...careful, onRestart: 'rerun_if_asking' as const }];
    const first = await bench({ tools: patient, dataDir });
    const { id, response_url: url } = await asked(first);
    await first.server.close();
    expect(first.sink.delivered.length).toBe(1); // no message about the end
    const second = await bench({ tools: patient, dataDir });
    expect(await answer(`${second.server.url}${new URL(url).pathname}`, { id, selected: 0 })).toBe(200);
    expect((await first.sink.resultOf(id)).text).toBe('chosen: Once');
    await second.server.close();
    const older = new DatabaseSync(join(dataDir, 'tool-server.db'));
    older.exec('DROP TABLE questions; ALTER TABLE calls DROP COLUMN asking; PRAGMA user_version = 1');
    older.close();
    const third = await bench({ tools: patient, dataDir });
    const again = await asked(third);
    await answer(again.response_url, { id: again.id, selected: 2 });
    expect((await third.sink.resultOf(again.id)).text).toBe('chosen: No');
  });

  it.each([
    ['no choices', { choices: [] }],
    ['a default that is none', { choices: ['a'], fallback: 1 }],
  ])('T43 with %s is never asked', async (_what, given) => {
    const at = await bench({ tools });
    expect(await at.ask('careful', given)).toMatch(/^Error: the tool broke \(RangeError\)/);
  });
});

describe('a view', () => {
  const draw = defineTool(
    { name: 'draw', description: 'Shows.', input: z.strictObject({ contents: z.array(z.looseObject({})) }) },
    async ({ contents }, context) => {
      for (const content of contents) await context.view('diff', content);
      return 'shown';
    },
  );

  it('T44 goes to the thread of the call, with its content unchanged', async () => {
    const at = await bench({ tools: [draw] });
    await at.invoke('draw', { contents: [{ patch: '@@', nested: [null, { a: 1.5 }] }] }, { group_id: 'thr_7' });
    await at.sink.until(2);
    expect(JSON.parse(at.sink.delivered[0]?.body ?? '')).toEqual({
      type: 'view_update',
      group_id: 'thr_7',
      view_type: 'diff',
      content: { patch: '@@', nested: [null, { a: 1.5 }] },
    });
  });

  it('T44 is cleared by an empty content, and only if there is something to clear', async () => {
    const at = await bench({ tools: [draw] });
    await at.ask('draw', { contents: [{}] });
    expect(at.sink.delivered.length).toBe(1);
    await at.ask('draw', { contents: [{ patch: '@@' }, {}, {}] });
    expect(at.sink.delivered.map((each) => each.callback.type)).toEqual([
      'tool_result',
      'view_update',
      'view_update',
      'tool_result',
    ]);
  });
});
