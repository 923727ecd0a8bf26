// RAP lifecycle, Concurrency and Failures: one message at a time in a thread, threads beside each other, and what a
// user sees when something fails.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { resultIn } from './recording-model.ts';
import { aWhile, discardedOf, eventsOfType, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

/** Open completions after each event: the log itself shows when a model was asked and when it had answered. */
function openCompletions(events: readonly Json[]): readonly number[] {
  const open = new Set<string>();
  return events.map(({ type, completion_id: completion }) => {
    if (type === 'completion_requested') open.add(completion);
    if (type === 'completion_recorded' || type === 'completion_failed') open.delete(completion);
    return open.size;
  });
}

describe('a thread', () => {
  it('R50 takes 200 messages, results and stops at once one after the other: no gap, never two completions', async () => {
    const server = await rig.toolServer();
    const { thread } = await rig.watchedThread(
      (_prompt, index) =>
        index % 3 === 0 ? [toolCall('work', { what: String(index) })] : [{ text: `answer ${index}` }],
      [server],
    );
    await untilEvent(rig.at, thread, 'toolsets_loaded');
    const said = Array.from({ length: 200 }, async (_, index) => {
      await aWhile(Math.random() * 800);
      const call = server.invocations().at(-1);
      if (index % 10 === 7) return rig.at.request('POST', `/v1/threads/${thread}/interrupt`);
      if (index % 4 === 3 && call !== undefined)
        return server.send(call.json, { type: 'tool_result', text: `result ${index}` });
      return rig.at.request('POST', `/v1/threads/${thread}/messages`, { text: `message ${index}` });
    });
    const answers = await Promise.all(said);
    expect(answers.map(({ status }) => status).filter((status) => status !== 202 && status !== 200)).toEqual([]);
    const messages = answers.filter(({ text }) => text.includes('"msg_'));
    await eventually(async () => (await eventsOfType(rig.at, thread, 'message_accepted')).length === messages.length);
    await tell(rig.at, thread, 'the last word'); // whatever call is open now is interrupted
    await eventually(async () => {
      const { json } = await rig.at.request('GET', `/v1/threads/${thread}`);
      if (json.status === 'waiting') await rig.at.request('POST', `/v1/threads/${thread}/interrupt`);
      return json.status === 'idle';
    });
    const events = await eventsOf(rig.at, thread);
    expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 1));
    expect(Math.max(...openCompletions(events))).toBe(1);
    const settled = events.filter(({ type }) => type === 'tool_call_settled').map(({ tool_call_id: call }) => call);
    expect(new Set(settled).size).toBe(settled.length);
    const accepted = events.filter(({ type }) => type === 'message_accepted').map(({ message_id: id }) => id);
    expect(new Set(accepted).size).toBe(accepted.length);
    expect(accepted).toHaveLength(messages.length + 1);
  });

  it('R51 whose model is slow does not delay another', async () => {
    const slow = await rig.thread([[{ wait_ms: 4_000 }, { text: 'slow' }]], []);
    const quick = await rig.thread([[{ text: 'quick' }]], []);
    await tell(rig.at, slow, 'go');
    await untilStatus(rig.at, slow, 'thinking');
    expect(await say(rig.at, quick, 'go')).toMatchObject({ message: { text: 'quick' } });
    expect((await rig.at.request('GET', `/v1/threads/${slow}`)).json.status).toBe('thinking');
    await rig.at.request('POST', `/v1/threads/${slow}/interrupt`);
  });

  it('R52 serves its user while a tool never answers', async () => {
    const server = await rig.toolServer();
    const thread = await rig.thread([[toolCall('work')], [{ text: 'I am here' }]], [server]);
    await tell(rig.at, thread, 'go');
    await server.invocation(0);
    expect(await say(rig.at, thread, 'hello?')).toMatchObject({ status: 'idle', message: { text: 'I am here' } });
  });

  it('R53 answers a result after the interruption with 200 and puts it nowhere', async () => {
    const server = await rig.toolServer();
    const { thread, prompts } = await rig.watchedThread(
      [[toolCall('work')], [{ text: 'never mind' }], [{ text: 'yes' }]],
      [server],
    );
    await tell(rig.at, thread, 'go');
    const call = await server.invocation(0);
    await say(rig.at, thread, 'stop that');
    expect((await server.send(call, { type: 'tool_result', text: 'too late' })).status).toBe(200);
    await aWhile();
    await say(rig.at, thread, 'are you there?');
    expect(await eventsOfType(rig.at, thread, 'tool_call_settled')).toMatchObject([{ outcome: 'interrupted' }]);
    expect(resultIn(prompts[2], call.id)).toMatch(/Interrupted/);
    expect(JSON.stringify(prompts[2])).not.toContain('too late');
    expect(discardedOf(rig.at, thread)).toMatchObject([{ input: 'ToolResult', reason: 'NOT_PENDING', count: 1 }]);
  });

  it('R53 under the policy keep shows the late result once, as a pair of its own', async () => {
    const server = await rig.toolServer();
    const { thread, prompts } = await rig.watchedThread(
      [[toolCall('work')], [{ text: 'meanwhile' }], [{ text: 'thank you' }]],
      [server],
      { agent: { policies: { on_interrupt: 'keep' } } },
    );
    await tell(rig.at, thread, 'go');
    const call = await server.invocation(0);
    await say(rig.at, thread, 'something else');
    expect(resultIn(prompts[1], call.id)).toMatch(/Still running/);
    for (const text of ['late', 'later'])
      expect((await server.send(call, { type: 'tool_result', text })).status).toBe(200);
    await eventually(async () => prompts.length === 3);
    await untilStatus(rig.at, thread, 'idle');
    expect(resultIn(prompts[2], call.id)).toMatch(/Still running/);
    const shown = prompts[2].messages.filter((message: Json) => message.role === 'tool' && message.content === 'late');
    expect(shown).toHaveLength(1);
    expect(server.posts('/cancel_tool_call')).toEqual([]);
    expect(prompts).toHaveLength(3);
  });
});

describe.concurrent('a failure', () => {
  it('R55 of the model keeps what was said and tells the client', async () => {
    const { thread, prompts } = await rig.watchedThread(
      (_prompt, index) =>
        prompts.length > 0 && recovered ? [{ text: `well (${index})` }] : [{ fail: { status: 500 } }],
      [],
    );
    let recovered = false;
    expect(await say(rig.at, thread, 'remember this')).toMatchObject({ last_error: { code: 'MODEL_FAILED' } });
    const events = await eventsOf(rig.at, thread);
    expect(events.find(({ type }) => type === 'message_accepted').content).toEqual([
      { type: 'text', text: 'remember this' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'completion_failed', code: 'MODEL_FAILED', retryable: true });
    recovered = true;
    expect((await rig.at.request('POST', `/v1/threads/${thread}/retry`)).status).toBe(202);
    await eventually(async () => (await eventsOf(rig.at, thread)).at(-1)?.type === 'completion_recorded');
    expect(JSON.stringify(prompts.at(-1).messages)).toContain('remember this');
  });

  it('R58 of a tool to answer in its time is an error result; what comes later is ignored', async () => {
    const server = await rig.toolServer();
    const { thread, prompts } = await rig.watchedThread(
      [[toolCall('work')], [{ text: 'too slow' }], [{ text: 'yes' }]],
      [server],
      { agent: { limits: { tool_timeout_ms: { default: 1_000 } } } },
    );
    const began = Date.now();
    const turn = say(rig.at, thread, 'go');
    const call = await server.invocation(0);
    expect(await turn).toMatchObject({ message: { text: 'too slow' } });
    expect(Date.now() - began).toBeGreaterThanOrEqual(1_000);
    expect(resultIn(prompts[1], call.id)).toMatch(/^Error: .*1 s/);
    expect((await server.send(call, { type: 'tool_result', text: 'here I am' })).status).toBe(200);
    await say(rig.at, thread, 'are you there?');
    expect(resultIn(prompts[2], call.id)).toMatch(/^Error: .*1 s/);
    expect(await eventsOfType(rig.at, thread, 'tool_call_settled')).toMatchObject([{ outcome: 'timed_out' }]);
  });
});
