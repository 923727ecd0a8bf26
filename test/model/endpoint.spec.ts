import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say } from '../e2e/conversation.ts';
import { openStream } from '../e2e/event-stream.ts';
import { cleanUp, type Json, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { answersWith, type ChatServer, chunk, done, startChatServer, streams, usage } from './chat-server.ts';

const key = 'canary-key-0123456789';
let at: Standalone;
let endpoint: ChatServer;

beforeAll(async () => {
  endpoint = await startChatServer();
  at = await startStandalone();
  const secret = { value: key, origins: [endpoint.url] };
  expect((await at.request('PUT', '/v1/secrets/llm_key', secret)).status).toBe(204);
});
afterAll(async () => {
  await cleanUp();
  await endpoint.close();
});

let count = 0;

/** A thread whose model is the local endpoint, by configuration alone. */
async function talkingTo(baseUrl: string, model: Json = {}): Promise<string> {
  const name = `endpoint-${(count += 1)}`;
  const answer = await at.request('POST', '/v1/agents', {
    name,
    instructions: 'You are brief.',
    model: {
      provider: 'openai-compatible',
      name: 'some-model',
      base_url: baseUrl,
      api_key_secret: 'llm_key',
      ...model,
    },
    tool_servers: ['example-tools'],
  });
  if (answer.status !== 201) throw new Error(answer.text);
  return openThread(at, name);
}

const says = (text: string): ReturnType<typeof streams> =>
  streams(chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), usage(100, 7), done);

const calls = (...given: readonly (readonly [string, string])[]): ReturnType<typeof streams> =>
  streams(
    ...given.map(([name, text], index) =>
      chunk({ tool_calls: [{ index, id: `p${index}`, type: 'function', function: { name, arguments: text } }] }),
    ),
    chunk({}, 'tool_calls'),
    done,
  );

const messagesSent = (): readonly Json[] => endpoint.requests.at(-1)?.body['messages'] as readonly Json[];

describe('an OpenAI-compatible endpoint as the model of an agent', () => {
  it('is offered the tools, calls two of them, reads both results and answers', async () => {
    const thread = await talkingTo(`${endpoint.url}/v1`);
    endpoint.answers(
      calls(['weather', '{"city":"Lisbon"}'], ['weather', '{"city":"Atlantis"}']),
      says('Sunny in Lisbon, and Atlantis is lost.'),
    );
    const turn = await say(at, thread, 'How is the weather in Lisbon and Atlantis?');
    expect(turn).toMatchObject({ status: 'idle', message: { text: 'Sunny in Lisbon, and Atlantis is lost.' } });

    const [first] = endpoint.requests;
    expect(first?.headers.authorization).toBe(`Bearer ${key}`);
    const offered = ((first?.body['tools'] ?? []) as readonly Json[]).map((tool) => tool.function.name);
    expect(offered).toEqual(expect.arrayContaining(['clock', 'weather', 'slow_job']));
    const sent = messagesSent();
    expect(sent.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool']);
    expect(sent[2].tool_calls.map((call: Json) => call.id)).toEqual([sent[3].tool_call_id, sent[4].tool_call_id]);
    expect(sent[3].content).toContain('Lisbon, Portugal: 18 °C');
    expect(sent[4].content).toMatch(/^Error: no weather for "Atlantis"/);
  });

  it('gets an error result for a tool that does not exist and for arguments that are no JSON', async () => {
    const thread = await talkingTo(`${endpoint.url}/v1`);
    endpoint.answers(calls(['nonsense', '{}'], ['weather', '{"city":']), says('Sorry.'));
    expect(await say(at, thread, 'Do something')).toMatchObject({ message: { text: 'Sorry.' } });
    const [one, other] = messagesSent().slice(-2);
    expect([one.role, other.role]).toEqual(['tool', 'tool']);
    for (const result of [one, other]) expect(result.content).toMatch(/^Error: /);
  });

  it('is asked again after a 429 and after a stream that broke off, and the turn goes on', async () => {
    const thread = await talkingTo(`${endpoint.url}/v1`);
    const broken = streams(chunk({ content: 'Half an ans' }));
    endpoint.answers(
      answersWith(429, { error: { message: 'slow down' } }, { 'retry-after': '0' }),
      broken,
      says('Whole.'),
    );
    expect(await say(at, thread, 'hello')).toMatchObject({ status: 'idle', message: { text: 'Whole.' } });
  });

  it('that does not take the key fails the turn at once, visibly, and the key is nowhere', async () => {
    const thread = await talkingTo(`${endpoint.url}/v1`);
    endpoint.answers(answersWith(401, { error: { message: `Incorrect API key provided: ${key}` } }));
    expect(await say(at, thread, 'hello')).toMatchObject({ last_error: { code: 'MODEL_REFUSED' } });
    const events = await eventsOf(at, thread);
    expect(events.at(-1)).toMatchObject({ type: 'completion_failed', code: 'MODEL_REFUSED', retryable: false });
    expect(JSON.stringify(events) + at.output()).not.toContain(key);

    endpoint.answers(says('Better now.'));
    expect((await at.request('POST', `/v1/threads/${thread}/retry`)).status).toBe(202);
    expect(await say(at, thread, 'again')).toMatchObject({ message: { text: 'Better now.' } });
  });

  it('never gets a key that names other origins', async () => {
    const other = await startChatServer();
    other.answers(says('Thank you for the key.'));
    const thread = await talkingTo(`${other.url}/v1`);
    expect(await say(at, thread, 'hello')).toMatchObject({ last_error: { code: 'MODEL_FAILED' } });
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it('works without a key, under another path, with parameters of its own', async () => {
    const thread = await talkingTo(`${endpoint.url}/openai/v9`, {
      api_key_secret: null,
      output_tokens_max: 77,
      parameters: { temperature: 0.1, compatibility: { stream_usage: false, system_as_user: true } },
    });
    endpoint.answers(says('Hi.'));
    await say(at, thread, 'hello');
    const last = endpoint.requests.at(-1);
    expect(last?.path).toBe('/openai/v9/chat/completions');
    expect(last?.headers.authorization).toBeUndefined();
    expect(last?.body).toMatchObject({ temperature: 0.1, max_tokens: 77 });
    expect(last?.body).not.toHaveProperty('stream_options');
    expect(messagesSent()).toEqual([{ role: 'user', content: 'You are brief.\n\nhello' }]);
  });
});

describe('an endpoint that cannot be reached', () => {
  it('is said at once: on the stream, on the thread, and in the log, with its host and the reason', async () => {
    const host = `127.0.0.1:${await freePort()}`;
    const thread = await talkingTo(`http://${host}/v1`, { api_key_secret: null });
    const stream = await openStream(at, thread);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'hello' });
    const first = (await stream.until(({ event }) => event === 'retrying')).at(-1);
    expect(first).toMatchObject({
      id: null,
      data: { attempt: 1, code: 'MODEL_FAILED', detail: expect.stringContaining('ECONNREFUSED'), host },
    });
    expect(Object.keys(first?.data).sort()).toEqual(['attempt', 'code', 'completion_id', 'detail', 'host', 'next_at']);
    const late = await openStream(at, thread, '?after=1');
    await late.until(({ event }) => event === 'retrying');
    const { json } = await at.request('GET', `/v1/threads/${thread}`);
    expect(json).toMatchObject({
      status: 'thinking',
      last_error: { code: 'MODEL_FAILED', detail: expect.stringContaining('ECONNREFUSED') },
      problems: [{ code: 'MODEL_RETRYING', detail: expect.stringContaining(host) }],
    });
    expect(at.output()).toMatch(new RegExp(`"host":"${host}","reason":"[^"]*ECONNREFUSED.*completion_retry`));
    for (const each of [stream, late]) each.close();
    await at.request('POST', `/v1/threads/${thread}/interrupt`);
    while ((await at.request('GET', `/v1/threads/${thread}`)).json.status === 'thinking');
    expect((await at.request('GET', `/v1/threads/${thread}`)).json).toMatchObject({ last_error: null, problems: [] });
  });
});
