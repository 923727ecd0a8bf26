import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, scriptedAgent, sentCalls, untilStatus, type System } from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import { openStream } from './event-stream.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

const dangerous = [[{ tool_call: { name: 'delete_everything', arguments: {} } }], [{ text: 'finished' }]];

async function asked(): Promise<{ readonly thread: string; readonly choice: string }> {
  const thread = await openThread(at, await scriptedAgent(at, dangerous));
  const answer = await say(at, thread, 'clean up');
  expect(answer).toMatchObject({
    status: 'waiting',
    waiting_on: [{ kind: 'approval', operation: 'delete_everything' }],
  });
  return { thread, choice: answer.waiting_on[0].id };
}

describe('approvals', () => {
  it('R27 sends nothing before a person allows it, then exactly that', async () => {
    const { thread, choice } = await asked();
    const list = (await at.request('GET', `/v1/threads/${thread}/choices`)).json.data;
    expect(list).toMatchObject([
      { id: choice, kind: 'approval', choices: ['allow', 'deny', 'allow_for_thread'], arguments: {} },
    ]);
    const before = (await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data;
    expect(before).toMatchObject([{ state: 'approval', attempts: [] }]);
    const answer = await at.request('POST', `/v1/threads/${thread}/choices/${choice}`, {
      decision: 'allow',
      reason: 'sure',
      decided_by: 'ann',
    });
    expect(answer.status).toBe(202);
    await untilStatus(at, thread, 'idle');
    expect(await sentCalls(at, thread)).toMatchObject([
      { state: 'settled', outcome: 'result', attempts: [{ status: 200 }] },
    ]);
    const settled = (await eventsOf(at, thread)).find(({ type }) => type === 'choice_settled');
    expect(settled).toMatchObject({
      choice_id: choice,
      decision: 'allow',
      by: 'ann',
      reason: 'sure',
      cause: { id: answer.json.id },
    });
  });

  it('R104 names the characters in the arguments that a person cannot see', async () => {
    const tools = await driveToolServer(at);
    const args = { what: 'west\u202Etsae', note: 'a\u200Bb', filler: '\u3164', smile: '❤\uFE0F' };
    const policies = { approve: { mode: 'all' } };
    const agent = await scriptedAgent(at, [[toolCall('work', args)]], { policies, tool_servers: [tools.name] });
    const thread = await openThread(at, agent);
    const answer = await say(at, thread, 'clean up');
    const [shown] = (await at.request('GET', `/v1/threads/${thread}/choices`)).json.data;
    expect([answer.status, shown]).toMatchObject(['waiting', { arguments: args }]);
    expect(shown.warnings).toEqual([
      '/what holds the invisible character U+202E',
      '/note holds the invisible character U+200B',
      '/filler holds the invisible character U+3164',
    ]);
    await tools.close();
  });

  it('tells the model that a person said no, and sends nothing', async () => {
    const { thread, choice } = await asked();
    await at.request('POST', `/v1/threads/${thread}/choices/${choice}`, { decision: 'deny' });
    await untilStatus(at, thread, 'idle');
    const calls = (await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data;
    expect(calls).toMatchObject([{ outcome: 'denied', attempts: [] }]);
  });

  it('keeps the first answer and gives it to whoever answers second', async () => {
    const { thread, choice } = await asked();
    const path = `/v1/threads/${thread}/choices/${choice}`;
    await at.request('POST', path, { decision: 'deny', decided_by: 'ann' });
    const second = await at.request('POST', path, { decision: 'allow', decided_by: 'ben' });
    expect(second.status).toBe(409);
    expect(second.json).toMatchObject({
      code: 'CHOICE_SETTLED',
      settled: { choice_id: choice, decision: 'deny', by: 'ann' },
    });
  });

  it('lets one of two answers at the same moment win', async () => {
    const { thread, choice } = await asked();
    const path = `/v1/threads/${thread}/choices/${choice}`;
    const answers = await Promise.all(
      ['allow', 'deny', 'deny'].map((decision) => at.request('POST', path, { decision })),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['202', '409', '409']);
    const settled = (await eventsOf(at, thread)).filter(({ type }) => type === 'choice_settled');
    expect(settled).toHaveLength(1);
  });

  it('is shown on the stream when it opens, and again to who comes late', async () => {
    const thread = await openThread(at, await scriptedAgent(at, dangerous));
    const early = await openStream(at, thread);
    const { waiting_on: waitingOn } = await say(at, thread, 'clean up');
    const frames = await early.until(({ event }) => event === 'choice');
    expect(frames.at(-1)?.data).toMatchObject({ id: waitingOn[0].id, kind: 'approval' });
    const late = await openStream(at, thread);
    expect((await late.until(({ event }) => event === 'choice')).map(({ event }) => event)).toEqual([
      'status',
      'choice',
    ]);
    early.close();
    late.close();
  });

  it('knows no choice that was never asked', async () => {
    const thread = await openThread(at);
    expect(await at.request('POST', `/v1/threads/${thread}/choices/chc_nothing`, { decision: 'allow' })).toMatchObject({
      status: 404,
    });
  });
});
