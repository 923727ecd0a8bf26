// Traces of what does not end in one go: sleeps of days, children, approvals, interruptions, and a killed process.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, type Step, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer } from '../e2e/driven-tool-server.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { tracedCauses } from './causes.ts';
import { problemsOfSpan } from './span-problems.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver, treeOf } from './otlp-receiver.ts';

const threeDaysMs = 3 * 86_400_000;
const call = (name: string, args: object): Step => ({ tool_call: { name, arguments: args } });

let receiver: OtlpReceiver;
let at: Standalone;
let dataDir: string;

const start = (port?: number): Promise<Standalone> =>
  startStandalone({
    dataDir,
    port,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      DORMOUSE_MODEL_RETRY_TOTAL_MS: '3000',
    },
  });

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  dataDir = await scratchDirectory();
  at = await start();
});
afterAll(async () => {
  await at.stop();
  await receiver.close();
  await cleanUp();
});

/** An idle thread whose n-th completion plays the n-th list of steps. */
async function threadOf(script: readonly (readonly Step[])[]): Promise<{ thread: string; agent: string }> {
  const agent = await scriptedAgent(at, script);
  const thread = await openThread(at, agent);
  await untilStatus(at, thread, 'idle');
  return { thread, agent };
}

const post = (thread: string, path: string, body: object) => at.request('POST', `/v1/threads/${thread}/${path}`, body);

const spansOf = (thread: string, name: string): readonly ReceivedSpan[] =>
  receiver.spans.filter((span) => span.name === name && span.attributes['dormouse.thread'] === thread);

/** The n-th span of a thread with this name, once it was sent. */
const span = (thread: string, name: string, place = 0): Promise<ReceivedSpan> =>
  eventually(async () => spansOf(thread, name)[place]);

const traceOf = ({ traceId }: ReceivedSpan): readonly ReceivedSpan[] =>
  receiver.spans.filter((each) => each.traceId === traceId);

const linked = ({ links }: ReceivedSpan): readonly (string | undefined)[] =>
  links.map(({ spanId }) => receiver.spans.find((each) => each.spanId === spanId)?.name);

it('begins a new trace three days later, linked to what set the timer', async () => {
  const { thread, agent } = await threadOf([[call('sleep', { seconds: threeDaysMs / 1_000 })], [{ text: 'awake' }]]);
  await post(thread, 'messages', { text: 'sleep' });
  const first = await span(thread, `invoke_agent ${agent}`);
  const clock = await at.request('POST', '/v1/dev/clock', { advance_ms: threeDaysMs + 1_000 });
  const second = await span(thread, `invoke_agent ${agent}`, 1);
  expect(second).toMatchObject({ parentId: null, links: [{ traceId: first.traceId, spanId: first.spanId }] });
  expect(second.traceId).not.toBe(first.traceId);
  expect(treeOf(traceOf(second))).toEqual([`invoke_agent ${agent} (internal)`, '  chat scripted (client)']);
  // Stamped by the wall clock; the thread's own time is an attribute.
  expect(second.startMs - first.startMs).toBeLessThan(60_000);
  const seen = Date.parse(String(second.attributes['dormouse.at']));
  expect(Math.abs(seen - Date.parse(clock.json.now))).toBeLessThan(60_000);
});

it.each(tracedCauses)('shows %s', (_what, show) =>
  show({ at, trace: async (traceId) => receiver.spans.filter((each) => each.traceId === traceId) }),
);

it('has no word of a tool’s name that the model made up', async () => {
  const { thread } = await threadOf([[call('what Anna said', {})], [{ text: 'well' }]]);
  await say(at, thread, 'go');
  const executed = await span(thread, 'execute_tool unknown');
  expect(executed).toMatchObject({ error: 'TOOL_UNKNOWN', attributes: { 'gen_ai.tool.name': 'unknown' } });
  await span(thread, 'settle_tool unknown');
  expect(receiver.raw.join('\n')).not.toContain('Anna');
});

it('shows no words that a client writes where a thread’s id belongs', async () => {
  const { json } = await at.request('POST', '/v1/threads/where%20Anna%20lives/messages', { words: 'hi' });
  const refused = await eventually(async () => receiver.spans.find(({ traceId }) => traceId === json.trace_id));
  expect(refused.attributes['dormouse.thread']).toBeUndefined();
  expect(receiver.raw.join('\n')).not.toContain('Anna');
});

it('begins a new trace for what a late result wakes, linked to its call and its callback', async () => {
  const tools = await driveToolServer(at);
  const agent = await scriptedAgent(at, [[call('work', {})], [{ text: 'done' }]], { tool_servers: [tools.name] });
  const thread = await openThread(at, agent);
  await untilStatus(at, thread, 'idle');
  await post(thread, 'messages', { text: 'go' });
  const executed = await span(thread, 'execute_tool work');
  await at.request('POST', '/v1/dev/clock', { advance_ms: 3_700_000 });
  expect(await tools.send(await tools.invocation(0), { type: 'tool_result', text: 'at last' })).toBe(200);
  const wake = await span(thread, `invoke_agent ${agent}`, 1);
  expect(wake.parentId).toBeNull();
  expect(wake.traceId).not.toBe(executed.traceId);
  expect(wake.links).toContainEqual({ traceId: executed.traceId, spanId: executed.spanId });
  await expect.poll(() => linked(wake)).toContain('POST /callback/{token}');
  expect(await span(thread, 'settle_tool work')).toMatchObject({ parentId: wake.spanId });
  await tools.close();
});

it('shows each attempt at a model that fails, side by side', async () => {
  const { thread, agent } = await threadOf([[{ fail: { status: 500 } }]]);
  await post(thread, 'messages', { text: 'go' });
  const wake = await span(thread, `invoke_agent ${agent}`);
  const chats = spansOf(thread, 'chat scripted');
  expect(chats.length).toBeGreaterThan(1);
  expect(wake.error).toBe(chats[0]?.error);
  for (const chat of chats) {
    expect(chat).toMatchObject({
      parentId: wake.spanId,
      traceId: wake.traceId,
      error: expect.stringMatching(/^[A-Z_]+$/),
    });
    expect(chat.attributes['error.type']).toBe(chat.error);
  }
  expect(new Set(chats.map(({ spanId }) => spanId)).size).toBe(chats.length);
});

it('shows a completion that a client cut', async () => {
  const { thread, agent } = await threadOf([[{ wait_ms: 60_000 }, { text: 'too late' }]]);
  await post(thread, 'messages', { text: 'go' });
  await untilStatus(at, thread, 'thinking');
  await post(thread, 'interrupt', {});
  expect(await span(thread, 'chat scripted')).toMatchObject({ error: 'interrupted' });
  expect(await span(thread, `invoke_agent ${agent}`)).toMatchObject({ error: 'interrupted' });
});

it('links the callback that a killed process had taken', async () => {
  const { thread, agent } = await threadOf([
    [call('weather', { city: 'Oslo' })],
    [{ wait_ms: 4_000 }, { text: 'done' }],
  ]);
  await post(thread, 'messages', { text: 'go' });
  await untilEvent(at, thread, 'tool_call_settled');
  const callback = await span(thread, 'POST /callback/{token}');
  expect(spansOf(thread, `invoke_agent ${agent}`)).toHaveLength(1);
  at.process.kill('SIGKILL');
  at = await start(at.port);
  const wake = await span(thread, `invoke_agent ${agent}`, 1);
  expect(wake.links).toEqual([{ traceId: callback.traceId, spanId: callback.spanId }]);
});

it('goes on in the same tree after the process was killed', async () => {
  const { thread, agent } = await threadOf([[call('slow_job', { seconds: 2 })], [{ text: 'done' }]]);
  await post(thread, 'messages', { text: 'go' });
  const executed = await span(thread, 'execute_tool slow_job');
  at.process.kill('SIGKILL');
  at = await start(at.port);
  const wake = await span(thread, `invoke_agent ${agent}`, 1);
  expect(wake).toMatchObject({ parentId: executed.spanId, traceId: executed.traceId });
  expect(linked(wake)).toEqual(['POST /callback/{token}']);
});

it('keeps every span to the table of the conventions', () => {
  expect(receiver.spans.flatMap((each) => problemsOfSpan(each, false))).toEqual([]);
});
