// The contract's details from outside: lists, pointers, names and ids, fields that may be absent.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  openThread,
  say,
  scriptedAgent,
  type System,
  untilEvent,
  untilStatus,
  eventually,
} from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import type { Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
let thread: string;
beforeAll(async () => {
  at = await startSystem();
  thread = await openThread(at);
});
afterAll(endSystems);

const pointersOf = async (path: string, body: unknown): Promise<readonly string[]> => {
  const { status, json } = await at.request('POST', path, body);
  expect(status).toBe(422);
  return json.errors.map(({ pointer }: Json) => pointer);
};

describe('lists', () => {
  it('all take limit and cursor', async () => {
    const own = [
      'events',
      'messages',
      'tool-calls',
      'choices',
      'subscriptions',
      'views',
      'children',
      'schedules',
      'commits',
    ];
    const paths = [
      ...own.map((part) => `/v1/threads/${thread}/${part}`),
      ...['threads', 'agents', 'tool-servers', 'secrets', 'api-keys', 'parked'].map((part) => `/v1/${part}`),
    ];
    for (const path of paths) {
      const answer = await at.request('GET', `${path}?limit=200`);
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      expect(Object.keys(answer.json).toSorted()).toEqual(['data', 'next_cursor']);
      for (const limit of ['0', '201', '-1', 'abc'])
        expect((await at.request('GET', `${path}?limit=${limit}`)).json).toMatchObject({
          errors: [{ pointer: '/limit' }],
        });
      expect((await at.request('GET', `${path}?cursor=!!`)).status).toBe(422);
    }
  });

  it('give everything once, page by page', async () => {
    for (const name of ['one', 'two', 'three'])
      await at.request('PUT', `/v1/secrets/${name}`, { value: 'v', origins: ['https://a.example'] });
    for (const name of ['one', 'two', 'three']) await at.request('POST', '/v1/api-keys', { name, scopes: ['read'] });
    for (const hour of [1, 2, 3])
      await at.request('POST', `/v1/threads/${thread}/schedules`, { cron: `0 ${hour} * * *`, message: 'm' });
    for (const [path, field] of [
      ['/v1/secrets', 'name'],
      ['/v1/api-keys', 'id'],
      [`/v1/threads/${thread}/schedules`, 'id'],
    ] as const) {
      // A schedule is taken (202) before it is decided.
      const whole = await eventually(async () => {
        const all: readonly string[] = (await at.request('GET', path)).json.data.map((item: Json) => item[field]);
        return all.length > 2 && all;
      });
      const paged: string[] = [];
      for (let next: string | null = ''; next !== null;) {
        const { json } = await at.request('GET', `${path}?limit=1${next === '' ? '' : `&cursor=${next}`}`);
        paged.push(...json.data.map((item: Json) => item[field]));
        next = json.next_cursor;
      }
      expect(paged).toEqual(whole);
    }
  });

  it('of events and of messages go from the newest to the oldest, page by page, through what a fork inherited', async () => {
    const origin = await openThread(at);
    for (const text of ['one', 'What is the weather in Oslo?']) await say(at, origin, text);
    const { position } = (await at.request('GET', `/v1/threads/${origin}`)).json;
    // oxlint-disable-next-line unicorn/no-thenable -- the API’s own name
    const forked = await at.request('POST', `/v1/threads/${origin}/fork`, { position, then: 'wait' });
    const fork = forked.json.id as string;
    await say(at, fork, 'three');
    await untilStatus(at, fork, 'idle');
    for (const path of [`${origin}/events`, `${fork}/events`, `${origin}/messages`, `${fork}/messages`]) {
      const page = async (query: string) => (await at.request('GET', `/v1/threads/${path}?${query}`)).json;
      const forward: readonly Json[] = (await page('limit=200&order=asc')).data;
      expect(forward).toEqual((await page('limit=200')).data);
      for (const limit of [1, 3, 200]) {
        const backward: Json[] = [];
        for (let cursor = ''; ;) {
          const { data, next_cursor: next } = await page(`order=desc&limit=${limit}${cursor}`);
          expect(data.length).toBeLessThanOrEqual(limit);
          backward.push(...data);
          if (data.length === 0 || next === null) break;
          cursor = `&cursor=${next}`;
        }
        expect(backward).toEqual(forward.toReversed());
      }
    }
    for (const path of [`${origin}/events`, `${origin}/messages`])
      expect((await at.request('GET', `/v1/threads/${path}?order=up`)).json).toMatchObject({
        errors: [{ pointer: '/order' }],
      });
    const headers = { accept: 'text/event-stream' };
    const stream = await at.request('GET', `/v1/threads/${origin}/events?order=desc`, undefined, { headers });
    expect(stream).toMatchObject({ status: 422, json: { errors: [{ pointer: '/order' }] } });
    expect((await at.request('GET', `/v1/threads/${origin}/events?order=desc&after=9999`)).json.data[0]).toEqual(
      (await eventsOf(at, origin)).at(-1),
    );
  });

  it('find threads by the id of their agent as by its name', async () => {
    const { id, name } = (await at.request('GET', '/v1/agents/assistant')).json;
    const opened = (await at.request('POST', '/v1/threads', { agent: id })).json;
    expect(opened.agent.name).toBe(name);
    for (const agent of [id, name]) {
      const { data } = (await at.request('GET', `/v1/threads?agent=${agent}`)).json;
      expect(data.map((each: Json) => each.id)).toContain(opened.id);
    }
    expect((await at.request('GET', '/v1/threads?agent=agt_nobody')).json.data).toEqual([]);
  });
});

describe('pointers', () => {
  it('lead to what is wrong with a message, here and in a new thread', async () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [{}, '/text'],
      [{ text: null }, '/text'],
      [{ text: '' }, '/text'],
      [{ txt: 'a' }, '/txt'],
      [{ text: 'a', content: [{ type: 'text', text: 'b' }] }, '/content'],
      [{ content: [] }, '/content'],
      [{ content: [{ type: 'audio' }] }, '/content/0/type'],
      [{ content: [{ type: 'text' }] }, '/content/0/text'],
    ];
    for (const [message, pointer] of cases) {
      expect(await pointersOf(`/v1/threads/${thread}/messages`, message)).toContain(pointer);
      expect(await pointersOf('/v1/threads', { agent: 'assistant', message })).toContain(`/message${pointer}`);
    }
    const misspelt = await at.request('POST', `/v1/threads/${thread}/messages`, { txt: 'a' });
    expect(misspelt.json.code).toBe('UNKNOWN_FIELD');
  });
});

describe('names and ids', () => {
  it('an agent holds its tool servers by name, and each once', async () => {
    const { id, name } = (await at.request('GET', '/v1/tool-servers/example-tools')).json;
    const made = await at.request('POST', '/v1/agents', {
      name: 'by-id',
      model: { provider: 'demo' },
      tool_servers: [id],
    });
    expect(made.json.tool_servers).toEqual([name]);
    const twice = { name: 'twice', model: { provider: 'demo' }, tool_servers: [name, id] };
    expect(await pointersOf('/v1/agents', twice)).toEqual(['/tool_servers/1']);
  });
});

describe('events', () => {
  it('leave out an optional field that has no value', async () => {
    const agent = await scriptedAgent(at, [
      [{ tool_call: { name: 'set_title', arguments: { title: 'Mine' } } }],
      [{ text: 'done' }],
    ]);
    const nobody = await openThread(at, agent);
    await say(at, nobody, 'go');
    for (const event of await eventsOf(at, nobody)) expect(Object.values(event)).not.toContain(null);
    expect(await untilEvent(at, nobody, 'thread_opened')).not.toHaveProperty('user_id');
    expect(await untilEvent(at, nobody, 'tool_call_requested')).not.toHaveProperty('tool_server');
    const ann = await openThread(at, agent, { user_id: 'ann' });
    expect(await untilEvent(at, ann, 'thread_opened')).toMatchObject({ user_id: 'ann' });
  });

  it('of a fork that asks again belong to one turn', async () => {
    const agent = await scriptedAgent(at, [[{ text: 'first' }], [{ text: 'second' }]]);
    const source = await openThread(at, agent);
    await say(at, source, 'a question');
    const { position } = await untilEvent(at, source, 'message_accepted');
    // oxlint-disable-next-line unicorn/no-thenable -- the API’s own name
    const fork = (await at.request('POST', `/v1/threads/${source}/fork`, { position, then: 'ask_again' })).json.id;
    await untilEvent(at, fork, 'completion_recorded');
    await untilStatus(at, fork, 'idle');
    const asked = (await eventsOf(at, fork)).filter(({ type }) => type.startsWith('completion_'));
    expect(new Set(asked.map(({ turn_id }) => turn_id)).size).toBe(1);
  });
});

describe('content', () => {
  it('always has its text, of a large one the beginning, and names the blobs that have the rest', async () => {
    const tools = await driveToolServer(at);
    const script = [[toolCall('work')], [{ text: 'done' }]];
    const large = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
    const turn = say(at, large, 'm'.repeat(70_000));
    await tools.send(await tools.invocation(0), { type: 'tool_result', text: 'r'.repeat(70_000) });
    await turn;
    const accepted = await untilEvent(at, large, 'message_accepted');
    const settled = await untilEvent(at, large, 'tool_call_settled');
    for (const [{ content }, first] of [[accepted, 'm'] as const, [settled, 'r'] as const]) {
      expect(content).toMatchObject([{ type: 'text', text: first.repeat(1_000), bytes: 70_000 }]);
      const blob = await at.request('GET', `/v1/threads/${large}/blobs/${content[0].blob}`);
      expect(blob.text).toBe(first.repeat(70_000));
    }
    expect(settled.blobs).toEqual([settled.content[0].blob]);
    await tools.close();
  });
});

describe('a fork', () => {
  it('shows the conversation that it goes on, and what was pending as interrupted', async () => {
    const tools = await driveToolServer(at);
    const script = [[{ text: 'first' }], [toolCall('work', { what: 'x' })], [{ text: 'third' }], [{ text: 'fourth' }]];
    const source = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
    await say(at, source, 'one');
    const turn = say(at, source, 'two');
    const invocation = await tools.invocation(0);
    const { position } = await untilEvent(at, source, 'tool_call_requested');
    const forkAt = async (thread: string, at_: number): Promise<string> => {
      const { status, json } = await at.request('POST', `/v1/threads/${thread}/fork`, { position: at_ });
      expect(status).toBe(201);
      await untilStatus(at, json.id, 'idle'); // in a cluster it is `opening` for a moment
      return json.id;
    };
    const fork = await forkAt(source, position);
    await tools.send(invocation, { type: 'tool_result', text: 'late' });
    await turn;
    await say(at, fork, 'three');
    const listed = async (thread: string, part: string, limit = 50): Promise<readonly Json[]> => {
      const items: Json[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { json } = await at.request('GET', `/v1/threads/${thread}/${part}?limit=${limit}${next}`);
        items.push(...json.data);
        cursor = json.next_cursor;
      }
      return items;
    };
    const texts = async (thread: string): Promise<readonly string[]> =>
      (await listed(thread, 'messages')).map(({ text }) => text);
    const pending = 'Interrupted: this thread was forked from the one that made the call.';
    expect(await texts(source)).toEqual(['one', 'first', 'two', 'late', 'third']);
    expect(await texts(fork)).toEqual(['one', 'first', 'two', pending, 'three', expect.any(String)]);
    const messages = await listed(fork, 'messages');
    expect(messages[3]).toMatchObject({ role: 'tool', operation: 'work', outcome: 'interrupted', thread_id: source });
    expect(messages.map(({ thread_id }) => thread_id ?? fork)).toEqual([source, source, source, source, fork, fork]);
    expect(await listed(fork, 'messages', 1)).toEqual(messages);
    const calls = await listed(fork, 'tool-calls', 1);
    expect(calls[0]).toMatchObject({ tool_call_id: invocation.id, state: 'settled', outcome: 'interrupted' });
    expect((await listed(source, 'tool-calls'))[0]).toMatchObject({ state: 'settled', outcome: 'result' });
    const again = await forkAt(fork, (await untilEvent(at, fork, 'message_accepted')).position);
    expect(await texts(again)).toEqual(['one', 'first', 'two', pending, 'three']);
    expect(await texts(await forkAt(fork, 1))).toEqual([]);
    expect((await at.request('GET', `/v1/threads/${fork}/messages?cursor=7.1`)).json.code).toBe('CURSOR_INVALID');
    await tools.close();
  });
});

describe('a title', () => {
  it('is there at once when the model gives it, and what a client says afterwards stays', async () => {
    const agent = await scriptedAgent(at, [[toolCall('set_title', { title: 'Named' })], [{ text: 'done' }]]);
    const named = await openThread(at, agent, { title: 'First' });
    const titleOf = async (): Promise<string | null> => (await at.request('GET', `/v1/threads/${named}`)).json.title;
    expect(await titleOf()).toBe('First');
    await say(at, named, 'go');
    expect(await titleOf()).toBe('Named');
    for (const [title, shown] of [
      ['Mine', 'Mine'],
      [null, 'go'], // the first words stand for a title
    ]) {
      expect((await at.request('PATCH', `/v1/threads/${named}`, { title })).json.title).toBe(shown);
      await say(at, named, 'go on');
      await new Promise((resolve) => setTimeout(resolve, 400)); // lists show it a moment later
      expect(await titleOf()).toBe(shown);
      const { data } = (await at.request('GET', `/v1/threads?agent=${agent}`)).json;
      expect(data).toMatchObject([{ id: named, title: shown, status: 'idle' }]);
    }
  });
});
