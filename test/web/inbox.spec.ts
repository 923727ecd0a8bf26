// What waits for people over all threads, and their answers: GET and POST /v1/choices.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askingChild,
  eventsOf,
  eventually,
  openThread,
  say,
  scriptedAgent,
  type System,
  untilStatus,
} from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { openStream, type SseFrame } from '../e2e/event-stream.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

const dangerous = [[toolCall('delete_everything', {})], [{ text: 'finished' }]];

/** A thread whose call waits for an approval. */
async function asking(agent: string): Promise<{ readonly thread: string; readonly choice: string }> {
  const thread = await openThread(at, agent);
  const answer = await say(at, thread, 'clean up');
  return { thread, choice: answer.waiting_on[0].id };
}

const inbox = async (query: string): Promise<readonly Json[]> =>
  (await at.request('GET', `/v1/choices?${query}`)).json.data;

/** Rows follow their commits: waits until the list has these ids. */
const untilListed = (query: string, ids: readonly string[]): Promise<readonly Json[]> =>
  eventually(async () => {
    const rows = await inbox(query);
    return JSON.stringify(rows.map(({ id }) => id)) === JSON.stringify(ids) && rows;
  });

const post = (path: string, body: unknown): ReturnType<System['request']> => at.request('POST', path, body);

describe('the inbox', () => {
  it('has what waits in all threads, oldest first, and what was decided, latest first', async () => {
    const agent = await scriptedAgent(at, dangerous);
    const one = await asking(agent);
    const two = await asking(agent);
    const open = await untilListed(`agent=${agent}`, [one.choice, two.choice]);
    expect(open[0]).toMatchObject({
      ...{ id: one.choice, kind: 'approval', thread_id: one.thread, agent, operation: 'delete_everything' },
      ...{ tool_server: 'example-tools', choices: ['allow', 'deny', 'allow_for_thread'], default: 1, arguments: {} },
    });
    const [frame] = (await at.request('GET', `/v1/threads/${one.thread}/choices`)).json.data;
    expect(open[0]).toMatchObject(frame);
    expect(Date.parse(open[0].since)).toBeLessThanOrEqual(Date.parse(open[1].since));
    expect((await inbox(`thread=${two.thread}`)).map(({ id }) => id)).toEqual([two.choice]);
    expect(await inbox(`agent=${agent}&kind=tool`)).toEqual([]);
    expect(
      (await post(`/v1/choices/${one.choice}`, { decision: 'deny', decided_by: 'ann', reason: 'no' })).status,
    ).toBe(202);
    await post(`/v1/choices/${two.choice}`, { decision: 'allow' });
    await untilListed(`agent=${agent}`, []);
    const settled = await untilListed(`agent=${agent}&status=settled`, [two.choice, one.choice]);
    expect(settled[1]).toMatchObject({ decision: 'deny', by: 'ann', reason: 'no', thread_id: one.thread });
    expect(Date.parse(settled[1].settled_at)).toBeGreaterThanOrEqual(Date.parse(settled[1].since));
    expect(await post(`/v1/choices/${one.choice}`, { decision: 'allow' })).toMatchObject({
      status: 409,
      json: { code: 'CHOICE_SETTLED', settled: { decision: 'deny', by: 'ann' } },
    });
  });

  it('pages, and refuses what it does not know', async () => {
    const agent = await scriptedAgent(at, dangerous);
    const all = [await asking(agent), await asking(agent), await asking(agent)].map(({ choice }) => choice);
    await untilListed(`agent=${agent}`, all);
    const first = (await at.request('GET', `/v1/choices?agent=${agent}&limit=2`)).json;
    expect(first.data.map(({ id }: Json) => id)).toEqual(all.slice(0, 2));
    const rest = (await at.request('GET', `/v1/choices?agent=${agent}&limit=2&cursor=${first.next_cursor}`)).json;
    expect([rest.data.map(({ id }: Json) => id), rest.next_cursor]).toEqual([all.slice(2), null]);
    expect((await at.request('GET', '/v1/choices?state=open')).status).toBe(422);
    expect((await post('/v1/choices/chc_nothing', { decision: 'allow' })).status).toBe(404);
  });

  it('takes an answer to a choice that a stream has just shown', async () => {
    const thread = await openThread(at, await scriptedAgent(at, dangerous));
    const stream = await openStream(at, thread);
    await post(`/v1/threads/${thread}/messages`, { text: 'clean up' });
    const shown = (await stream.until(({ event }) => event === 'choice')).at(-1)?.data;
    expect((await post(`/v1/choices/${shown.id}`, { decision: 'allow' })).status).toBe(202);
    stream.close();
  });
});

describe('several decisions at once', () => {
  it('have an outcome each', async () => {
    const agent = await scriptedAgent(at, dangerous);
    const [one, two, gone] = [await asking(agent), await asking(agent), await asking(agent)];
    await post(`/v1/choices/${gone.choice}`, { decision: 'deny' });
    const decisions = [
      { id: one.choice, decision: 'allow', reason: 'sure' },
      { id: 'chc_nothing', decision: 'allow' },
      { id: two.choice, decision: 'deny' },
      { id: gone.choice, decision: 'allow' },
    ];
    const answer = await at.request(
      'POST',
      '/v1/choices:batch',
      { decisions },
      { headers: { 'idempotency-key': `k-${agent}` } },
    );
    expect([answer.status, answer.json.data]).toEqual([
      200,
      [
        { id: one.choice, status: 202 },
        { id: 'chc_nothing', status: 404, code: 'NOT_FOUND' },
        { id: two.choice, status: 202 },
        { id: gone.choice, status: 409, code: 'CHOICE_SETTLED' },
      ],
    ]);
    const again = await at.request(
      'POST',
      '/v1/choices:batch',
      { decisions },
      { headers: { 'idempotency-key': `k-${agent}` } },
    );
    expect([again.json, again.headers.get('idempotency-replayed')]).toEqual([answer.json, 'true']);
    const settled = (await eventsOf(at, one.thread)).find(({ type }) => type === 'choice_settled');
    expect(settled).toMatchObject({ decision: 'allow', reason: 'sure' });
  });

  it('are none when one entry is malformed', async () => {
    const agent = await scriptedAgent(at, dangerous);
    const { choice, thread } = await asking(agent);
    const decisions = [
      { id: choice, decision: 'allow' },
      { id: choice, decision: 'perhaps' },
    ];
    const answer = await post('/v1/choices:batch', { decisions });
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, '/decisions/1/decision']);
    expect((await at.request('GET', `/v1/threads/${thread}/choices`)).json.data).toHaveLength(1);
  });
});

describe('edited arguments', () => {
  it('are held to the tool’s schema, sent instead of the model’s, and in the log beside them', async () => {
    const strings = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    const tools = await driveToolServer(at, {
      tools: [{ name: 'work', description: 'Works.', inputSchema: { ...strings, additionalProperties: false } }],
    });
    const policies = { approve: { mode: 'all' } };
    const script = [[toolCall('work', { path: '/tmp' })], [{ text: 'done' }]];
    const agent = await scriptedAgent(at, script, { policies, tool_servers: [tools.name] });
    const { thread, choice } = await asking(agent);
    const [shown] = (await at.request('GET', `/v1/threads/${thread}/choices`)).json.data;
    const path = `/v1/choices/${choice}`;
    for (const [body, pointer] of [
      [{ decision: 'allow', arguments: { path: 7 } }, '/arguments'],
      [{ decision: 'allow', arguments: {} }, '/arguments'],
      [{ decision: 'deny', arguments: { path: '/srv' } }, '/arguments'],
      [{ decision: 'allow_for_thread', arguments: { path: '/srv' } }, '/arguments'],
    ] as const) {
      const refused = await post(path, body);
      expect([body, refused.status, refused.json.errors[0].pointer]).toEqual([body, 422, pointer]);
    }
    const inexact = await post(path, '{"decision":"allow","arguments":{"path":"a","n":12345678901234567890}}');
    expect(inexact.status).toBe(422);
    const other = await post(path, { decision: 'allow', arguments_hash: 'a'.repeat(64) });
    expect([other.status, other.json.code]).toEqual([409, 'CHOICE_CHANGED']);
    expect((await at.request('GET', `/v1/threads/${thread}/choices`)).json.data).toHaveLength(1); // it stays open
    const edit = { decision: 'allow', arguments: { path: '/srv' }, arguments_hash: shown.arguments_hash };
    expect((await post(path, edit)).status).toBe(202);
    const invocation = await tools.invocation(0);
    expect(invocation.arguments).toEqual({ path: '/srv' });
    await tools.send(invocation, { type: 'tool_result', text: 'ok' });
    await untilStatus(at, thread, 'idle');
    const events = await eventsOf(at, thread);
    expect(events.find(({ type }) => type === 'tool_call_requested')).toMatchObject({ arguments: { path: '/tmp' } });
    expect(events.find(({ type }) => type === 'choice_settled')).toMatchObject({
      edited: true,
      arguments_allowed: { path: '/srv' },
    });
    const [listed] = (await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data;
    expect(listed).toMatchObject({ arguments: { path: '/tmp' }, arguments_allowed: { path: '/srv' } });
    await tools.close();
  });
});

describe('a thread below', () => {
  it('shows its questions on the stream and in the status of the thread above', async () => {
    const { parent, child, choice: id } = await askingChild(at);
    const stream = await openStream(at, parent);
    const frames = await stream.until(({ event, data }) => event === 'choice' && data.thread_id !== undefined);
    const choice = frames.at(-1)?.data;
    expect(choice).toMatchObject({ id, kind: 'approval', arguments: {}, thread_id: child });
    const entry = { kind: 'approval', id: choice.id, thread_id: child, operation: 'delete_everything' };
    const isWaiting = ({ event, data }: SseFrame): boolean => event === 'status' && data.status === 'waiting';
    const shown = frames.find(isWaiting) ?? (await stream.until(isWaiting)).at(-1); // the stream may be older than the row
    expect(shown?.data.waiting_on).toMatchObject([entry]);
    expect((await at.request('GET', `/v1/threads/${parent}`)).json).toMatchObject({
      status: 'waiting',
      waiting_on: [entry],
      waiting: expect.stringMatching(`^waiting .* for a person to allow .*, of \`${child}\` below; it expires in `),
    });
    const listed = async (status: string): Promise<Json> => {
      const { data } = (await at.request('GET', `/v1/threads?status=${status}&limit=200`)).json;
      return data.find(({ id: each }: Json) => each === parent);
    };
    await expect.poll(() => listed('waiting')).toMatchObject({ status: 'waiting', waiting_on: [entry] });
    expect(await listed('idle')).toBeUndefined();
    expect((await post(`/v1/threads/${child}/choices/${choice.id}`, { decision: 'deny' })).status).toBe(202);
    await stream.until(({ event, data }) => event === 'status' && data.status === 'idle');
    await untilStatus(at, parent, 'idle');
    await expect.poll(() => listed('waiting')).toBeUndefined();
    await expect.poll(() => listed('idle')).toMatchObject({ status: 'idle', waiting_on: [] });
    await say(at, child, 'Delete everything.');
    const again = await stream.until(({ event }) => event === 'choice'); // one that is asked while the stream is open
    expect(again.at(-1)?.data).toMatchObject({ thread_id: child });
    await stream.until(({ event, data }) => event === 'status' && data.status === 'waiting');
    stream.close();
  });
});
