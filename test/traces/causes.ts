// What traces show of turns that do not go straight on, in any topology: what stands above a span is told without the
// spans of Kafka, which one process does not have.
import { expect } from 'vitest';
import {
  eventually,
  openThread,
  say,
  scriptedAgent,
  type Step,
  type System,
  untilEvent,
  untilStatus,
} from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import type { ReceivedSpan } from './otlp-receiver.ts';

/** A system, and what has come of its traces. */
export interface TracedSystem {
  readonly at: System;
  /** The spans of a trace, as far as they are there. */
  readonly trace: (traceId: string) => Promise<readonly ReceivedSpan[]>;
}

/** An idle thread whose n-th completion plays the n-th list of steps. */
async function threadOf(
  at: System,
  script: readonly (readonly Step[])[],
  toolServer = 'example-tools',
): Promise<{ thread: string; agent: string }> {
  const agent = await scriptedAgent(at, script, { tool_servers: [toolServer] });
  const thread = await openThread(at, agent);
  await untilStatus(at, thread, 'idle');
  return { thread, agent };
}

const post = ({ at }: TracedSystem, thread: string, path: string, body: object) =>
  at.request('POST', `/v1/threads/${thread}/${path}`, body);

/** Every span in the traces that the thread's lineage names. */
async function spansOf({ at, trace }: TracedSystem, thread: string): Promise<readonly ReceivedSpan[]> {
  const turns: readonly Json[] = (await at.request('GET', `/v1/threads/${thread}/lineage`)).json.data;
  const named = turns.flatMap((turn) => [turn.trace_id, ...turn.steps.map((step: Json) => step.trace_id)]);
  const ids: ReadonlySet<string> = new Set(named.filter((id) => typeof id === 'string'));
  return (await Promise.all([...ids].map(trace))).flat();
}

/** The n-th span of a thread with this name, by the time of its beginning. */
export const spanOf = (seen: TracedSystem, thread: string, name: string, place = 0): Promise<ReceivedSpan> =>
  eventually(async () => {
    const all = await spansOf(seen, thread);
    const found = all.filter((span) => span.name === name && span.attributes['dormouse.thread'] === thread);
    return found.toSorted((one, other) => one.startMs - other.startMs)[place];
  });

const isOfKafka = ({ kind }: ReceivedSpan): boolean => kind === 'producer' || kind === 'consumer';

/** The nearest span above that is not of Kafka. */
function above(trace: readonly ReceivedSpan[], { parentId }: ReceivedSpan): ReceivedSpan | undefined {
  const parent = trace.find(({ spanId }) => spanId === parentId);
  return parent !== undefined && isOfKafka(parent) ? above(trace, parent) : parent;
}

const aboveOf = ({ trace }: TracedSystem, span: ReceivedSpan): Promise<ReceivedSpan> =>
  eventually(async () => above(await trace(span.traceId), span));

/** The span with this name that a link of this one leads to. */
export const linkedFrom = ({ trace }: TracedSystem, { links }: ReceivedSpan, name: string): Promise<ReceivedSpan> =>
  eventually(async () => {
    for (const link of links) {
      const spans = await trace(link.traceId);
      const named = spans.find(({ spanId }) => spanId === link.spanId);
      const found = named !== undefined && isOfKafka(named) ? above(spans, named) : named;
      if (found?.name === name) return found;
    }
    return undefined;
  });

async function child(seen: TracedSystem): Promise<void> {
  const { at } = seen;
  const script = [[toolCall('spawn_thread', { instructions: 'count' })], [{ text: 'done' }]];
  const { thread, agent } = await threadOf(at, script);
  await post(seen, thread, 'messages', { text: 'spawn' });
  const { child_id: below } = await untilEvent(at, thread, 'child_spawned');
  const parent = await spanOf(seen, thread, `invoke_agent ${agent}`);
  const wake = await spanOf(seen, below, `invoke_agent ${agent}`);
  const request = await aboveOf(seen, parent);
  expect(request.name).toBe('POST /v1/threads/{id}/messages');
  expect(await aboveOf(seen, wake)).toEqual(request);
  expect(await linkedFrom(seen, wake, 'execute_tool spawn_thread')).toMatchObject({ parentId: parent.spanId });
  expect(await spanOf(seen, thread, 'settle_tool spawn_thread')).toMatchObject({ parentId: parent.spanId });
}

async function eventChild(seen: TracedSystem): Promise<void> {
  const { at } = seen;
  const tools = await driveToolServer(at);
  try {
    const script = [[toolCall('watch')], [{ text: 'watching' }], [{ text: 'and well' }]];
    const { thread, agent } = await threadOf(at, script, tools.name);
    await post(seen, thread, 'messages', { text: 'watch' });
    const invocation = await tools.invocation(0);
    expect(await tools.send(invocation, { type: 'tool_result', text: 'sub_1', subscription: true })).toBe(200);
    await untilStatus(at, thread, 'idle');
    await say(at, thread, 'are you well?'); // a turn of its own, in another trace
    const event = { type: 'subscription_event', text: 'it happened', final: true };
    expect(await tools.send(invocation, event)).toBe(200);
    const { child_id: below } = await untilEvent(at, thread, 'child_spawned');
    const executed = await spanOf(seen, thread, 'execute_tool watch');
    const wake = await spanOf(seen, below, `invoke_agent ${agent}`);
    expect((await linkedFrom(seen, wake, 'execute_tool watch')).spanId).toBe(executed.spanId);
    expect(wake.traceId).not.toBe(executed.traceId);
  } finally {
    await tools.close();
  }
}

async function denial(seen: TracedSystem): Promise<void> {
  const { at } = seen;
  const { thread, agent } = await threadOf(at, [[toolCall('delete_everything')], [{ text: 'all right' }]]);
  const asked = await say(at, thread, 'clean up');
  expect((await post(seen, thread, `choices/${asked.waiting_on[0].id}`, { decision: 'deny' })).status).toBe(202);
  await untilStatus(at, thread, 'idle');
  const executed = await spanOf(seen, thread, 'execute_tool delete_everything');
  expect(executed).toMatchObject({
    error: 'DENIED',
    attributes: { 'error.type': 'DENIED', 'dormouse.outcome': 'denied' },
  });
  const wake = await spanOf(seen, thread, `invoke_agent ${agent}`, 1);
  expect(wake).toMatchObject({ parentId: executed.spanId, traceId: executed.traceId });
  await linkedFrom(seen, wake, 'POST /v1/threads/{id}/choices/{chc}');
  const trace = await seen.trace(wake.traceId);
  expect(trace.filter(({ name }) => name.startsWith('POST example-tools'))).toEqual([]);
}

async function interruption(seen: TracedSystem): Promise<void> {
  const { at } = seen;
  const { thread, agent } = await threadOf(at, [[toolCall('slow_job', { seconds: 30 })], [{ text: 'understood' }]]);
  await post(seen, thread, 'messages', { text: 'go' });
  const executed = await spanOf(seen, thread, 'execute_tool slow_job');
  await untilStatus(at, thread, 'waiting');
  await post(seen, thread, 'interrupt', {});
  const settled = await spanOf(seen, thread, 'settle_tool slow_job');
  expect(settled).toMatchObject({ error: 'interrupted', parentId: executed.spanId });
  await say(at, thread, 'and now?');
  const next = await spanOf(seen, thread, `invoke_agent ${agent}`, 1);
  expect(next.traceId).not.toBe(executed.traceId);
  expect(await aboveOf(seen, next)).toMatchObject({ name: 'POST /v1/threads/{id}/messages', parentId: null });
}

async function repeatedPost(seen: TracedSystem): Promise<void> {
  const { at } = seen;
  const tools = await driveToolServer(at);
  try {
    const { thread } = await threadOf(at, [[toolCall('work')], [{ text: 'done' }]], tools.name);
    tools.failAt('/invoke');
    await post(seen, thread, 'messages', { text: 'go' });
    await tools.invocation(0);
    tools.failAt('');
    expect(await tools.send(await tools.invocation(1), { type: 'tool_result', text: 'ok' })).toBe(200);
    await untilStatus(at, thread, 'idle');
    const name = `POST ${tools.name}`;
    const [first, second] = [await spanOf(seen, thread, name), await spanOf(seen, thread, name, 1)];
    const statuses = [first, second].map(({ error, attributes }) => [error, attributes['http.response.status_code']]);
    expect(statuses).toEqual([
      ['500', 500],
      [null, 200],
    ]);
    expect([second.parentId, second.traceId]).toEqual([first.parentId, first.traceId]);
    expect(await aboveOf(seen, first)).toMatchObject({ name: 'execute_tool work', error: null });
  } finally {
    await tools.close();
  }
}

/** What is shown, and the turn that shows it. */
export const tracedCauses: readonly (readonly [shown: string, show: (seen: TracedSystem) => Promise<void>])[] = [
  ['a child beside its parent, linked to the call that spawned it', child],
  ['the child of an event, linked to the call of an earlier turn that subscribed', eventChild],
  ['a denied call that ends at its denial, and what follows linked to the person’s answer', denial],
  ['an interrupted turn, and the next one in a trace of its own', interruption],
  ['a POST that was repeated as two beside each other', repeatedPost],
];
