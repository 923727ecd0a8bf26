// Traces of what does not end in one go: sleeps of days, children, approvals, interruptions, and a killed process.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, type Step, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
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

it('shows a child beside its parent, linked to the call that spawned it', async () => {
  const { thread, agent } = await threadOf([[call('spawn_thread', { instructions: 'count' })], [{ text: 'done' }]]);
  await post(thread, 'messages', { text: 'spawn' });
  const { child_id: child } = await untilEvent(at, thread, 'child_spawned');
  const parent = await span(thread, `invoke_agent ${agent}`);
  const wake = await span(child, `invoke_agent ${agent}`);
  expect(wake.traceId).toBe(parent.traceId);
  expect(wake.parentId).toBe(parent.parentId);
  expect(linked(wake)).toEqual(['execute_tool spawn_thread']);
  const settled = await span(thread, 'settle_tool spawn_thread');
  expect(settled.parentId).toBe(parent.spanId);
});

it('ends a denied call at its denial, and links the person’s answer', async () => {
  const { thread, agent } = await threadOf([[call('delete_everything', {})], [{ text: 'all right' }]]);
  const asked = await say(at, thread, 'clean up');
  const answer = await post(thread, `choices/${asked.waiting_on[0].id}`, { decision: 'deny' });
  expect(answer.status).toBe(202);
  const executed = await span(thread, 'execute_tool delete_everything');
  expect(executed.error).toBe('DENIED');
  expect(executed.attributes).toMatchObject({ 'error.type': 'DENIED', 'dormouse.outcome': 'denied' });
  const wake = await span(thread, `invoke_agent ${agent}`, 1);
  expect(wake).toMatchObject({ parentId: executed.spanId, traceId: executed.traceId });
  expect(linked(wake)).toEqual(['POST /v1/threads/{id}/choices/{chc}']);
  expect(traceOf(wake).some(({ name }) => name.startsWith('POST example-tools'))).toBe(false);
});

it('shows an interrupted turn, and the next one in a trace of its own', async () => {
  const { thread, agent } = await threadOf([[call('slow_job', { seconds: 30 })], [{ text: 'understood' }]]);
  await post(thread, 'messages', { text: 'go' });
  const executed = await span(thread, 'execute_tool slow_job');
  await untilStatus(at, thread, 'waiting');
  await post(thread, 'interrupt', {});
  const settled = await span(thread, 'settle_tool slow_job');
  expect(settled).toMatchObject({ error: 'interrupted', parentId: executed.spanId });
  await say(at, thread, 'and now?');
  const next = await span(thread, `invoke_agent ${agent}`, 1);
  expect(next.traceId).not.toBe(executed.traceId);
  expect(treeOf(traceOf(next))[0]).toBe('POST /v1/threads/{id}/messages (server)');
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
