// How a backend for agents that knows nothing of Dormouse shows its traces: a real Phoenix, by its API. Opt-in, because
// it installs Python packages of 900 MB once: `npm run test:traces`.
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, type Step, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, type Json, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { startPhoenix } from '../services/phoenix/phoenix.ts';
import { serviceCache } from '../services/service-cache.ts';

const project = 'dormouse-test';
const installsWithinMs = 1_200_000;

const call = (name: string, args: object): Step => ({ tool_call: { name, arguments: args } });

/** What Phoenix makes of a trace: how many spans of each kind it draws. */
interface AgentRun {
  readonly agents: number;
  readonly models: number;
  readonly tools: number;
}

let directory: string;
let phoenix: Awaited<ReturnType<typeof startPhoenix>>;
let at: Standalone;

beforeAll(async () => {
  directory = await scratchDirectory();
  const print = (line: string): void => void process.stderr.write(`${line}\n`);
  phoenix = await startPhoenix({ directory: join(directory, 'phoenix'), cache: serviceCache, say: print });
  if (!phoenix.available) return;
  at = await startStandalone({
    env: {
      DORMOUSE_TRACE_CONTENT: 'true',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${phoenix.service.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_RESOURCE_ATTRIBUTES: `openinference.project.name=${project}`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  });
}, installsWithinMs);
beforeEach((context) => {
  if (!phoenix.available) context.skip(`${phoenix.reason} ${phoenix.remedy}`);
});
afterAll(async () => {
  await at?.stop();
  if (phoenix?.available) await phoenix.service.stop();
  await cleanUp();
});

async function ask(path: string): Promise<Json> {
  if (!phoenix.available) throw new Error(phoenix.reason);
  const answer = await fetch(`${phoenix.service.url}/v1/projects/${project}/${path}`);
  return answer.status === 404 ? [] : ((await answer.json()) as Json).data;
}

/** The session that Phoenix has under the thread's id, with the runs that it draws, once there are so many. */
function sessionOf(thread: string, wanted: readonly AgentRun[]): Promise<{ session: Json; runs: readonly AgentRun[] }> {
  return eventually(async () => {
    const sessions: readonly Json[] = (await ask('sessions')).filter((each: Json) => each.session_id === thread);
    const [session] = sessions;
    if (session === undefined) return undefined;
    expect(sessions).toHaveLength(1);
    const own = new Set(session.traces.map((trace: Json) => trace.trace_id));
    const traces: readonly Json[] = await ask('traces?include_spans=true&order=asc');
    const runs = traces
      .filter((trace) => own.has(trace.trace_id))
      .map(runOf)
      .filter(({ agents }) => agents > 0);
    const total = (of: readonly AgentRun[]): number =>
      of.reduce((sum, run) => sum + run.agents + run.models + run.tools, 0);
    return total(runs) >= total(wanted) && { session, runs };
  });
}

function runOf({ spans }: Json): AgentRun {
  const count = (kind: string): number => spans.filter((span: Json) => span.span_kind === kind).length;
  return { agents: count('AGENT'), models: count('LLM'), tools: count('TOOL') };
}

it('draws each turn as one agent run, and a thread as one session with its tokens', async () => {
  const agent = await scriptedAgent(at, [
    [call('weather', { city: 'Oslo' })],
    [call('weather', { city: 'Rome' })],
    [{ text: 'Both are fine.' }],
    [{ text: 'Goodbye.' }],
  ]);
  const both = await scriptedAgent(at, [
    [call('weather', { city: 'Oslo' }), call('weather', { city: 'Rome' })],
    [{ text: 'Fine.' }],
  ]);
  const expected = [
    {
      agent,
      texts: ['How is it in Oslo and in Rome?', 'Thank you.'],
      runs: [
        { agents: 3, models: 3, tools: 2 },
        { agents: 1, models: 1, tools: 0 },
      ],
    },
    { agent: both, texts: ['Both at once.'], runs: [{ agents: 2, models: 2, tools: 2 }] },
  ];
  for (const { agent: name, texts, runs: wanted } of expected) {
    const thread = await openThread(at, name);
    await untilStatus(at, thread, 'idle');
    for (const text of texts) await say(at, thread, text);
    const { session, runs } = await sessionOf(thread, wanted);
    expect(runs).toEqual(wanted);
    const { usage } = (await at.request('GET', `/v1/threads/${thread}`)).json;
    expect(usage.input_tokens).toBeGreaterThan(0);
    expect(session).toMatchObject({
      token_count_prompt: usage.input_tokens,
      token_count_completion: usage.output_tokens,
    });
  }
});

it('reads the recorded contents as the conversation', async () => {
  const agent = await scriptedAgent(at, [[call('weather', { city: 'Oslo' })], [{ text: 'Cold.' }]]);
  const thread = await openThread(at, agent);
  await untilStatus(at, thread, 'idle');
  await say(at, thread, 'How is it in Oslo?');
  const spans = await eventually(async () => {
    const found: readonly Json[] = (await ask('spans?limit=1000')).filter(
      ({ attributes }: Json) => attributes['session.id'] === thread,
    );
    const kinds = found.map(({ span_kind: kind }) => kind);
    return kinds.filter((kind) => kind === 'LLM').length === 2 && kinds.includes('TOOL') && found;
  });
  const models = spans
    .filter(({ span_kind: kind }) => kind === 'LLM')
    .toSorted((a, b) => a.start_time.localeCompare(b.start_time));
  const tool = spans.find(({ span_kind: kind }) => kind === 'TOOL');
  expect(models[0].attributes).toMatchObject({
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.content': 'How is it in Oslo?',
    'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'weather',
  });
  expect(models[1].attributes).toMatchObject({ 'llm.output_messages.0.message.content': 'Cold.' });
  expect(tool.attributes).toMatchObject({ 'tool.name': 'weather', 'tool.parameters.city': 'Oslo' });
});
