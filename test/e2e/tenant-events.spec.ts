// The events of all threads: pages and a stream that go on exactly where their reader was.
import { createClient, type TenantEvent } from '@dormouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, untilStatus, type System } from './conversation.ts';
import { openStreamOf } from './event-stream.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

interface Row {
  readonly cursor: string;
  readonly thread_id: string;
  readonly position: number;
  readonly type: string;
  readonly at: string;
}

const read = (query: string) => at.request('GET', `/v1/events${query}`);
const end = async (): Promise<string> => (await read('?after=latest')).json.next_cursor;
const nameOf = ({ thread_id: thread, position }: Row): string => `${thread} ${position}`;

/** Every row of these threads after a cursor, read until all their events were seen. */
async function readAll(threads: readonly string[], after: string | null, limit: number): Promise<readonly Row[]> {
  const wanted = (await Promise.all(threads.map((thread) => eventsOf(at, thread)))).flat().length;
  const seen: Row[] = [];
  for (let cursor = after; seen.length < wanted;) {
    const { status, json } = await read(`?limit=${limit}${cursor === null ? '' : `&after=${cursor}`}`);
    expect(status).toBe(200);
    expect(json.data.length).toBeLessThanOrEqual(limit);
    seen.push(...(json.data as readonly Row[]).filter((row) => threads.includes(row.thread_id)));
    if (json.data.length > 0) expect(json.next_cursor).toBe(json.data.at(-1).cursor);
    else await new Promise((resolve) => setTimeout(resolve, 50));
    cursor = json.next_cursor;
  }
  return seen;
}

async function expectWhole(rows: readonly Row[], threads: readonly string[]): Promise<void> {
  for (const thread of threads) {
    const events = await eventsOf(at, thread);
    const thin = events.map(({ position, type, at: time }) => ({ thread_id: thread, position, type, at: time }));
    expect(rows.filter((row) => row.thread_id === thread).map(({ cursor: _, ...row }) => row)).toEqual(thin);
  }
}

describe('the events of all threads', () => {
  it('are thin rows, which pages of any length give once each, in the order of each thread', async () => {
    const start = await end();
    const threads = await Promise.all(Array.from({ length: 6 }, () => openThread(at)));
    await Promise.all(threads.map((thread) => say(at, thread, 'What is the weather in Lisbon?')));
    const rows = await readAll(threads, start, 200);
    await expectWhole(rows, threads);
    for (const limit of [1, 7]) {
      const again = await readAll(threads, start, limit);
      await expectWhole(again, threads);
      expect(again.map(nameOf).toSorted()).toEqual(rows.map(nameOf).toSorted());
    }
    const middle = rows[Math.floor(rows.length / 2)]?.cursor ?? '';
    const rest = await read(`?limit=200&cursor=${middle}`);
    const before = rows.slice(0, Math.floor(rows.length / 2) + 1).map(nameOf);
    expect((rest.json.data as readonly Row[]).map(nameOf).filter((name) => before.includes(name))).toEqual([]);
  });

  it('begin with the first event of all', async () => {
    const { status, json } = await read('?limit=1');
    expect(status).toBe(200);
    expect(json.data).toMatchObject([{ position: 1, type: 'thread_opened' }]);
  });

  it.each([
    ['?after=nonsense', 'CURSOR_INVALID'],
    ['?after=17', 'CURSOR_INVALID'],
    ['?after=~5B1767605400000~2C~22thr_1~22~5D', 'CURSOR_INVALID'],
    ['?after=~5B~22events~22~2C~22x y~22~5D', 'CURSOR_INVALID'],
    ['?after=', 'INVALID_BODY'],
    ['?limit=0', 'INVALID_BODY'],
    ['?limit=201', 'INVALID_BODY'],
    ['?limit=x', 'INVALID_BODY'],
    ['?thread=thr_1', 'UNKNOWN_FIELD'],
  ])('refuse %s: 422 %s, also as a stream', async (query, code) => {
    expect(await read(query)).toMatchObject({ status: 422, json: { code } });
    const stream = await openStreamOf(at, `/v1/events${query}`);
    expect(stream.response.status).toBe(422);
    stream.close();
  });

  it('refuse the cursor of another list', async () => {
    await openThread(at);
    await openThread(at);
    const { json } = await at.request('GET', '/v1/threads?limit=1');
    expect(await read(`?after=${json.next_cursor}`)).toMatchObject({ status: 422, json: { code: 'CURSOR_INVALID' } });
    const threads = await at.request('GET', `/v1/threads?cursor=${await end()}`);
    expect(threads).toMatchObject({ status: 422, json: { code: 'CURSOR_INVALID' } });
  });

  it('are for keys, not for tokens', async () => {
    const thread = await openThread(at);
    const { json } = await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], scope: 'family' });
    const asToken = await at.request('GET', '/v1/events', undefined, { key: json.token });
    expect(asToken).toMatchObject({ status: 403, json: { code: 'FORBIDDEN' } });
    const inQuery = await fetch(`${at.url}/v1/events?access_token=${json.token}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(inQuery.status).toBe(401);
    await inQuery.body?.cancel();
    const poor = await at.request('POST', '/v1/api-keys', { name: 'poor', scopes: ['threads:write'] });
    expect((await at.request('GET', '/v1/events', undefined, { key: poor.json.key })).status).toBe(403);
    expect((await at.request('POST', '/v1/events', {})).status).toBe(405);
  });
});

describe('the stream of all threads', () => {
  it('gives each event once as it comes, and goes on after any cursor', async () => {
    const start = await end();
    const live = await openStreamOf(at, `/v1/events?after=${start}`);
    expect(live.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const threads = await Promise.all([openThread(at), openThread(at)]);
    await Promise.all(threads.map((thread) => say(at, thread, 'What is the weather in Lisbon?')));
    const counts = await Promise.all(threads.map(async (thread) => (await eventsOf(at, thread)).length));
    let left = counts.reduce((sum, count) => sum + count, 0);
    const frames = await live.until(({ data }) => threads.includes(data.thread_id) && (left -= 1) === 0);
    live.close();
    expect(new Set(frames.map(({ event }) => event))).toEqual(new Set(['thread']));
    for (const { id, data } of frames) expect(id).toBe(data.cursor);
    const rows = frames.map(({ data }) => data as Row).filter((row) => threads.includes(row.thread_id));
    await expectWhole(rows, threads);
    const from = rows[3]?.cursor ?? '';
    const resumed = await openStreamOf(at, '/v1/events?after=latest', { 'last-event-id': from });
    const after = rows.slice(4).map(nameOf);
    const seen = new Set<string>();
    const again = await resumed.until(({ data }) => seen.add(nameOf(data)) && after.every((name) => seen.has(name)));
    resumed.close();
    expect(again.map(({ data }) => nameOf(data)).filter((name) => rows.slice(0, 4).map(nameOf).includes(name))).toEqual(
      [],
    );
  });

  it('says where it begins when that is the end, and gives what comes then', async () => {
    const old = await openThread(at);
    await untilStatus(at, old, 'idle');
    const stream = await fetch(`${at.url}/v1/events?after=latest`, {
      headers: { authorization: `Bearer ${at.key}`, accept: 'text/event-stream' },
    });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!/^id: .+\n\n/m.test(text)) text += (await reader.read()).value ?? '';
    expect(text).toMatch(/^retry: 2000\n\nid: \S+\n\n/);
    const thread = await openThread(at);
    while (!text.includes(`"thread_id":"${thread}","position":1,`)) text += (await reader.read()).value ?? '';
    expect(text).not.toContain(`"thread_id":"${old}","position":1,`);
    await reader.cancel();
  });

  it('is followed by the client, from the end on', async () => {
    const ended = Promise.withResolvers<void>();
    const client = createClient({
      baseUrl: at.url,
      key: at.key,
      async fetch(input, init) {
        const answer = await fetch(input, init);
        if (answer.url.includes('after=latest')) ended.resolve();
        return answer;
      },
    });
    const stop = new AbortController();
    const seen: TenantEvent[] = [];
    const following = (async () => {
      for await (const event of client.events({ after: 'latest', signal: stop.signal })) seen.push(event);
    })().catch(() => null);
    await ended.promise;
    const thread = await openThread(at);
    await untilStatus(at, thread, 'idle');
    const events = await eventsOf(at, thread);
    await expect.poll(() => seen.filter((event) => event.thread_id === thread).length).toBe(events.length);
    stop.abort();
    await following;
    await expectWhole(seen, [thread]);
  });
});
