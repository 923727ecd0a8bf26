// RAP user-choice: a tool's question reaches users, one answer reaches the tool, and nothing answers in the user's
// place.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { openStream } from '../e2e/event-stream.ts';
import type { Answer, Json } from '../e2e/standalone-process.ts';
import { fixture, normalised } from './fixture.ts';
import { type RecordingToolServer, status } from './recording-tool-server.ts';
import { aWhile, eventsOfType, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

const answerPath = '/answers/7';

const question = (server: RecordingToolServer): Readonly<Record<string, unknown>> => ({
  type: 'user_choice',
  prompt: 'Which colour?',
  choices: ['red', 'green', 'blue'],
  default: 1,
  response_url: `${server.url}${answerPath}`,
});

interface Asked {
  readonly server: RecordingToolServer;
  readonly thread: string;
  readonly call: Json;
  readonly choice: string;
  readonly answer: (body: unknown) => Promise<Answer>;
  /** The answers that the tool received. */
  readonly told: () => readonly Json[];
}

async function asked(): Promise<Asked> {
  const server = await rig.toolServer();
  const thread = await rig.thread([[toolCall('work')], [{ text: 'done' }]], [server]);
  await tell(rig.at, thread, 'go');
  const call = await server.invocation(0);
  expect((await server.send(call, question(server))).status).toBe(200);
  const { choice_id: choice } = await untilEvent(rig.at, thread, 'choice_requested');
  return {
    ...{ server, thread, call, choice },
    answer: (body) => rig.at.request('POST', `/v1/threads/${thread}/choices/${choice}`, body),
    told: () => server.posts(answerPath).map(({ json }) => json),
  };
}

describe.concurrent('a choice', () => {
  it('R89 is shown with its prompt and its options, early, late and in the list', async () => {
    const server = await rig.toolServer();
    const thread = await rig.thread([[toolCall('work')], [{ text: 'done' }]], [server]);
    const early = await openStream(rig.at, thread);
    await tell(rig.at, thread, 'go');
    const call = await server.invocation(0);
    await server.send(call, question(server));
    const shown = { kind: 'tool', tool_call_id: call.id, prompt: 'Which colour?', default: 1 };
    const complete = { ...shown, choices: ['red', 'green', 'blue'] };
    expect((await early.until(({ event }) => event === 'choice')).at(-1)?.data).toMatchObject(complete);
    const late = await openStream(rig.at, thread);
    expect((await late.until(({ event }) => event === 'choice')).at(-1)?.data).toMatchObject(complete);
    early.close();
    late.close();
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}/choices`);
    expect(json.data).toMatchObject([complete]);
    expect(JSON.stringify(json)).not.toContain(answerPath);
  });

  it('R90 R93 keeps its call pending until the result; nothing is sent again', async () => {
    const { server, thread, call, answer } = await asked();
    expect((await rig.at.request('GET', `/v1/threads/${thread}`)).json).toMatchObject({
      status: 'waiting',
      waiting_on: [{ kind: 'choice', operation: 'work' }],
    });
    expect((await answer({ selected: 0 })).status).toBe(202);
    await aWhile(1_500); // longer than a retry would wait
    expect(await eventsOfType(rig.at, thread, 'tool_call_settled')).toEqual([]);
    expect((await server.send(call, { type: 'tool_result', text: 'red it is' })).status).toBe(200);
    await untilStatus(rig.at, thread, 'idle');
    expect(server.invocations()).toHaveLength(1);
  });

  it('R91 posts exactly the call and the index to the response URL, and refuses an index that is none', async () => {
    const { server, call, answer, told } = await asked();
    for (const selected of [3, -1, 0.5]) expect((await answer({ selected })).status).toBe(422);
    expect(told()).toEqual([]);
    expect((await answer({ selected: 2 })).status).toBe(202);
    await eventually(async () => told().length === 1);
    const [request] = server.posts(answerPath);
    if (request === undefined) throw new Error('nothing was sent');
    const { choice_id: choice } = await untilEvent(rig.at, call.group_id, 'choice_settled');
    expect(normalised(request, { [call.id]: 'call', [choice]: 'choice' })).toEqual(fixture('choice-answer'));
  });

  it('R91 posts again while the tool cannot take the answer', async () => {
    const { server, call, answer, told } = await asked();
    server.replies(answerPath, status(503), status(200));
    await answer({ selected: 0 });
    await eventually(async () => told().length === 2);
    expect(told()).toEqual(Array.from({ length: 2 }, () => ({ id: call.id, selected: 0 })));
  });

  it('R92 that is dismissed posts its default', async () => {
    const { call, answer, told } = await asked();
    expect((await answer({ dismiss: true })).status).toBe(202);
    await eventually(async () => told().length === 1);
    expect(told()).toEqual([{ id: call.id, selected: 1 }]);
  });

  it('R92 that is interrupted, and one whose thread is closed, post their default', async () => {
    const [interrupted, closed] = await Promise.all([asked(), asked()]);
    await rig.at.request('POST', `/v1/threads/${interrupted.thread}/interrupt`, { include_human: true });
    await rig.at.request('POST', `/v1/threads/${closed.thread}/close`);
    for (const { call, told } of [interrupted, closed]) {
      await eventually(async () => told().length === 1);
      expect(told()).toEqual([{ id: call.id, selected: 1 }]);
    }
  });

  it('R94 that was answered before is asked again', async () => {
    const server = await rig.toolServer();
    const thread = await rig.thread(
      [[toolCall('work')], [{ text: 'one' }], [toolCall('work')], [{ text: 'two' }]],
      [server],
    );
    const choices: string[] = [];
    for (const turn of [0, 1]) {
      await tell(rig.at, thread, 'go');
      const call = await server.invocation(turn);
      await server.send(call, question(server));
      const { choice_id: choice } = await eventually(
        async () => (await eventsOfType(rig.at, thread, 'choice_requested'))[turn],
      );
      choices.push(choice);
      await aWhile();
      expect(server.posts(answerPath)).toHaveLength(turn); // no answer in the user's place
      await rig.at.request('POST', `/v1/threads/${thread}/choices/${choice}`, { selected: turn });
      await eventually(async () => server.posts(answerPath).length === turn + 1);
      await server.send(call, { type: 'tool_result', text: 'done' });
      await untilStatus(rig.at, thread, 'idle');
    }
    expect(new Set(choices).size).toBe(2);
    expect(server.posts(answerPath).map(({ json }) => json.selected)).toEqual([0, 1]);
  });

  it.each([
    ['under a message id of its own', (turn: number) => ({ 'idempotency-key': `question-${turn}` })],
    ['without one', () => ({})],
  ])('R94 that was answered before is asked again within its call, %s', async (_, headers) => {
    const server = await rig.toolServer();
    const thread = await rig.thread([[toolCall('work')], [{ text: 'done' }]], [server]);
    await tell(rig.at, thread, 'go');
    const call = await server.invocation(0);
    for (const turn of [0, 1]) {
      for (const _copy of ['first', 'again'])
        expect((await server.send(call, question(server), headers(turn))).status).toBe(200);
      const { choice_id: choice } = await eventually(
        async () => (await eventsOfType(rig.at, thread, 'choice_requested'))[turn],
      );
      await rig.at.request('POST', `/v1/threads/${thread}/choices/${choice}`, { selected: turn });
      await eventually(async () => server.posts(answerPath).length === turn + 1);
    }
    await server.send(call, { type: 'tool_result', text: 'done' });
    await untilStatus(rig.at, thread, 'idle');
    expect(server.posts(answerPath).map(({ json }) => json.selected)).toEqual([0, 1]);
    expect(await eventsOfType(rig.at, thread, 'choice_requested')).toHaveLength(2);
  });

  it('R90 stays open while the user talks', async () => {
    const { thread, choice, told } = await asked();
    expect(await say(rig.at, thread, 'let me think')).toMatchObject({ message: { text: 'done' } });
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}/choices`);
    expect(json.data).toMatchObject([{ id: choice }]);
    expect(told()).toEqual([]);
  });
});
