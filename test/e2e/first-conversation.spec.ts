import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slownessOfMachine } from '../machine-pace.ts';
import {
  eventsOf,
  openThread,
  say,
  scriptedAgent,
  sentCalls,
  type System,
  untilEvent,
  untilStatus,
} from './conversation.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

describe('the first conversation', () => {
  it('answers with what a real tool server said', async () => {
    const thread = await openThread(at);
    await untilStatus(at, thread, 'idle'); // its toolsets are loaded
    const answer = await say(at, thread, 'What is the weather in Lisbon?');
    expect(answer).toMatchObject({ status: 'idle', message: { text: expect.stringContaining('Lisbon') } });
    const types = (await eventsOf(at, thread)).map((event) => event.type);
    expect(types).toEqual([
      'thread_opened',
      'toolsets_requested',
      'toolsets_loaded',
      'message_accepted',
      'completion_requested',
      'completion_recorded',
      'tool_call_requested',
      'tool_call_settled',
      'completion_requested',
      'completion_recorded',
    ]);
  });

  it('gives every event its place, its time, its turn and its cause', async () => {
    const thread = await openThread(at);
    const { id } = await say(at, thread, 'What time is it?');
    const events = await eventsOf(at, thread);
    expect(events.map((event) => event.position)).toEqual(events.map((_, index) => index + 1));
    const accepted = events.find((event) => event.type === 'message_accepted');
    expect(accepted).toMatchObject({ message_id: id, turn_id: id, cause: { kind: 'message', id } });
    expect(accepted.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('takes a first message with the opening', async () => {
    const thread = await openThread(at, 'assistant', {
      message: { text: 'What is the weather in Oslo?' },
      title: 'Oslo',
      metadata: { teamName: 'a' },
    });
    const shown = await untilStatus(at, thread, 'idle');
    expect(shown).toMatchObject({
      id: thread,
      title: 'Oslo',
      metadata: { teamName: 'a' },
      agent: { name: 'assistant', version: 1 },
    });
    const { json } = await at.request('GET', `/v1/threads/${thread}/messages`);
    expect(json.data.map((message: { role: string }) => message.role)).toEqual(['user', 'tool', 'assistant']);
  });

  it('shows the thread as it was at any position', async () => {
    const thread = await openThread(at);
    await say(at, thread, 'What is the weather in Rome?');
    const events = await eventsOf(at, thread);
    const requested = events.find((event) => event.type === 'tool_call_requested');
    const then = (await at.request('GET', `/v1/threads/${thread}?at=${requested.position}`)).json;
    expect(then).toMatchObject({ status: 'waiting', position: requested.position });
    expect(then.waiting_on).toMatchObject([{ kind: 'tool_call', id: requested.tool_call_id, operation: 'weather' }]);
    expect((await at.request('GET', `/v1/threads/${thread}?at=9999`)).json).toMatchObject({
      code: 'INVALID_BODY',
      errors: [{ pointer: '/at' }],
    });
  });

  it('lists tool calls with their attempts, and the readable conversation page by page', async () => {
    const thread = await openThread(at);
    await say(at, thread, 'What is the weather in Paris?');
    expect(await sentCalls(at, thread)).toMatchObject([
      {
        operation: 'weather',
        tool_server: 'example-tools',
        arguments: { city: 'Paris' },
        state: 'settled',
        outcome: 'result',
        attempts: [{ status: 200 }],
      },
    ]);
    const first = (await at.request('GET', `/v1/threads/${thread}/messages?limit=1`)).json;
    const rest = (await at.request('GET', `/v1/threads/${thread}/messages?cursor=${first.next_cursor}`)).json;
    expect([...first.data, ...rest.data].map((message: { role: string }) => message.role)).toEqual([
      'user',
      'tool',
      'assistant',
    ]);
    expect(rest.data[0]).toMatchObject({ operation: 'weather' });
    expect(rest.next_cursor).toBeNull();
  });

  it('plays several calls of one answer in parallel and asks again once', async () => {
    const agent = await scriptedAgent(at, [
      [
        { tool_call: { name: 'weather', arguments: { city: 'Oslo' } } },
        { tool_call: { name: 'clock', arguments: {} } },
      ],
      [{ text: 'both are here' }],
    ]);
    const thread = await openThread(at, agent);
    expect(await say(at, thread, 'go')).toMatchObject({ status: 'idle', message: { text: 'both are here' } });
    const { json } = await at.request('GET', `/v1/threads/${thread}`);
    expect(json.usage).toMatchObject({ completions: 2, tool_calls: 2 });
  });

  it('R8 sends nothing when an argument is missing, and tells the model which', async () => {
    const agent = await scriptedAgent(at, [[{ tool_call: { name: 'weather', arguments: {} } }], [{ text: 'sorry' }]]);
    const thread = await openThread(at, agent);
    expect(await say(at, thread, 'go')).toMatchObject({ message: { text: 'sorry' } });
    const calls = (await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data;
    expect(calls).toMatchObject([{ state: 'settled', outcome: 'error', attempts: [] }]);
    const settled = (await eventsOf(at, thread)).find(({ type }) => type === 'tool_call_settled');
    expect(settled).toMatchObject({
      code: 'ARGUMENTS_INVALID',
      content: [{ text: expect.stringContaining('"city"') }],
    });
  });

  it('says why a turn failed, and goes on after a retry', async () => {
    const agent = await scriptedAgent(at, [[{ fail: { status: 400 } }], [{ text: 'now it works' }]]);
    const thread = await openThread(at, agent);
    expect(await say(at, thread, 'go')).toMatchObject({ last_error: { code: expect.stringMatching(/^MODEL_/) } });
    expect((await at.request('POST', `/v1/threads/${thread}/retry`)).status).toBe(202);
    await untilEvent(at, thread, 'completion_recorded'); // until the retry is decided the thread stays idle
    await untilStatus(at, thread, 'idle');
    const messages = (await at.request('GET', `/v1/threads/${thread}/messages`)).json.data;
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', text: 'now it works' });
  });

  it('answers 202, and where the answer will be, when the turn does not end in the time that Prefer gives', async () => {
    const agent = await scriptedAgent(at, [
      [{ tool_call: { name: 'slow_job', arguments: { seconds: 60 } } }],
      [{ text: 'done' }],
    ]);
    const thread = await openThread(at, agent);
    const began = Date.now();
    const answer = await at.request(
      'POST',
      `/v1/threads/${thread}/messages`,
      { text: 'go' },
      { headers: { prefer: 'wait=1' } },
    );
    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({ id: expect.stringMatching(/^msg_/) });
    expect(answer.headers.get('location')).toBe(`/v1/threads/${thread}/messages`);
    expect(Date.now() - began).toBeLessThan(4_000 * slownessOfMachine());
  });

  it('records what a closed thread is asked, and answers 202', async () => {
    const thread = await openThread(at);
    await at.request('POST', `/v1/threads/${thread}/close`);
    await untilStatus(at, thread, 'closed');
    const message = await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'anyone there?' });
    const interrupt = await at.request('POST', `/v1/threads/${thread}/interrupt`);
    expect([message.status, interrupt.status]).toEqual([202, 202]);
    expect(await untilEvent(at, thread, 'message_refused')).toMatchObject({
      message_id: message.json.id,
      code: 'THREAD_CLOSED',
    });
    expect(await untilEvent(at, thread, 'request_refused')).toMatchObject({
      request_id: interrupt.json.id,
      code: 'THREAD_CLOSED',
    });
    expect((await say(at, thread, 'still?')).last_error.code).toBe('THREAD_CLOSED');
  });

  it('keeps large text out of the log and gives it back as a blob', async () => {
    const thread = await openThread(at);
    const text = 'long '.repeat(20_000);
    await say(at, thread, text);
    const accepted = (await eventsOf(at, thread)).find((event) => event.type === 'message_accepted');
    expect(accepted.content[0]).toMatchObject({
      type: 'text',
      bytes: text.length,
      preview: expect.stringMatching(/^long /),
    });
    const blob = await at.request('GET', `/v1/threads/${thread}/blobs/${accepted.content[0].blob}`);
    expect(blob.text).toBe(text);
  });
});
