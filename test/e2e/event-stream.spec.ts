import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, scriptedAgent, untilStatus, type System } from './conversation.ts';
import { openStream } from './event-stream.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

const durable = (frames: readonly { readonly id: string | null }[]): number[] =>
  frames.flatMap(({ id }) => (id === null ? [] : [Number(id)]));

describe('the event stream', () => {
  it('I-19 gives every event once, in order, from the beginning and live', async () => {
    const thread = await openThread(at);
    await untilStatus(at, thread, 'idle');
    const stream = await openStream(at, thread);
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(stream.response.headers.get('x-accel-buffering')).toBe('no');
    expect(await stream.next()).toMatchObject({ event: 'status', data: { status: 'idle', waiting_on: [] } });
    await say(at, thread, 'What is the weather in Lisbon?');
    const frames = await stream.until(({ event, data }) => event === 'completion_recorded' && data.final === true);
    stream.close();
    const events = await eventsOf(at, thread);
    expect(durable(frames)).toEqual(events.map(({ position }) => position));
    expect(frames.filter(({ id }) => id !== null).map(({ data }) => data)).toEqual(events);
  });

  it('I-19 resumes after any position with no gap and no repeat', async () => {
    const thread = await openThread(at);
    await say(at, thread, 'What is the weather in Lisbon?');
    const { length } = await eventsOf(at, thread);
    for (let after = 0; after < length; after++) {
      const resumed = await openStream(at, thread, '', { 'last-event-id': String(after) });
      const frames = await resumed.until(({ id }) => id === String(length));
      resumed.close();
      expect(durable(frames)).toEqual(Array.from({ length: length - after }, (_, index) => after + index + 1));
    }
  });

  it('streams what the model says, and what was said so far to who comes late', async () => {
    const agent = await scriptedAgent(at, [[{ text: 'Once upon ' }, { wait_ms: 600 }, { text: 'a time' }]], {
      tool_servers: [],
    });
    const thread = await openThread(at, agent);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'a story' });
    await new Promise((resolve) => setTimeout(resolve, 250));
    const late = await openStream(at, thread);
    const frames = await late.until(({ event }) => event === 'completion_recorded');
    late.close();
    const said = frames.filter(({ event }) => event === 'delta').map(({ data }) => data);
    expect(said.map(({ text }) => text).join('')).toBe('Once upon a time');
    expect(said[0]).toMatchObject({ offset: 0, attempt: 1, kind: 'text', index: 0 });
    let shown = 0;
    for (const { offset, text } of said) {
      expect(offset).toBe(shown);
      shown += text.length;
    }
  });

  it('tells the status after each change', async () => {
    const agent = await scriptedAgent(at, [
      [{ tool_call: { name: 'weather', arguments: { city: 'Oslo' } } }],
      [{ text: 'cold' }],
    ]);
    const thread = await openThread(at, agent);
    await untilStatus(at, thread, 'idle');
    const stream = await openStream(at, thread);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const frames = await stream.until(({ event, data }) => event === 'completion_recorded' && data.final === true);
    const last = await stream.until(({ event }) => event === 'status');
    stream.close();
    const statuses = [...frames, ...last].filter(({ event }) => event === 'status').map(({ data }) => data.status);
    expect(statuses).toEqual(['idle', 'thinking', 'waiting', 'thinking', 'idle']);
  });

  it('ends with a closed thread, and answers 204 when nothing is newer', async () => {
    const thread = await openThread(at);
    await untilStatus(at, thread, 'idle');
    const stream = await openStream(at, thread);
    await at.request('POST', `/v1/threads/${thread}/close`);
    const frames = await stream.until(({ event }) => event === 'end');
    expect(frames.at(-2)?.event ?? frames.at(-3)?.event).toMatch(/status|thread_closed/);
    expect(await stream.next()).toBeNull();
    const events = await eventsOf(at, thread);
    const again = await openStream(at, thread, `?after=${events.length - 1}`);
    expect((await again.until(({ event }) => event === 'end')).map(({ event }) => event)).toEqual([
      'status',
      'thread_closed',
      'end',
    ]);
    const nothing = await openStream(at, thread, `?after=${events.length}`);
    expect(nothing.response.status).toBe(204);
  });

  it('pages the same events, and keeps a poller’s place', async () => {
    const thread = await openThread(at);
    await say(at, thread, 'What is the weather in Lisbon?');
    const first = (await at.request('GET', `/v1/threads/${thread}/events?limit=4`)).json;
    expect(first.next_cursor).toBe('4');
    const { length } = await eventsOf(at, thread);
    const nothing = (await at.request('GET', `/v1/threads/${thread}/events?cursor=${length}`)).json;
    expect(nothing).toEqual({ data: [], next_cursor: String(length) });
  });

  it('takes a thread token in the query here, and nowhere else', async () => {
    const thread = await openThread(at);
    const other = await openThread(at);
    const { token } = (await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], ttl_s: 60 })).json;
    const get = (path: string, accept: string): Promise<Response> => fetch(at.url + path, { headers: { accept } });
    const stream = await get(`/v1/threads/${thread}/events?access_token=${token}`, 'text/event-stream');
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
    expect((await get(`/v1/threads/${thread}/events?access_token=${token}`, 'application/json')).status).toBe(401);
    expect((await get(`/v1/threads/${thread}?access_token=${token}`, 'application/json')).status).toBe(401);
    expect((await get(`/v1/threads/${other}/events?access_token=${token}`, 'text/event-stream')).status).toBe(403);
    expect((await get(`/v1/threads/${thread}/events?access_token=${at.key}`, 'text/event-stream')).status).toBe(401);
    expect(at.output()).not.toContain(token);
  });
});
