// The reactive parts of the protocol, from outside: subscriptions, children, sleep, logins, choices, views, schedules.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  eventsOf,
  eventually,
  openThread,
  say,
  scriptedAgent,
  type Step,
  type System,
  untilEvent,
  untilStatus,
} from './conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from './driven-tool-server.ts';
import { openStream } from './event-stream.ts';
import type { Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
let tools: DrivenToolServer;
const started: DrivenToolServer[] = [];
beforeAll(async () => {
  at = await startSystem();
});
beforeEach(async () => {
  tools = await driveToolServer(at);
  started.push(tools);
});
afterAll(async () => {
  await Promise.all(started.map((server) => server.close()));
  await endSystems();
});

const agentOf = (script: readonly (readonly Step[])[], more: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  scriptedAgent(at, script, { tool_servers: [tools.name], ...more });

const typesOf = async (thread: string): Promise<readonly string[]> =>
  (await eventsOf(at, thread)).map(({ type }) => type);

/** A thread that watches something and is idle. */
async function watching(...then: readonly (readonly Step[])[]): Promise<{ thread: string; call: Json }> {
  const thread = await openThread(
    at,
    await agentOf([[toolCall('watch', { what: 'the door' })], [{ text: 'I am watching.' }], ...then]),
  );
  const turn = say(at, thread, 'watch the door');
  const call = await tools.invocation(0);
  expect(await tools.send(call, { type: 'tool_result', text: 'sub_1', subscription: true })).toBe(200);
  expect(await turn).toMatchObject({ status: 'idle', message: { text: 'I am watching.' } });
  return { thread, call };
}

describe('subscriptions', () => {
  it('R69 R73 R75 an associative event wakes the thread, final ends the subscription', async () => {
    const { thread, call } = await watching([{ text: 'It opened.' }], [{ text: 'It closed.' }]);
    const { json } = await at.request('GET', `/v1/threads/${thread}/subscriptions`);
    expect(json.data).toMatchObject([{ tool_call_id: call.id, operation: 'watch', events: 0, last_event_at: null }]);
    const event = { type: 'subscription_event', text: 'open', associative: true, event_id: 'evt-1' };
    expect(await tools.send(call, event)).toBe(200);
    expect(await tools.send(call, event)).toBe(200); // I-13
    await eventually(async () => (await typesOf(thread)).filter((type) => type === 'completion_recorded').length === 3);
    expect(await tools.send(call, { ...event, event_id: 'evt-2', text: 'closed', final: true })).toBe(200);
    await untilEvent(at, thread, 'subscription_closed');
    expect(await tools.send(call, { ...event, event_id: 'evt-3', text: 'ghost' })).toBe(200); // R82
    await untilStatus(at, thread, 'idle');
    const events = await eventsOf(at, thread);
    const received = events.filter(({ type }) => type === 'subscription_event_received');
    expect(received).toMatchObject([
      { tool_call_id: call.id, event_id: 'evt-1', text: 'open', associative: true, final: false },
      { text: 'closed', final: true },
    ]);
    expect((await at.request('GET', `/v1/threads/${thread}`)).json.subscriptions).toEqual([]);
    const readable = (await at.request('GET', `/v1/threads/${thread}/messages`)).json.data;
    expect(readable.filter(({ role }: { role: string }) => role === 'event').map(({ text }: Json) => text)).toEqual([
      'open',
      'closed',
    ]);
  });

  it('R74 a threaded event opens a child, which answers, closes and reports; R12 its tools hear of its ancestors', async () => {
    const { thread, call } = await watching();
    expect(await tools.send(call, { type: 'subscription_event', text: 'somebody came' })).toBe(200);
    const spawned = await untilEvent(at, thread, 'child_spawned');
    const child = spawned.child_id;
    // The child plays the same script from its beginning: it calls a tool of its own.
    const own = await tools.invocation(1);
    expect(own).toMatchObject({ group_id: child, thread_ancestors: [thread] });
    expect(await tools.invocation(0)).not.toHaveProperty('thread_ancestors');
    await tools.send(own, { type: 'tool_result', text: 'done' });
    const reported = await untilEvent(at, thread, 'child_reported');
    expect(reported).toMatchObject({ child_id: child, closed: true, report: 'I am watching.' });
    expect((await at.request('GET', `/v1/threads/${child}`)).json).toMatchObject({
      status: 'closed',
      parent: thread,
      family: thread,
    });
    const { json } = await at.request('GET', `/v1/threads/${thread}/children`);
    expect(json.data).toMatchObject([{ id: child, parent: thread }]);
  });

  it('an event before its confirmation is held and comes right after it', async () => {
    const thread = await openThread(at, await agentOf([[toolCall('watch')], [{ text: 'ok' }]]));
    const turn = say(at, thread, 'watch');
    const call = await tools.invocation(0);
    await tools.send(call, { type: 'subscription_event', text: 'early', associative: true });
    await untilEvent(at, thread, 'subscription_event_held');
    await tools.send(call, { type: 'tool_result', text: 'sub_1', subscription: true });
    await turn;
    const types = await typesOf(thread);
    expect(types.slice(types.indexOf('subscription_opened'))).toEqual(
      expect.arrayContaining(['subscription_opened', 'tool_call_settled', 'subscription_event_received']),
    );
  });

  it('R73 an associative event waits for a slow call as long as its agent says, and no longer', async () => {
    const limits = { event_wait_ms_max: 1_000 };
    const script = [
      [toolCall('watch')],
      [{ text: 'I am watching.' }],
      [toolCall('work')],
      [{ text: 'It opened, and I still work.' }],
      [{ text: 'The work is done.' }],
    ];
    const thread = await openThread(at, await agentOf(script, { limits }));
    const turn = say(at, thread, 'watch the door');
    const watch = await tools.invocation(0);
    await tools.send(watch, { type: 'tool_result', text: 'sub_1', subscription: true });
    await turn;
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'work' });
    const slow = await tools.invocation(1);
    const sentAt = Date.now();
    expect(await tools.send(watch, { type: 'subscription_event', text: 'open', associative: true })).toBe(200);
    expect(await untilEvent(at, thread, 'tool_call_detached')).toMatchObject({ tool_call_id: slow.id });
    expect(Date.now() - sentAt).toBeGreaterThanOrEqual(900);
    const says = (text: string) =>
      eventually(async () => {
        const { data } = (await at.request('GET', `/v1/threads/${thread}/messages`)).json;
        return data.at(-1).text === text;
      });
    await says('It opened, and I still work.');
    expect(await tools.send(slow, { type: 'tool_result', text: 'done' })).toBe(200);
    await says('The work is done.');
  });

  it('a client cancels one, and every tool server hears of it once', async () => {
    const { thread, call } = await watching();
    const path = `/v1/threads/${thread}/subscriptions/${call.id}/cancel`;
    expect((await at.request('POST', path)).status).toBe(202);
    await untilEvent(at, thread, 'subscription_closed');
    await eventually(async () => tools.others('/cancel_tool_call').length === 1);
    expect(tools.others('/cancel_tool_call')[0]?.body).toEqual({ thread_id: thread, tool_call_id: call.id });
    expect((await at.request('POST', path)).status).toBe(202);
    expect(await untilEvent(at, thread, 'request_refused')).toMatchObject({ request: 'cancel_subscription' });
  });
});

describe('people', () => {
  it('R84 R85 R88 a login: its URL reaches the stream, early and late, and nothing else; then the result', async () => {
    const thread = await openThread(at, await agentOf([[toolCall('work')], [{ text: 'done' }]]));
    const early = await openStream(at, thread);
    const turn = at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const call = await tools.invocation(0);
    const secret = 'https://login.example/authorize?state=very-secret-state';
    expect(await tools.send(call, { type: 'oauth', auth_url: secret })).toBe(200);
    const shown = (await early.until(({ event }) => event === 'oauth')).at(-1);
    expect(shown?.data).toMatchObject({ tool_call_id: call.id, auth_url: secret });
    const late = await openStream(at, thread);
    expect((await late.until(({ event }) => event === 'oauth')).at(-1)?.data.auth_url).toBe(secret);
    early.close();
    late.close();
    expect((await at.request('GET', `/v1/threads/${thread}`)).json.waiting_on).toMatchObject([{ kind: 'oauth' }]);
    expect(JSON.stringify(await eventsOf(at, thread))).not.toContain('very-secret-state');
    await tools.send(call, { type: 'tool_result', text: 'logged in' });
    await turn;
    await untilStatus(at, thread, 'idle');
    const after = await openStream(at, thread);
    const frames = await after.until(({ event, data }) => event === 'completion_recorded' && data.final);
    expect(frames.map(({ event }) => event)).not.toContain('oauth');
    after.close();
    expect(at.output()).not.toContain('very-secret-state');
  });

  it('R89 R91 R94 a choice: shown, answered once, posted to the tool, then the result', async () => {
    const thread = await openThread(at, await agentOf([[toolCall('work')], [{ text: 'done' }]]));
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const call = await tools.invocation(0);
    const question = {
      type: 'user_choice',
      prompt: 'Which one?',
      choices: ['red', 'green'],
      default: 1,
      response_url: `${tools.url}/answers/7`,
    };
    expect(await tools.send(call, question)).toBe(200);
    const asked = await untilEvent(at, thread, 'choice_requested');
    expect(asked).toMatchObject({ kind: 'tool', prompt: 'Which one?', choices: ['red', 'green'], default: 1 });
    expect(JSON.stringify(asked)).not.toContain('answers/7');
    const path = `/v1/threads/${thread}/choices/${asked.choice_id}`;
    expect(await at.request('POST', path, { selected: 2 })).toMatchObject({
      status: 422,
      json: { errors: [{ pointer: '/selected' }] },
    });
    expect((await at.request('POST', path, { decision: 'allow' })).status).toBe(422);
    expect((await at.request('POST', path, { selected: 0, dismiss: true })).status).toBe(422);
    expect((await at.request('POST', path, { selected: 0, decided_by: 'ann' })).status).toBe(202);
    await eventually(async () => tools.others('/answers/7').length === 1);
    expect(tools.others('/answers/7')[0]?.body).toEqual({ id: call.id, selected: 0 });
    expect(await at.request('POST', path, { dismiss: true })).toMatchObject({
      status: 409,
      json: { settled: { selected: 0, by: 'ann' } },
    });
    await tools.send(call, { type: 'tool_result', text: 'red it is' });
    await untilStatus(at, thread, 'idle');
  });

  it('R92 dismissal and interruption post the default', async () => {
    for (const end of ['dismiss', 'interrupt']) {
      const thread = await openThread(at, await agentOf([[toolCall('work')], [{ text: 'done' }]]));
      await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
      const call = await tools.invocation(end === 'dismiss' ? 0 : 1);
      const response_url = `${tools.url}/answers/${end}`;
      await tools.send(call, { type: 'user_choice', prompt: '?', choices: ['a', 'b'], default: 1, response_url });
      const { choice_id: choice } = await untilEvent(at, thread, 'choice_requested');
      if (end === 'dismiss') await at.request('POST', `/v1/threads/${thread}/choices/${choice}`, { dismiss: true });
      else await at.request('POST', `/v1/threads/${thread}/interrupt`, { include_human: true });
      await eventually(async () => tools.others(`/answers/${end}`).length === 1);
      expect(tools.others(`/answers/${end}`)[0]?.body).toEqual({ id: call.id, selected: 1 });
    }
  });
});

describe('views', () => {
  it('R95 R96 R97 R98 R99 the newest of each type, opaque, to everyone who watches and to who comes late', async () => {
    const { thread, call } = await watching();
    const streams = await Promise.all([openStream(at, thread), openStream(at, thread)]);
    const odd = '{"big":123456789012345678901234567890,"nested":{"n":[null,1.50]}}';
    const body = `{"type":"view_update","group_id":"${thread}","view_type":"board","content":${odd}}`;
    const sent = (text: string) =>
      fetch(call.callback_url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
    expect((await sent(body.replace(odd, '{"first":true}'))).status).toBe(200);
    expect((await sent(body)).status).toBe(200);
    for (const stream of streams) {
      const frames = await stream.until(({ event, data }) => event === 'view' && 'big' in data.content);
      expect(frames.filter(({ event }) => event === 'view').length).toBeGreaterThan(0);
      stream.close();
    }
    const { text } = await at.request('GET', `/v1/threads/${thread}/views`);
    expect(text).toBe(`{"data":[{"view_type":"board","content":${odd}}],"next_cursor":null}`);
    const late = await openStream(at, thread);
    expect((await late.until(({ event }) => event === 'view')).at(-1)?.data.view_type).toBe('board');
    late.close();
    expect((await sent(body.replace(odd, '{}'))).status).toBe(200);
    await eventually(async () => (await at.request('GET', `/v1/threads/${thread}/views`)).json.data.length === 0);
    expect(await typesOf(thread)).not.toContain('view_update');
  });
});

describe('time and family', () => {
  it('sleep ends the turn, the thread waits for its timer, and wakes', async () => {
    const thread = await openThread(
      at,
      await agentOf([[toolCall('sleep', { seconds: 1.5 })], [{ text: 'I am awake.' }]]),
    );
    const asleep = await say(at, thread, 'sleep a little');
    expect(asleep).toMatchObject({ status: 'waiting', waiting_on: [{ kind: 'timer' }] });
    await untilEvent(at, thread, 'timer_fired');
    await untilStatus(at, thread, 'idle');
    expect((await typesOf(thread)).filter((type) => type === 'timer_fired')).toHaveLength(1);
  });

  it('a spawned child works on its own, reports and is written to', async () => {
    const script = [
      [toolCall('spawn_thread', { instructions: 'count' }), toolCall('set_title', { title: 'Counting' })],
      [{ text: 'done' }],
    ];
    const thread = await openThread(at, await agentOf(script));
    await say(at, thread, 'count for me');
    const { child_id: child } = await untilEvent(at, thread, 'child_spawned');
    const opened = await untilEvent(at, child, 'thread_opened');
    expect(opened.parent).toMatchObject({ thread_id: thread });
    expect(await untilEvent(at, child, 'message_accepted')).toMatchObject({ content: [{ text: 'count' }] });
    expect(await untilEvent(at, thread, 'title_set')).toMatchObject({ title: 'Counting' });
  });

  it('a schedule is set, listed, refused when it never comes, and removed', async () => {
    const thread = await openThread(at, await agentOf([[{ text: 'ok' }]]));
    const path = `/v1/threads/${thread}/schedules`;
    const wrong = await at.request('POST', path, { cron: '0 0 30 2 *', message: 'never' });
    expect(wrong).toMatchObject({ status: 422, json: { errors: [{ pointer: '/cron' }] } });
    const made = await at.request('POST', path, { cron: '0 9 * * 1', time_zone: 'Europe/Vienna', message: 'stand up' });
    expect(made.status).toBe(202);
    await untilEvent(at, thread, 'schedule_set');
    const { json } = await at.request('GET', path);
    expect(json.data).toMatchObject([{ id: made.json.id, cron: '0 9 * * 1', missed: 'once' }]);
    expect(Date.parse(json.data[0].next_at)).toBeGreaterThan(Date.now());
    expect((await at.request('DELETE', `${path}/${made.json.id}`)).status).toBe(202);
    await untilEvent(at, thread, 'schedule_removed');
    expect((await at.request('GET', path)).json.data).toEqual([]);
  });

  it('toolsets are fetched anew when a client asks', async () => {
    const { thread } = await watching();
    expect((await at.request('POST', `/v1/threads/${thread}/toolsets/refresh`)).status).toBe(202);
    await eventually(async () => (await typesOf(thread)).filter((type) => type === 'toolsets_loaded').length === 2);
  });

  it('a fork has the history up to an event, in a family of its own, and goes its own way', async () => {
    const thread = await openThread(at, await agentOf([[{ text: 'first answer' }], [{ text: 'second answer' }]]));
    await say(at, thread, 'a question');
    const asked = (await eventsOf(at, thread)).find(({ type }) => type === 'message_accepted');
    const path = `/v1/threads/${thread}/fork`;
    expect((await at.request('POST', path, { position: 10_000 })).status).toBe(422);
    // oxlint-disable-next-line unicorn/no-thenable -- the API’s own name
    const fork = await at.request('POST', path, { position: asked?.position, then: 'ask_again' });
    expect(fork).toMatchObject({ status: 201, json: { parent: null, family: fork.json.id } });
    expect(await untilEvent(at, fork.json.id, 'thread_forked')).toMatchObject({
      from: { thread_id: thread, position: asked?.position },
    });
    await untilEvent(at, fork.json.id, 'completion_recorded');
    expect((await eventsOf(at, thread)).filter(({ type }) => type === 'completion_recorded')).toHaveLength(1);
  });
});
