// What tool servers and models see of a restart: nothing. Addresses, toolsets, questions and subscriptions are the same
// before and after.
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  offeredIn,
  type RecordingModel,
  resultIn,
  type Script,
  startRecordingModel,
} from '../conformance/recording-model.ts';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventsOf, eventually, openThread, say, untilEvent, untilStatus } from './conversation.ts';
import { toolCall } from './driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from './standalone-process.ts';

let at: Standalone;
let model: RecordingModel;
let server: RecordingToolServer;
beforeEach(async () => {
  [at, model] = await Promise.all([startStandalone(), startRecordingModel()]);
  server = await recordToolServer(at);
});
afterEach(async () => {
  await at.stop('SIGKILL');
  await Promise.all([model.close(), server.close()]);
});
afterAll(cleanUp);

async function watched(script: Script) {
  const played = model.plays(script);
  await at.request('POST', '/v1/agents', { name: 'restarted', model: played.model, tool_servers: [server.name] });
  return { thread: await openThread(at, 'restarted'), prompts: played.prompts };
}

async function restart(): Promise<void> {
  await at.stop('SIGKILL');
  at = await startStandalone({ dataDir: at.dataDir, port: at.port });
}

const settledIn = async (thread: string) =>
  (await eventsOf(at, thread)).filter(({ type }) => type === 'tool_call_settled');

describe('after a restart', () => {
  it('R25 the tools of a family are offered as before, also when their server has died', async () => {
    const { thread, prompts } = await watched([[{ text: 'one' }], [{ text: 'two' }]]);
    await say(at, thread, 'one');
    await server.close();
    await restart();
    expect(await say(at, thread, 'two')).toMatchObject({ message: { text: 'two' } });
    expect(offeredIn(prompts[0])).toContain('work');
    expect(offeredIn(prompts[1])).toEqual(offeredIn(prompts[0]));
  });

  it('R10 R37 R40 a callback URL of before takes its result, once: the same again has no effect', async () => {
    const { thread, prompts } = await watched([[toolCall('work')], [{ text: 'understood' }]]);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const call = await server.invocation(0);
    await restart();
    const result = { type: 'tool_result', text: 'from before' };
    expect((await server.send(call, result)).status).toBe(200);
    await untilStatus(at, thread, 'idle');
    await restart();
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.send(call, result)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await settledIn(thread)).toMatchObject([{ content: [{ text: 'from before' }] }]);
    expect(resultIn(prompts[1], call.id)).toBe('from before');
    expect(prompts).toHaveLength(2);
    expect(new Set(server.invocations().map(({ json }) => json.id)).size).toBe(1);
  });

  it('R69 a subscription is still one', async () => {
    const { thread, prompts } = await watched([[toolCall('watch')], [{ text: 'ok' }], [{ text: 'seen' }]]);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const call = await server.invocation(0);
    await server.send(call, { type: 'tool_result', text: 'sub_1', subscription: true });
    await untilStatus(at, thread, 'idle');
    await restart();
    const event = { type: 'subscription_event', text: 'ding', associative: true };
    expect((await server.send(call, event)).status).toBe(200);
    await eventually(async () => prompts.length === 3);
    await untilStatus(at, thread, 'idle');
  });

  it('R90 R91 a question is still open, and its answer reaches the tool', async () => {
    const { thread } = await watched([[toolCall('work')], [{ text: 'ok' }]]);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const call = await server.invocation(0);
    const question = { type: 'user_choice', prompt: '?', choices: ['a', 'b'], default: 0 };
    await server.send(call, { ...question, response_url: `${server.url}/answer` });
    const { choice_id: choice } = await untilEvent(at, thread, 'choice_requested');
    await restart();
    expect((await at.request('POST', `/v1/threads/${thread}/choices/${choice}`, { selected: 1 })).status).toBe(202);
    await eventually(async () => server.posts('/answer').length === 1);
    expect(server.posts('/answer')[0]?.json).toEqual({ id: call.id, selected: 1 });
  });
});
