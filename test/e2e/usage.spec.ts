// Usage by agent, day and thread, and what the thread list shows, on both topologies.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, type System, untilStatus } from './conversation.ts';
import type { Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

const usage = async (query: string): Promise<Json> => (await at.request('GET', `/v1/usage?${query}`)).json;

/** The usage of one agent once it has this many completions: rows are projected a moment later. */
const usageOf = (agent: string, completions: number): Promise<Json> =>
  eventually(async () => {
    const { data } = await usage('group_by=agent&limit=1000');
    return data.find(({ key, completions: made }: Json) => key === agent && made === completions);
  });

describe('usage', () => {
  it('is counted by agent, by day and by thread, and each adds up to the total', async () => {
    const tool = { tool_call: { name: 'weather', arguments: { city: 'Oslo' } } };
    const agent = await scriptedAgent(at, [[tool], [{ text: 'cold' }], [{ text: 'still cold' }]]);
    const thread = await openThread(at, agent);
    await say(at, thread, 'How is it?');
    await say(at, thread, 'And now?');
    const counted = await usageOf(agent, 3);
    const shown = (await at.request('GET', `/v1/threads/${thread}`)).json.usage;
    expect(counted).toMatchObject(shown);
    expect(shown).toMatchObject({ completions: 3, tool_calls: 1 });
    expect(counted.cost_micros).toBeNull();
    const day = new Date().toISOString().slice(0, 10);
    for (const group of ['agent', 'day', 'thread']) {
      const { data, total } = await usage(`group_by=${group}&limit=1000&from=${day}`);
      const sum = data.reduce((so: number, { completions }: Json) => so + completions, 0);
      expect([group, sum]).toEqual([group, total.completions]);
    }
    const byThread = await usage(`group_by=thread&limit=1000`);
    expect(byThread.data.find(({ key }: Json) => key === thread)).toMatchObject(shown);
    const days = await usage('group_by=day');
    expect(days.data.at(-1).key >= day).toBe(true);
    expect(await usage('to=2020-01-02')).toMatchObject({
      data: [],
      total: { completions: 0 },
      to: '2020-01-02T00:00:00.000Z',
    });
  });

  it('is not counted again by a fork, and comes in pages', async () => {
    const agent = await scriptedAgent(at, [[{ text: 'one' }], [{ text: 'two' }]]);
    const thread = await openThread(at, agent);
    await say(at, thread, 'Say it');
    await usageOf(agent, 1);
    const { position } = (await at.request('GET', `/v1/threads/${thread}`)).json;
    const fork = await at.request('POST', `/v1/threads/${thread}/fork`, { position });
    await say(at, fork.json.id, 'Again');
    await usageOf(agent, 2);
    const keys: string[] = [];
    let cursor = '';
    do {
      const page: Json = await usage(`group_by=thread&limit=1${cursor}`);
      keys.push(...page.data.map(({ key }: Json) => key));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(keys).toEqual([...new Set(keys)].toSorted().toReversed());
    expect(keys).toEqual(expect.arrayContaining([thread, fork.json.id]));
  });

  it.each([
    ['from=2026-01-02&to=2026-01-01', '/to'],
    ['from=2020-01-01&to=2026-01-01', '/from'],
    ['from=yesterday', '/from'],
    ['group_by=moon', '/group_by'],
    ['colour=red', '/colour'],
  ])('cannot be asked with %s', async (query, pointer) => {
    const answer = await at.request('GET', `/v1/usage?${query}`);
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, pointer]);
  });

  it('is read with the scope `read`', async () => {
    const { key } = (await at.request('POST', '/v1/api-keys', { name: 'k', scopes: ['threads:write'] })).json;
    expect((await at.request('GET', '/v1/usage', undefined, { key })).status).toBe(403);
  });
});

describe('the thread list', () => {
  const row = async (thread: string): Promise<Json> =>
    (await at.request('GET', '/v1/threads?limit=200')).json.data.find(({ id }: Json) => id === thread);

  it('shows what each thread waits for', async () => {
    const agent = await scriptedAgent(at, [
      [{ tool_call: { name: 'delete_everything', arguments: {} } }],
      [{ text: 'ok' }],
    ]);
    const thread = await openThread(at, agent, { message: { text: 'Delete  it\nall \u0007 now' } });
    const { waiting_on: waits } = await untilStatus(at, thread, 'waiting');
    expect(waits).toMatchObject([{ kind: 'approval', operation: 'delete_everything' }]);
    const listed = await eventually(async () => {
      const found = await row(thread);
      return found.status === 'waiting' && found;
    });
    expect(listed.waiting_on).toEqual(waits);
    await at.request('POST', `/v1/threads/${thread}/choices/${waits[0].id}`, { decision: 'deny' });
    await eventually(async () => (await row(thread)).waiting_on.length === 0);
  });

  it('shows the first words as a title until there is one', async () => {
    const thread = await openThread(at, 'assistant', {
      message: { text: `  Hello\n\tthere \u0000 ${'x'.repeat(300)}` },
    });
    const words = `Hello there ${'x'.repeat(108)}`;
    expect((await at.request('GET', `/v1/threads/${thread}`)).json.title).toBe(words);
    expect((await row(thread)).title).toBe(words);
    const later = await openThread(at);
    expect((await row(later)).title).toBeNull();
    await say(at, later, 'What time is it?');
    expect((await at.request('GET', `/v1/threads/${later}`)).json.title).toBe('What time is it?');
    await eventually(async () => (await row(later)).title === 'What time is it?');
    await at.request('PATCH', `/v1/threads/${later}`, { title: 'Mine' });
    await say(at, later, 'What is the weather in Oslo?');
    expect((await row(later)).title).toBe('Mine');
    expect((await at.request('PATCH', `/v1/threads/${later}`, { title: null })).json.title).toBe('What time is it?');
  });

  it('comes in either order of creation, and only of what has changed since', async () => {
    const metadata = { list: `l${Date.now()}` };
    const threads: string[] = [];
    for (let nth = 0; nth < 3; nth++) threads.push(await openThread(at, 'assistant', { metadata }));
    const ids = async (query: string): Promise<readonly string[]> =>
      (await at.request('GET', `/v1/threads?metadata[list]=${metadata.list}${query}`)).json.data.map(
        ({ id }: Json) => id,
      );
    expect(await ids('&order=asc')).toEqual(threads);
    expect(await ids('&order=desc')).toEqual(threads.toReversed());
    const page = (await at.request('GET', `/v1/threads?metadata[list]=${metadata.list}&order=asc&limit=2`)).json;
    expect(await ids(`&order=asc&limit=2&cursor=${page.next_cursor}`)).toEqual(threads.slice(2));
    const [first = ''] = threads;
    const isOpen = async (thread: string): Promise<boolean> => (await row(thread)).status === 'idle';
    for (const thread of threads) await eventually(() => isOpen(thread));
    const [last] = (await Promise.all(threads.map(row)))
      .map(({ updated_at: time }) => String(time))
      .toSorted()
      .toReversed();
    expect(await ids(`&updated_after=${last}`)).toEqual([]);
    await say(at, first, 'hello');
    await eventually(async () => (await ids(`&updated_after=${last}`)).join() === first);
    expect((await at.request('GET', `/v1/threads?order=sideways`)).status).toBe(422);
  });
});
