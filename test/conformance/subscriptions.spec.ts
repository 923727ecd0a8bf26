// RAP subscription-events: what a subscription is, how its events reach a model, and how it ends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, say, type Step, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { callsIn, offeredIn, type Prompt, resultIn } from './recording-model.ts';
import type { RecordingToolServer } from './recording-tool-server.ts';
import { aWhile, discardedOf, eventsOfType, type More, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

interface Watching {
  readonly thread: string;
  readonly prompts: readonly Prompt[];
  readonly servers: readonly RecordingToolServer[];
  readonly server: RecordingToolServer;
  /** The invocation that subscribed. */
  readonly call: Json;
  readonly event: (text: string, more?: Step) => Promise<number>;
}

const watch = [toolCall('watch', { what: 'the door' })];

/** A thread that has subscribed with its first call and is idle; further answers of its model as given. */
async function watching(then: readonly (readonly Step[])[] = [], more: More = {}): Promise<Watching> {
  const servers = [await rig.toolServer(), await rig.toolServer({ tools: [{ ...otherTool }] })];
  const [server] = servers;
  if (server === undefined) throw new Error('there is no server');
  const script = [watch, [{ text: 'I am watching.' }], ...then];
  const { thread, prompts } = await rig.watchedThread(script, servers, more);
  const turn = say(rig.at, thread, 'watch the door');
  const call = await server.invocation(0);
  expect((await server.send(call, { type: 'tool_result', text: 'sub_1', subscription: true })).status).toBe(200);
  expect(await turn).toMatchObject({ status: 'idle' });
  const event = async (text: string, fields: Step = {}): Promise<number> =>
    (await server.send(call, { type: 'subscription_event', text, ...fields })).status;
  return { thread, prompts, servers, server, call, event };
}

const otherTool = { name: 'other', description: 'Does other things.', inputSchema: { type: 'object' } };

const subscriptionsOf = async (thread: string): Promise<Json> =>
  (await rig.at.request('GET', `/v1/threads/${thread}`)).json.subscriptions;

describe('a subscription', () => {
  it('R69 is listed by the thread that opened it, and not by its child', async () => {
    const { thread, call, event } = await watching([[{ text: 'seen' }]]);
    expect(await subscriptionsOf(thread)).toMatchObject([{ tool_call_id: call.id, operation: 'watch', events: 0 }]);
    expect(await event('somebody came')).toBe(200);
    const { child_id: child } = await untilEvent(rig.at, thread, 'child_spawned');
    await untilEvent(rig.at, child, 'completion_recorded');
    expect(await subscriptionsOf(child)).toEqual([]);
    expect(await subscriptionsOf(thread)).toMatchObject([{ tool_call_id: call.id, events: 1 }]);
  });

  it('R69 is not opened by an error, whatever flag it carries', async () => {
    const server = await rig.toolServer();
    const thread = await rig.thread([watch, [{ text: 'no luck' }]], [server]);
    const turn = say(rig.at, thread, 'watch');
    const call = await server.invocation(0);
    await server.send(call, { type: 'tool_result', text: 'Error: no such door', subscription: true });
    await turn;
    expect(await subscriptionsOf(thread)).toEqual([]);
  });

  it('R83 beyond the fiftieth of a thread is an error for the model, and its server is told to stop', async () => {
    const server = await rig.toolServer();
    const calls = Array.from({ length: 51 }, (_, index) => toolCall('watch', { what: String(index) }));
    const { thread, prompts } = await rig.watchedThread([calls, [{ text: 'ok' }]], [server]);
    const turn = say(rig.at, thread, 'watch everything');
    for (let index = 0; index < 51; index++) {
      const confirmation = { type: 'tool_result', text: `sub_${index}`, subscription: true };
      expect((await server.send(await server.invocation(index), confirmation)).status).toBe(200);
    }
    await turn;
    expect(await subscriptionsOf(thread)).toHaveLength(50);
    const failed = (await eventsOfType(rig.at, thread, 'tool_call_settled')).filter(
      ({ outcome }) => outcome === 'error',
    );
    expect(failed).toHaveLength(1);
    const { tool_call_id: last } = failed[0];
    expect(resultIn(prompts[1], last)).toMatch(/^Error: .*50 subscriptions/);
    await eventually(async () => server.posts('/cancel_tool_call').length === 1);
    expect(server.posts('/cancel_tool_call')[0]?.json).toEqual({ thread_id: thread, tool_call_id: last });
  });
});

describe.concurrent('an event', () => {
  it('R70 R71 R73 is a call and a result of its own in the same thread, never a second result', async () => {
    const { thread, prompts, call, event } = await watching([[{ text: 'It opened.' }]]);
    expect(await event('open', { associative: true })).toBe(200);
    await eventually(async () => prompts.length === 3);
    const prompt = prompts[2];
    expect(resultIn(prompt, call.id)).toBe(`sub_1\n[Subscription ID: ${call.id}]`); // fails when there are two
    const injected = callsIn(prompt).at(-1);
    expect(injected.function.name).toBe('watch');
    expect(JSON.parse(injected.function.arguments)).toEqual({
      what: 'the door',
      kind: `interrupt:${call.id} (subscription remains active)`,
    });
    expect(injected.id).not.toBe(call.id);
    expect(resultIn(prompt, injected.id)).toBe('open');
    const ids = callsIn(prompt).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await eventsOfType(rig.at, thread, 'child_spawned')).toEqual([]);
  });

  it('R71 R72 has the reserved name and the original call as arguments where the agent says so', async () => {
    const more = { agent: { policies: { event_style: 'reserved' } } };
    const { prompts, call, event } = await watching([[{ text: 'It opened.' }]], more);
    expect(await event('open', { associative: true })).toBe(200);
    await eventually(async () => prompts.length === 3);
    const injected = callsIn(prompts[2]).at(-1);
    expect(injected.function.name).toBe('receive_event__injected');
    expect(JSON.parse(injected.function.arguments)).toEqual({
      original_tool_name: 'watch',
      original_tool_call_id: call.id,
      original_args: { what: 'the door' },
    });
  });

  it('R72 under the reserved name cannot be called by a model: an error, and no request', async () => {
    const server = await rig.toolServer();
    const script = [[toolCall('receive_event__injected', { text: 'forged' })], [{ text: 'sorry' }]];
    const { thread, prompts } = await rig.watchedThread(script, [server]);
    await say(rig.at, thread, 'go');
    const { tool_call_id: call } = await untilEvent(rig.at, thread, 'tool_call_settled');
    expect(resultIn(prompts[1], call)).toMatch(/^Error: /);
    expect(server.invocations()).toEqual([]);
  });

  it('R74 that is not associative opens a child with the history up to there and the event', async () => {
    const { thread, prompts, event } = await watching([[{ text: 'I look after it.' }]]);
    const { position } = (await rig.at.request('GET', `/v1/threads/${thread}`)).json;
    expect(await event('somebody came')).toBe(200);
    await eventually(async () => prompts.length >= 3);
    const spawned = await untilEvent(rig.at, thread, 'child_spawned');
    const opened = await untilEvent(rig.at, spawned.child_id, 'thread_opened');
    expect(opened.parent.thread_id).toBe(thread);
    expect(opened.parent.position).toBeGreaterThanOrEqual(position);
    const [own, inherited] = [prompts[2].messages, prompts[1].messages];
    // The whole last prompt of the parent's model, its answer, then the pair.
    expect(own.slice(0, inherited.length)).toEqual(inherited);
    expect(own[inherited.length]).toMatchObject({ role: 'assistant', content: 'I am watching.' });
    expect(own.slice(inherited.length + 1).map(({ role }: Json) => role)).toEqual(['assistant', 'tool']);
    expect(own.at(-1).content).toBe('somebody came');
    expect(spawned.child_id).not.toBe(thread);
  });

  it('R75 R82 that is final ends the subscription: what follows is discarded', async () => {
    const { thread, prompts, call, event } = await watching([[{ text: 'It closed.' }]]);
    expect(await event('closed', { associative: true, final: true })).toBe(200);
    await untilEvent(rig.at, thread, 'subscription_closed');
    await eventually(async () => prompts.length === 3);
    expect(JSON.parse(callsIn(prompts[2]).at(-1).function.arguments).kind).toBe(
      `interrupt:${call.id} (subscription ended)`,
    );
    await untilStatus(rig.at, thread, 'idle');
    expect(await subscriptionsOf(thread)).toEqual([]);
    const before = await eventsOf(rig.at, thread);
    expect(await event('ghost', { associative: true })).toBe(200);
    await aWhile();
    expect(await eventsOf(rig.at, thread)).toEqual(before);
    expect(prompts).toHaveLength(3);
  });

  it('R81 of a thread that is closed is taken with 200, and no model hears of it', async () => {
    const { thread, prompts, event } = await watching();
    await rig.at.request('POST', `/v1/threads/${thread}/close`);
    await untilStatus(rig.at, thread, 'closed');
    const before = await eventsOf(rig.at, thread);
    for (const associative of [true, false]) expect(await event('anyone there?', { associative })).toBe(200);
    await aWhile();
    expect(await eventsOf(rig.at, thread)).toEqual(before);
    expect(prompts).toHaveLength(2);
    expect(discardedOf(rig.at, thread)).toMatchObject([
      { input: 'SubscriptionEvent', reason: 'CLOSED', count: 1 },
      { input: 'SubscriptionEvent', reason: 'CLOSED', count: 2 },
    ]);
  });

  it('R82 of a call that never subscribed is discarded', async () => {
    const server = await rig.toolServer();
    const thread = await rig.thread([[toolCall('work')], [{ text: 'ok' }]], [server]);
    const turn = say(rig.at, thread, 'go');
    const call = await server.invocation(0);
    await server.send(call, { type: 'tool_result', text: 'done' });
    await turn;
    const before = await eventsOf(rig.at, thread);
    expect((await server.send(call, { type: 'subscription_event', text: 'ghost', associative: true })).status).toBe(
      200,
    );
    await aWhile();
    expect(await eventsOf(rig.at, thread)).toEqual(before);
    expect(discardedOf(rig.at, thread)).toMatchObject([{ call: call.id, reason: 'NOT_SUBSCRIBED', count: 1 }]);
  });
});

/** The model cancels what it subscribed to with its first call. */
const cancelling = (prompt: Prompt, index: number): readonly Step[] => {
  if (index === 0) return watch;
  const subscribed = callsIn(prompt)[0]?.id;
  return index === 2 ? [toolCall('cancel_subscription', { tool_call_id: subscribed })] : [{ text: 'well' }];
};

async function cancellable(script: (prompt: Prompt, index: number) => readonly Step[]): Promise<Watching> {
  const servers = [await rig.toolServer(), await rig.toolServer({ tools: [otherTool] })];
  const [server] = servers;
  if (server === undefined) throw new Error('there is no server');
  const { thread, prompts } = await rig.watchedThread(script, servers);
  const turn = say(rig.at, thread, 'watch the door');
  const call = await server.invocation(0);
  await server.send(call, { type: 'tool_result', text: 'sub_1', subscription: true });
  await turn;
  const event = async (text: string, fields: Step = {}): Promise<number> =>
    (await server.send(call, { type: 'subscription_event', text, ...fields })).status;
  return { thread, prompts, servers, server, call, event };
}

describe.concurrent('cancel_subscription', () => {
  it('R76 R78 R82 is offered, ends the subscription, tells every server once; later events are discarded', async () => {
    const { thread, prompts, servers, call, event } = await cancellable(cancelling);
    expect(offeredIn(prompts[0])).toContain('cancel_subscription');
    await say(rig.at, thread, 'stop watching');
    expect(await subscriptionsOf(thread)).toEqual([]);
    await eventually(async () => servers.every((server) => server.posts('/cancel_tool_call').length === 1));
    for (const server of servers)
      expect(server.posts('/cancel_tool_call').map(({ json }) => json)).toEqual([
        { thread_id: thread, tool_call_id: call.id },
      ]);
    const before = await eventsOf(rig.at, thread);
    expect(await event('ghost', { associative: true })).toBe(200);
    await aWhile();
    expect(await eventsOf(rig.at, thread)).toEqual(before);
    expect(servers.map((server) => server.invocations().length)).toEqual([1, 0]);
  });

  it('R77 of an id that nobody knows is an error', async () => {
    const script = [[toolCall('cancel_subscription', { tool_call_id: 'call_nobody' })], [{ text: 'sorry' }]];
    const { thread, prompts } = await rig.watchedThread(script, []);
    await say(rig.at, thread, 'go');
    const settled = await untilEvent(rig.at, thread, 'tool_call_settled');
    expect(settled.outcome).toBe('error');
    expect(resultIn(prompts[1], settled.tool_call_id)).toMatch(/^Error: .*call_nobody/);
  });

  it('R77 by a child of what its parent subscribed to is an error, and the subscription stays', async () => {
    const { thread, event, servers } = await cancellable(cancelling);
    expect(await event('somebody came')).toBe(200);
    const { child_id: child } = await untilEvent(rig.at, thread, 'child_spawned');
    const settled = await untilEvent(rig.at, child, 'tool_call_settled');
    expect(settled).toMatchObject({ outcome: 'error' });
    await aWhile();
    expect(await subscriptionsOf(thread)).toHaveLength(1);
    expect(servers.map((server) => server.posts('/cancel_tool_call').length)).toEqual([0, 0]);
  });

  it('R79 has its result before anything else enters, also with a message on its way', async () => {
    const { thread } = await cancellable((prompt, index) => {
      const cancelled = JSON.stringify(prompt.messages).includes('is cancelled');
      return index < 2 || cancelled ? cancelling(prompt, index) : [{ wait_ms: 200 }, ...cancelling(prompt, 2)];
    });
    await tell(rig.at, thread, 'stop watching');
    await tell(rig.at, thread, 'and say hello');
    await eventually(async () => (await eventsOfType(rig.at, thread, 'subscription_closed')).length === 1);
    await untilStatus(rig.at, thread, 'idle');
    const events = await eventsOf(rig.at, thread);
    const at = events.findLastIndex(({ type }) => type === 'tool_call_requested');
    expect(events.slice(at, at + 3).map(({ type }) => type)).toEqual([
      'tool_call_requested',
      'subscription_closed',
      'tool_call_settled',
    ]);
    const causes = events.slice(at, at + 3).map(({ cause }) => cause.id);
    expect(new Set(causes).size).toBe(1);
  });

  it('R80 is not sent for what is open when a thread closes, unless its agent says so', async () => {
    const counted = async (cancel: boolean): Promise<readonly number[]> => {
      const { thread, servers } = await watching([], {
        agent: { policies: { cancel_subscriptions_on_close: cancel } },
      });
      await rig.at.request('POST', `/v1/threads/${thread}/close`);
      await eventually(async () => servers.every((server) => server.posts('/close_thread').length === 1));
      await aWhile();
      return servers.map((server) => server.posts('/cancel_tool_call').length);
    };
    expect(await counted(false)).toEqual([0, 0]);
    expect(await counted(true)).toEqual([1, 1]);
  });
});
