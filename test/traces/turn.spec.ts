// The trace of a turn, as a collector receives it from the built standalone process.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openThread, type System } from '../e2e/conversation.ts';
import { cleanUp, startStandalone } from '../e2e/standalone-process.ts';
import { agentRunOf } from './agent-run.ts';
import { type OtlpReceiver, startOtlpReceiver, traceOf, treeOf } from './otlp-receiver.ts';
import { problemsOfSpan } from './span-problems.ts';
import { takeTwoToolTurn } from './two-tool-turn.ts';

let receiver: OtlpReceiver;
let at: System & { stop(): Promise<number | null> };

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const started = await startStandalone({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  });
  at = { ...started, stop: () => started.stop() };
});
afterAll(async () => {
  await at.stop();
  await receiver.close();
  await cleanUp();
});

it('shows a turn with two tools as one tree', async () => {
  const { agent, thread } = await takeTwoToolTurn(at);
  const spans = await traceOf(receiver, 'POST /v1/threads/{id}/messages', 17);
  expect(treeOf(spans)).toEqual([
    'POST /v1/threads/{id}/messages (server)',
    `  invoke_agent ${agent} (internal)`,
    '    chat scripted (client)',
    '    execute_tool weather (internal)',
    `      invoke_agent ${agent} (internal)`,
    '        chat scripted (client)',
    '        execute_tool weather (internal)',
    `          invoke_agent ${agent} (internal)`,
    '            chat scripted (client)',
    '            settle_tool weather (internal)',
    '          POST example-tools (client)',
    '            run_tool weather (server)',
    '              POST callback (client)',
    '        settle_tool weather (internal)',
    '      POST example-tools (client)',
    '        run_tool weather (server)',
    '          POST callback (client)',
  ]);
  const conversations = new Set(spans.map(({ attributes }) => attributes['gen_ai.conversation.id']));
  expect([...conversations]).toEqual([thread]);
  const { usage } = (await at.request('GET', `/v1/threads/${thread}`)).json;
  expect(agentRunOf(spans)).toEqual({
    ...{ agents: 3, models: 3, tools: 2 },
    ...{ inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
  });
});

it('links what follows a callback to it, and begins the trace of a callback anew', async () => {
  const callbacks = await eventually(async () => {
    const found = receiver.spans.filter(({ name }) => name === 'POST /callback/{token}');
    return found.length >= 2 && found;
  });
  const wakes = receiver.spans.filter(({ name, links }) => name.startsWith('invoke_agent') && links.length > 0);
  expect(wakes).toHaveLength(2);
  for (const { traceId, links } of wakes) {
    const [link] = links;
    const callback = callbacks.find(({ spanId }) => spanId === link?.spanId);
    expect(callback).toMatchObject({ kind: 'server', parentId: null });
    expect(callback?.traceId).not.toBe(traceId);
  }
});

it('names every span and attribute as the table of the conventions does', () => {
  expect(receiver.spans.length).toBeGreaterThan(13);
  expect(receiver.spans.flatMap((span) => problemsOfSpan(span, false))).toEqual([]);
});

it('says which version of which agent woke', async () => {
  const wake = receiver.spans.find(({ name }) => name.startsWith('invoke_agent'));
  const { json: agent } = await at.request('GET', `/v1/agents/${String(wake?.attributes['gen_ai.agent.name'])}`);
  expect(wake?.attributes).toMatchObject({
    'gen_ai.agent.id': agent.id,
    'gen_ai.agent.version': '1',
    'gen_ai.provider.name': 'scripted',
  });
});

it('shows a refused request with its thread, and tells its client the trace', async () => {
  const thread = await openThread(at);
  const { json: problem } = await at.request('POST', `/v1/threads/${thread}/messages`, { words: 'hi' });
  const span = await eventually(async () => receiver.spans.find(({ traceId }) => traceId === problem.trace_id));
  expect(span).toMatchObject({
    ...{ name: 'POST /v1/threads/{id}/messages', kind: 'server', parentId: null, error: null },
    attributes: { 'http.response.status_code': 422, 'gen_ai.conversation.id': thread, 'dormouse.thread': thread },
  });
});

it('sends no token, key, path of the machine or word of a person', async () => {
  const bytes = receiver.raw.join('\n');
  for (const secret of [at.key, 'How is it in Oslo', 'Both are fine', 'callback/eyJ', process.cwd(), 'Oslo'])
    expect(bytes.includes(secret), secret).toBe(false);
  expect(bytes).toContain('dormouse-standalone');
});
