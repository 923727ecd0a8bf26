// What existing tool servers really do, and a runtime must accept: null for optional fields, unknown fields and items,
// no content type, answers that cross each other, subscriptions without a waiting caller.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { callsIn, type Prompt, resultIn } from './recording-model.ts';
import { type RecordingToolServer, status, tool } from './recording-tool-server.ts';
import { aWhile, eventsOfType, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

interface Pending {
  readonly server: RecordingToolServer;
  readonly thread: string;
  readonly call: Json;
  readonly prompts: readonly Prompt[];
}

async function pending(): Promise<Pending> {
  const server = await rig.toolServer();
  const script = [[toolCall('work')], [{ text: 'one' }], [{ text: 'two' }]];
  const { thread, prompts } = await rig.watchedThread(script, [server]);
  await tell(rig.at, thread, 'go');
  return { server, thread, prompts, call: await server.invocation(0) };
}

async function resultOf({ server, thread, call, prompts }: Pending, message: object): Promise<string | undefined> {
  expect((await server.send(call, { type: 'tool_result', ...message })).status).toBe(200);
  await untilStatus(rig.at, thread, 'idle');
  return resultIn(prompts[1], call.id);
}

describe.concurrent('a result', () => {
  it('R33 with null for everything optional and with fields that nobody knows is taken', async () => {
    const nothing = { call_id: null, content: null, display_as: null, subscription: null };
    expect(await resultOf(await pending(), { text: 'ok', ...nothing, took_ms: 5, x: { y: [] } })).toBe('ok');
  });

  it('R44 R48 whose content has items that nobody knows keeps the others', async () => {
    const content = [{ type: 'audio', data: 'x' }, { type: 'text', text: 'still here' }, { type: 'video' }];
    expect(await resultOf(await pending(), { content })).toContain('still here');
  });

  it('R33 without a content type is read as JSON', async () => {
    const { thread, call, prompts } = await pending();
    const body = new TextEncoder().encode(
      JSON.stringify({ type: 'tool_result', group_id: thread, id: call.id, text: 'plain' }),
    );
    const answer = await fetch(call.callback_url, { method: 'POST', body }); // bytes: no type is set
    expect(answer.status).toBe(200);
    await untilStatus(rig.at, thread, 'idle');
    expect(resultIn(prompts[1], call.id)).toBe('plain');
  });

  it('R5 R37 that comes although the acknowledgement was a 500 counts, and the call is not sent on for ever', async () => {
    const server = await rig.toolServer();
    server.replies('/invoke', status(500));
    const { thread, prompts } = await rig.watchedThread([[toolCall('work')], [{ text: 'ok' }]], [server]);
    const turn = say(rig.at, thread, 'go');
    const call = await server.invocation(0);
    await server.send(call, { type: 'tool_result', text: 'done all the same' });
    expect(await turn).toMatchObject({ message: { text: 'ok' } });
    expect(resultIn(prompts[1], call.id)).toBe('done all the same');
    await aWhile(1_000);
    const sent = server.invocations().length;
    await aWhile(1_000);
    expect(server.invocations()).toHaveLength(sent);
    expect(await eventsOfType(rig.at, thread, 'tool_call_settled')).toMatchObject([{ outcome: 'result' }]);
  });

  it('R33 that is malformed five times settles its call with an error', async () => {
    const { server, thread, call, prompts } = await pending();
    for (let sent = 0; sent < 5; sent++)
      expect((await server.send(call, { type: 'tool_result', text: sent })).status).toBe(422);
    await untilStatus(rig.at, thread, 'idle');
    expect(resultIn(prompts[1], call.id)).toMatch(/^Error: /);
    expect(await eventsOfType(rig.at, thread, 'callback_rejected')).toHaveLength(5);
  });
});

describe.concurrent('a subscription', () => {
  it('R53 R82 that a call confirms after it was interrupted is one that nobody hears: its server is told once', async () => {
    const { server, thread, call } = await pending();
    await say(rig.at, thread, 'never mind');
    await eventually(async () => server.posts('/cancel_tool_call').length === 1);
    const late = { type: 'tool_result', text: 'sub_1', subscription: true };
    for (let sent = 0; sent < 3; sent++) expect((await server.send(call, late)).status).toBe(200);
    await eventually(async () => server.posts('/cancel_tool_call').length === 2);
    await aWhile();
    expect(server.posts('/cancel_tool_call')).toHaveLength(2);
    expect((await rig.at.request('GET', `/v1/threads/${thread}`)).json.subscriptions).toEqual([]);
  });

  it('R37 R73 takes an event once under the id of its sender, and null for what is optional', async () => {
    const { server, thread, call, prompts } = await pending();
    await server.send(call, { type: 'tool_result', text: 'sub', subscription: true });
    await untilStatus(rig.at, thread, 'idle');
    const event = { type: 'subscription_event', text: 'ding', associative: true, final: null };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => server.send(call, event, { 'webhook-id': 'evt_1' })),
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    await eventually(async () => prompts.length === 3);
    await untilStatus(rig.at, thread, 'idle');
    expect(await eventsOfType(rig.at, thread, 'subscription_event_received')).toMatchObject([{ event_id: 'evt_1' }]);
    expect(callsIn(prompts[2])).toHaveLength(2);
  });

  it('R74 takes null for associative as an event for a child', async () => {
    const { server, thread, call } = await pending();
    await server.send(call, { type: 'tool_result', text: 'sub', subscription: true });
    await untilStatus(rig.at, thread, 'idle');
    await server.send(call, { type: 'subscription_event', text: 'ding', associative: null });
    await untilEvent(rig.at, thread, 'child_spawned');
  });
});

describe('a server', () => {
  it('R59 R64 that answers its notices with nonsense, or takes them for invocations, is as good as any', async () => {
    const server = await rig.toolServer();
    server.replies('/cancel_tool_call', status(422, '{"error":"id is missing"}'));
    server.replies('/close_thread', status(405));
    const thread = await rig.thread([[toolCall('work')], [{ text: 'ok' }]], [server]);
    await tell(rig.at, thread, 'go');
    await server.invocation(0);
    expect(await say(rig.at, thread, 'stop')).toMatchObject({ status: 'idle' });
    await rig.at.request('POST', `/v1/threads/${thread}/close`);
    await untilStatus(rig.at, thread, 'closed');
    await eventually(async () => server.posts('/close_thread').length === 1);
    expect((await eventsOf(rig.at, thread)).at(-1)).toMatchObject({ type: 'thread_closed' });
  });

  it('R3 R18 whose manifest has no content type, and whose endpoint is its base URL, is called there', async () => {
    const server = await rig.toolServer();
    const manifest = JSON.stringify({ ...server.manifest([tool('work')]), endpoint: server.url });
    server.replies('/.well-known/rap-toolset', (response) => void response.end(manifest));
    const thread = await rig.thread([[toolCall('work')], [{ text: 'ok' }]], [server]);
    await tell(rig.at, thread, 'go');
    await eventually(async () => server.posts('/').length === 1);
  });

  it('R3 that advertises an endpoint nobody can reach is called where its registration says', async () => {
    const server = await rig.toolServer();
    server.publish({ ...server.manifest([tool('work')]), endpoint: 'https://tools.invalid/invoke' });
    const endpoint_override = `${server.url}/elsewhere`;
    await rig.at.request('PATCH', `/v1/tool-servers/${server.name}`, { endpoint_override });
    const thread = await rig.thread([[toolCall('work')], [{ text: 'ok' }]], [server]);
    await tell(rig.at, thread, 'go');
    await eventually(async () => server.posts('/elsewhere').length === 1);
  });
});
