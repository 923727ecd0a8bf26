// The lineage of a thread, of the built standalone process with a collector, and the same without one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../traces/otlp-receiver.ts';
import { eventually, openThread, say, scriptedAgent, untilEvent, untilStatus } from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import { cleanUp, type Json, scratchDirectory, type Standalone, startStandalone } from './standalone-process.ts';

let receiver: OtlpReceiver;
let at: Standalone;
let dataDir: string;

const traced = (): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '100',
});

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  dataDir = await scratchDirectory();
  at = await startStandalone({ dataDir, env: traced() });
});
afterAll(async () => {
  await at.stop();
  await receiver.close();
  await cleanUp();
});

const lineage = async (thread: string, query = ''): Promise<Json> =>
  (await at.request('GET', `/v1/threads/${thread}/lineage${query}`)).json;

/** The turns, once every call that was answered shows how it was sent. */
const turnsOf = (thread: string): Promise<readonly Json[]> =>
  eventually(async () => {
    const { data } = await lineage(thread);
    const steps: readonly Json[] = data.flatMap((turn: Json) => turn.steps);
    const sent = new Set(steps.filter(({ kind }) => kind === 'attempt').map((step) => step.parent_id));
    return steps.every(({ kind, parent_id: call }) => kind !== 'callback' || sent.has(call)) && data;
  });

const kindsOf = (turn: Json): readonly string[] => turn.steps.map(({ kind }: Json) => kind);
const stepOf = (turn: Json, kind: string): Json => turn.steps.find((step: Json) => step.kind === kind);

const begins = {
  completion: 'chat ',
  call: 'execute_tool ',
  attempt: 'POST ',
  callback: 'POST /callback/{token}',
} as const;

/** Every step that names a span has one of its kind, in its trace. */
const spansAreThere = (turns: readonly Json[]): Promise<true> =>
  eventually(async () =>
    turns.every((turn) =>
      turn.steps.every(({ kind, trace_id: traceId, span_id: spanId }: Json) => {
        if (!(kind in begins)) return spanId === undefined;
        const span = receiver.spans.find((each) => each.spanId === spanId && each.traceId === traceId);
        return span?.name.startsWith(begins[kind as keyof typeof begins]);
      }),
    ),
  ).then(() => true);

describe('the lineage of a thread', () => {
  it('has a turn with two tools as one tree, with the spans of the collector', async () => {
    const agent = await scriptedAgent(at, [
      [toolCall('weather', { city: 'Oslo' }), toolCall('weather', { city: 'Rome' })],
      [{ text: 'Fine.' }],
    ]);
    const thread = await openThread(at, agent);
    await untilStatus(at, thread, 'idle');
    expect(await lineage(thread)).toEqual({ data: [], next_cursor: null });
    const { id } = await say(at, thread, 'How is it?');
    const [turn, ...others] = await turnsOf(thread);
    expect(others).toEqual([]);
    expect(turn).toMatchObject({ turn_id: id, cause: { kind: 'message', id } });
    expect(kindsOf(turn).toSorted()).toEqual(
      ['completion', 'completion', 'call', 'call', 'attempt', 'attempt', 'callback', 'callback'].toSorted(),
    );
    const [first] = turn.steps;
    const calls = turn.steps.filter(({ kind }: Json) => kind === 'call');
    for (const call of calls)
      expect(call).toMatchObject({ parent_id: first.id, name: 'weather', outcome: 'result', refused: 0 });
    const ids = calls.map((call: Json) => call.id);
    for (const { kind, parent_id: parent } of turn.steps.slice(1)) if (kind !== 'call') expect(ids).toContain(parent);
    expect(turn.ended_at).toBe(turn.steps.at(-1).ended_at);
    expect(await spansAreThere([turn])).toBe(true);
    expect(turn.trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect((await lineage(thread, `?turn=${id}`)).data).toEqual([turn]);
  });

  it('has a denied approval, a sleep that the development clock ends, and pages', async () => {
    const agent = await scriptedAgent(at, [
      [toolCall('delete_everything')],
      [{ text: 'Then not.' }],
      [toolCall('sleep', { seconds: 259_200 })],
      [{ text: 'Awake.' }],
    ]);
    const thread = await openThread(at, agent);
    await say(at, thread, 'Delete everything.');
    const [open] = await turnsOf(thread);
    expect(open.ended_at).toBeNull();
    expect(stepOf(open, 'choice')).toMatchObject({ ended_at: null, parent_id: stepOf(open, 'call').id });
    await at.request('POST', `/v1/threads/${thread}/choices/${stepOf(open, 'choice').id}`, { decision: 'deny' });
    await untilStatus(at, thread, 'idle');
    await say(at, thread, 'Sleep.');
    await at.request('POST', '/v1/dev/clock', { advance_ms: 259_200_000 });
    await untilEvent(at, thread, 'timer_fired');
    await untilStatus(at, thread, 'idle');
    const turns = await turnsOf(thread);
    const [denied, slept, woke] = turns;
    expect(kindsOf(denied)).toEqual(['completion', 'call', 'choice', 'completion']);
    expect(stepOf(denied, 'choice')).toMatchObject({ outcome: 'deny' });
    expect(stepOf(denied, 'call')).toMatchObject({ outcome: 'denied' });
    expect(stepOf(slept, 'timer').waited_ms).toBeGreaterThanOrEqual(259_200_000);
    expect(woke).toMatchObject({
      cause: { kind: 'timer', id: stepOf(slept, 'timer').id },
      turn_id: expect.any(String),
    });
    expect(stepOf(woke, 'completion')).toMatchObject({ parent_id: stepOf(slept, 'timer').id, outcome: 'stop' });
    const [link] = stepOf(woke, 'completion').links;
    const cause = await eventually(async () => receiver.spans.find(({ spanId }) => spanId === link.span_id));
    expect(cause).toMatchObject({ name: `invoke_agent ${agent}`, traceId: link.trace_id });
    expect(await spansAreThere(turns)).toBe(true);
    const given: Json[] = [];
    for (let after: string | null = '0'; after !== null;) {
      const page: Json = await lineage(thread, `?after=${after}&limit=1`);
      given.push(...page.data);
      after = page.next_cursor;
    }
    expect(given).toEqual(turns);
  });

  it('has the attempts of a POST that was repeated as siblings', async () => {
    const driven = await driveToolServer(at);
    const more = { tool_servers: [driven.name] };
    const agent = await scriptedAgent(at, [[toolCall('work')], [{ text: 'Done.' }]], more);
    const thread = await openThread(at, agent);
    await untilStatus(at, thread, 'idle');
    driven.failAt('/invoke');
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'Work.' });
    await driven.invocation(0);
    driven.failAt('');
    const invocation = await driven.invocation(1);
    expect(await driven.send(invocation, { type: 'tool_result', content: 'ok' }, {})).toBeLessThan(500);
    await eventually(
      async () => kindsOf((await lineage(thread)).data[0]).filter((kind) => kind === 'attempt').length === 2,
    );
    const [turn] = (await lineage(thread)).data;
    const attempts = turn.steps.filter(({ kind }: Json) => kind === 'attempt');
    const call = stepOf(turn, 'call');
    expect(attempts.map(({ parent_id: parent, outcome }: Json) => [parent, outcome])).toEqual([
      [call.id, '500'],
      [call.id, '200'],
    ]);
    expect(new Set(attempts.map((attempt: Json) => attempt.span_id)).size).toBe(2);
    expect(await spansAreThere([turn])).toBe(true);
    await driven.close();
  });

  it('counts the callbacks of a call that came again or were refused', async () => {
    const driven = await driveToolServer(at);
    const agent = await scriptedAgent(at, [[toolCall('work')], [{ text: 'Done.' }]], { tool_servers: [driven.name] });
    const thread = await openThread(at, agent);
    await untilStatus(at, thread, 'idle');
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'Work.' });
    const invocation = await driven.invocation(0);
    for (let times = 0; times < 2; times++)
      expect(await driven.send(invocation, { type: 'tool_result' })).toBeGreaterThanOrEqual(400);
    for (let times = 0; times < 4; times++)
      expect(await driven.send(invocation, { type: 'tool_result', text: 'ok' })).toBe(200);
    await untilStatus(at, thread, 'idle');
    const counted = async (): Promise<Json> => {
      const { duplicates, refused } = stepOf((await lineage(thread)).data[0], 'call');
      return { duplicates, refused };
    };
    await expect.poll(counted).toEqual({ duplicates: 3, refused: 2 });
    await at.stop(); // with what is not written yet
    at = await startStandalone({ dataDir, env: traced() });
    expect(await counted()).toEqual({ duplicates: 3, refused: 2 });
    await driven.close();
  });

  it('has a child below its call, and the report in the turn that it begins', async () => {
    const agent = await scriptedAgent(at, [
      [toolCall('spawn_thread', { instructions: 'Report.' })],
      [{ text: 'Spawned.' }],
      [{ text: 'Thanks.' }],
    ]);
    const thread = await openThread(at, agent);
    await say(at, thread, 'Spawn one.');
    const [turn] = await turnsOf(thread);
    const child = stepOf(turn, 'child');
    expect(child).toMatchObject({ parent_id: stepOf(turn, 'call').id, ended_at: null });
    const [first] = await eventually(async () => {
      const { data } = await lineage(child.id);
      return data.length > 0 && data;
    });
    expect(first).toMatchObject({ cause: { kind: 'message' }, trace_id: turn.trace_id });
    await at.request('POST', `/v1/threads/${child.id}/close`);
    await untilEvent(at, thread, 'child_reported');
    await untilStatus(at, thread, 'idle');
    const [spawned, reported] = await turnsOf(thread);
    expect(stepOf(spawned, 'child')).toMatchObject({
      outcome: 'closed',
      ended_at: stepOf(reported, 'report').ended_at,
    });
    expect(stepOf(reported, 'report')).toMatchObject({ parent_id: child.id });
    expect(stepOf(reported, 'completion')).toMatchObject({ parent_id: stepOf(reported, 'report').id });
  });

  it('has its own turns for a fork', async () => {
    const agent = await scriptedAgent(at, [[{ text: 'One.' }], [{ text: 'Two.' }]]);
    const thread = await openThread(at, agent);
    const { id, position } = await say(at, thread, 'Go.');
    const body = `{"position": ${position}, "then": "ask_again"}`;
    const forked = await at.request('POST', `/v1/threads/${thread}/fork`, body);
    await untilStatus(at, forked.json.id, 'idle');
    const [turn, ...others] = await turnsOf(forked.json.id);
    expect([others.length, kindsOf(turn)]).toEqual([0, ['completion']]);
    expect(await spansAreThere([turn])).toBe(true);
    expect((await at.request('GET', `/v1/threads/${forked.json.id}/lineage?turn=${id}`)).status).toBe(404);
  });

  it('is for readers of the thread, and refuses what it does not know', async () => {
    const thread = await openThread(at);
    const path = `/v1/threads/${thread}/lineage`;
    expect((await at.request('GET', path, undefined, { key: null })).status).toBe(401);
    expect((await at.request('GET', '/v1/threads/thr_missing/lineage')).status).toBe(404);
    expect((await at.request('GET', `${path}?turn=msg_missing`)).status).toBe(404);
    expect((await at.request('GET', `${path}?cursor=1`)).status).toBe(422);
    const token = await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], ttl_s: 60 });
    expect((await at.request('GET', path, undefined, { key: token.json.token })).status).toBe(200);
  });
});

describe('dormouse trace', () => {
  const cli = (...args: readonly string[]) => runCli(['--url', at.url, '--data', dataDir, ...args]);

  it('draws the turns of a thread, and gives them as JSON', async () => {
    const thread = await openThread(at);
    const { id } = await say(at, thread, 'What is the weather in Oslo?');
    const drawn = await cli('trace', thread);
    expect(drawn).toMatchObject({ code: 0, stderr: '' });
    expect(drawn.stdout).toMatch(
      new RegExp(`^message ${id} .*\\n  trace [0-9a-f]{32}\\ncompletion demo .*#\\n  call weather `),
    );
    for (const line of drawn.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const [turn] = (await cli('--json', 'trace', thread, '--turn', id)).stdout.split('\n').slice(0, 1);
    expect(JSON.parse(turn ?? '')).toMatchObject({ turn_id: id });
    expect(await cli('trace', thread, '--turn', 'msg_none')).toMatchObject({ code: 1, stdout: '' });
  });

  it('follows what comes until the thread is closed', async () => {
    const thread = await openThread(at);
    await untilStatus(at, thread, 'idle');
    const following = cli('trace', thread, '--follow');
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { id } = await say(at, thread, 'What is the weather in Rome?');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await at.request('POST', `/v1/threads/${thread}/close`);
    const { code, stdout } = await following;
    expect(code).toBe(0);
    expect(stdout).toContain(`message ${id}`);
    for (const word of ['completion demo', 'call weather', 'attempt 1 200', 'callback']) expect(stdout).toContain(word);
  });
});

it('is the same without tracing, but for the ids of traces', async () => {
  await at.stop();
  at = await startStandalone({ dataDir });
  const thread = await openThread(at);
  await say(at, thread, 'What is the weather in Oslo?');
  const [turn] = await turnsOf(thread);
  expect(turn.trace_id).toBeNull();
  expect(kindsOf(turn).toSorted()).toEqual(['attempt', 'call', 'callback', 'completion', 'completion']);
  expect(JSON.stringify(turn.steps)).not.toMatch(/trace_id|span_id|links/);
});
