import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createModel } from '@dormouse/adapter-model';
import { Fault, ModelFault, type ModelConfig, type ModelPart, type ModelRequest } from '@dormouse/ports';
import { modelOf, modelRequestOf } from '@dormouse/testing';
import type { ModelMessage } from '@dormouse/thread';
import { answersWith, type ChatServer, chunk, done, startChatServer, streams, usage } from './chat-server.ts';

const key = 'canary-0123456789abcdef';
let server: ChatServer;

beforeAll(async () => {
  server = await startChatServer();
});
afterAll(() => server.close());

const asked: readonly ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'Weather in Oslo?' }] }];
const origins: string[] = [];

const model = createModel({
  fetch: globalThis.fetch,
  environment: {},
  secret: async (_tenant, _name, origin) => {
    origins.push(origin);
    return key;
  },
  blob: async (_tenant, sha256) =>
    sha256 === 'b10b'
      ? { bytes: new TextEncoder().encode('a long text from the blob store'), mediaType: 'text/plain' }
      : null,
  clock: { now: () => 0, sleep: async () => {}, alarm: () => () => {} },
});

interface Asked {
  readonly messages?: readonly ModelMessage[];
  readonly model?: Partial<ModelConfig>;
  readonly tools?: ModelRequest['tools'];
  readonly signal?: AbortSignal;
  readonly instructions?: string;
}

function request(given: Asked = {}): ModelRequest {
  const { messages = asked, model: fields, instructions = 'Be brief.', ...more } = given;
  const model = modelOf({
    ...{ provider: 'openai-compatible', name: 'some-model', baseUrl: `${server.url}/v1`, apiKeySecret: 'llm_key' },
    ...{ contextWindowTokens: 8_000, outputTokensMax: 512, images: true },
    ...fields,
  });
  return modelRequestOf(messages, { model, instructions, ...more });
}

async function parts(given: Asked = {}): Promise<readonly ModelPart[]> {
  const said: ModelPart[] = [];
  for await (const part of model.complete(request(given))) said.push(part);
  return said;
}

async function faultOf(given: Asked = {}): Promise<ModelFault> {
  const fault = await parts(given).then(
    () => null,
    (error: unknown) => error,
  );
  if (!(fault instanceof ModelFault)) throw new Error(`expected a ModelFault, got ${String(fault)}`);
  return fault;
}

const sent = (): Record<string, unknown> => server.requests.at(-1)?.body ?? {};

const hello = streams(
  chunk({ role: 'assistant', content: 'Hel' }),
  chunk({ content: 'lo.' }),
  chunk({}, 'stop'),
  usage(11, 3),
  done,
);

describe('a completion of an OpenAI-compatible endpoint', () => {
  it('streams text as it arrives and ends with the reason and the usage', async () => {
    server.answers(hello);
    expect(await parts()).toEqual([
      { part: 'text', text: 'Hel' },
      { part: 'text', text: 'lo.' },
      { part: 'finish', reason: 'stop', usage: { inputTokens: 11, outputTokens: 3 }, details: expect.anything() },
    ]);
  });

  it('asks the configured model at the configured address with the key of its origin', async () => {
    server.answers(hello);
    await parts();
    const last = server.requests.at(-1);
    expect(last?.path).toBe('/v1/chat/completions');
    expect(last?.headers.authorization).toBe(`Bearer ${key}`);
    expect(origins.at(-1)).toBe(server.url);
    expect(sent()).toMatchObject({
      model: 'some-model',
      stream: true,
      max_tokens: 512,
      stream_options: { include_usage: true },
    });
    expect(sent()['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather in Oslo?' },
    ]);
    expect(sent()).not.toHaveProperty('tools');
  });

  it('sends no authorization where no key is configured, and keeps a query of the base URL', async () => {
    server.answers(hello);
    await parts({ model: { apiKeySecret: null, baseUrl: `${server.url}/deployments/x/?api-version=7` } });
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
    expect(server.requests.at(-1)?.path).toBe('/deployments/x/chat/completions?api-version=7');
  });

  it('sends every parameter as it is, and null leaves a field out', async () => {
    server.answers(hello);
    await parts({
      model: {
        parameters: {
          temperature: 0.2,
          max_tokens: null,
          max_completion_tokens: 9,
          chat_template_kwargs: { thinking: false },
          model: 'other',
          stream: false,
        },
      },
    });
    expect(sent()).toMatchObject({
      temperature: 0.2,
      max_completion_tokens: 9,
      chat_template_kwargs: { thinking: false },
      model: 'some-model',
      stream: true,
    });
    expect(sent()).not.toHaveProperty('max_tokens');
  });

  it('passes reasoning on, and estimates tokens for an endpoint that counts none', async () => {
    server.answers(streams(chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'Yes.' }), chunk({}, 'stop'), done));
    expect(await parts({ model: { parameters: { compatibility: { stream_usage: false } } } })).toEqual([
      { part: 'reasoning', text: 'Hm.' },
      { part: 'text', text: 'Yes.' },
      { part: 'finish', reason: 'stop', usage: { inputTokens: 0, outputTokens: 2 }, details: expect.anything() },
    ]);
    expect(sent()).not.toHaveProperty('stream_options');
  });

  it('understands an endpoint that does not stream, and asks it so where that is configured', async () => {
    const message = {
      role: 'assistant',
      content: 'Whole.',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
    };
    const whole = {
      id: 'c',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 5, completion_tokens: 6 },
    };
    server.answers(answersWith(200, whole));
    expect(await parts({ model: { parameters: { compatibility: { stream: false } } } })).toEqual([
      { part: 'text', text: 'Whole.' },
      { part: 'tool_input', index: 0, text: '{"city":"Oslo"}' },
      { part: 'tool_call', providerCallId: 'a', operation: 'weather', arguments: '{"city":"Oslo"}' },
      { part: 'finish', reason: 'tool_calls', usage: { inputTokens: 5, outputTokens: 6 }, details: expect.anything() },
    ]);
    expect(sent()).toMatchObject({ stream: false });
    expect(sent()).not.toHaveProperty('stream_options');
    server.answers(answersWith(200, { error: { message: 'no such model', type: 'invalid_request_error' } }));
    expect(await faultOf()).toMatchObject({
      retryable: false,
      message: expect.stringContaining('no such model') as string,
    });
    server.answers(answersWith(200, '<html>'));
    expect(await faultOf()).toMatchObject({ code: 'MODEL_FAILED', retryable: true });
  });

  it('survives characters and lines that are split anywhere between two packets', async () => {
    const bytes = new TextEncoder().encode(chunk({ content: 'Zürich 🌦 ok' }) + chunk({}, 'stop') + done);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.slice(at * 7, at * 7 + 7));
    server.answers(streams(...pieces));
    const text = (await parts()).map((part) => (part.part === 'text' ? part.text : '')).join('');
    expect(text).toBe('Zürich 🌦 ok');
  });
});

describe('tool calls', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tools = [
    { name: 'weather', description: 'Weather of a city', inputSchema: schema },
    { name: `very-${'long-'.repeat(20)}name`, description: 'Long', inputSchema: {} },
    { name: 'files.read', description: 'Dotted', inputSchema: schema },
  ];

  it('come in parallel, from interleaved deltas, in the order of their indexes', async () => {
    server.answers(
      streams(
        chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'weather', arguments: '' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
        chunk({
          tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'weather', arguments: '{"ci' } }],
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: 'ty":"Rome"}' } }] }),
        chunk({}, 'tool_calls'),
        done,
      ),
    );
    const said = await parts({ tools });
    expect(said.filter((part) => part.part === 'tool_call')).toEqual([
      { part: 'tool_call', providerCallId: 'a', operation: 'weather', arguments: '{"city":"Oslo"}' },
      { part: 'tool_call', providerCallId: 'b', operation: 'weather', arguments: '{"city":"Rome"}' },
    ]);
    const inputOf = (index: number): string =>
      said.map((part) => (part.part === 'tool_input' && part.index === index ? part.text : '')).join('');
    expect([inputOf(0), inputOf(1)]).toEqual(['{"city":"Oslo"}', '{"city":"Rome"}']);
    expect(said.at(-1)).toMatchObject({ part: 'finish', reason: 'tool_calls' });
  });

  it('carry names the provider allows, and come back under their own', async () => {
    server.answers(hello);
    await parts({ tools });
    const offered = (
      sent()['tools'] as readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[]
    ).map((tool) => tool.function);
    expect(offered[0]?.name).toBe('weather');
    for (const tool of offered) expect(tool.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(offered.map((tool) => tool.name)).size).toBe(3);
    expect(offered[1]?.parameters).toEqual({ type: 'object', properties: {} });

    server.answers(
      streams(
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: offered[2]?.name, arguments: '' } }] }),
        chunk({}, 'tool_calls'),
        done,
      ),
    );
    const [call] = (await parts({ tools })).filter((part) => part.part === 'tool_call');
    expect(call).toMatchObject({ operation: 'files.read', arguments: '{}' });
  });

  it('that were not offered come back as the model said them', async () => {
    server.answers(
      streams(
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'nonsense', arguments: 'not json' } }] }),
        chunk({}, 'tool_calls'),
        done,
      ),
    );
    expect((await parts({ tools })).filter((part) => part.part === 'tool_call')).toMatchObject([
      { operation: 'nonsense', arguments: 'not json' },
    ]);
  });

  it('of the history are sent back with their results in order, errors as text', async () => {
    server.answers(hello);
    await parts({ messages: history });
    expect(sent()['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Look.\n\nAnd again.' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'call_2', type: 'function', function: { name: 'camera', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Error: interrupted before the tool answered.' },
      {
        role: 'tool',
        tool_call_id: 'call_2',
        content: 'a long text from the blob store\n[image image/png, follows in the next message]',
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[The image that camera returned]' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'text', text: 'Well?' },
        ],
      },
    ]);
  });

  it('R45 a model without image input never gets an image, only a placeholder', async () => {
    server.answers(hello);
    await parts({ messages: history, model: { images: false } });
    const text = JSON.stringify(sent());
    expect(text).not.toContain('iVBORw0KGgo');
    expect(text).toContain('[image image/png, not shown: this model takes no images]');
    expect(text).toContain('a long text from the blob store');
  });

  it('have ids of nine characters, and the instructions are a user message, where the endpoint wants it so', async () => {
    server.answers(hello);
    await parts({
      messages: history,
      model: { images: false, parameters: { compatibility: { short_call_ids: true, system_as_user: true } } },
    });
    const messages = sent()['messages'] as readonly {
      readonly role: string;
      readonly tool_calls?: readonly { readonly id: string }[];
      readonly tool_call_id?: string;
    }[];
    const ids = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.id);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9]{9}$/);
    expect(messages.filter((message) => message.role === 'tool').map((message) => message.tool_call_id)).toEqual(ids);
    expect(messages[0]).toEqual({ role: 'user', content: 'Be brief.\n\nLook.\n\nAnd again.' });
  });

  it('R76 name a call by its short id, and cancel the subscription that the runtime knows by the long one', async () => {
    const cancels = (id: string): Promise<readonly ModelPart[]> => {
      const call = { index: 0, id: 'x', type: 'function', function: { name: 'cancel_subscription', arguments: '' } };
      call.function.arguments = JSON.stringify({ tool_call_id: id });
      server.answers(
        streams(chunk({ role: 'assistant', tool_calls: [call] }), chunk({}, 'tool_calls'), usage(1, 1), done),
      );
      return parts({ messages: history, model: { parameters: { compatibility: { short_call_ids: true } } } });
    };
    server.answers(hello);
    await parts({ messages: history, model: { parameters: { compatibility: { short_call_ids: true } } } });
    const short = /"tool_calls":\[\{"id":"(\w{9})"/.exec(JSON.stringify(sent()))?.[1] ?? '';
    for (const id of [short, 'call_1'])
      expect(await cancels(id)).toContainEqual(
        expect.objectContaining({ part: 'tool_call', arguments: '{"tool_call_id":"call_1"}' }),
      );
    expect(await cancels('unknown')).toContainEqual(
      expect.objectContaining({ part: 'tool_call', arguments: '{"tool_call_id":"unknown"}' }),
    );
  });

  const history: readonly ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
    { role: 'assistant', text: '', toolCalls: [] },
    { role: 'user', content: [{ type: 'text', text: 'And again.' }] },
    {
      role: 'assistant',
      text: 'I look.',
      reasoning: 'secretly',
      toolCalls: [
        { toolCallId: 'call_1', operation: 'weather', arguments: { city: 'Oslo' } },
        { toolCallId: 'call_2', operation: 'camera', arguments: {} },
      ],
    },
    {
      role: 'tool',
      results: [
        { toolCallId: 'call_1', operation: 'weather', outcome: 'interrupted', content: [] },
        {
          toolCallId: 'call_2',
          operation: 'camera',
          outcome: 'result',
          content: [
            { type: 'text', blob: 'b10b', bytes: 31, preview: 'a long' },
            { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
          ],
        },
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'Well?' }] },
  ];
});

describe('a failure of the endpoint', () => {
  it('429 is retryable after the time it names', async () => {
    server.answers(answersWith(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }));
    expect(await faultOf()).toMatchObject({ code: 'MODEL_FAILED', retryable: true, status: 429, retryAfterMs: 7_000 });
  });

  it('500 and a page that is no JSON are retryable, and asked once', async () => {
    const before = server.requests.length;
    server.answers(answersWith(500, '<html>oops</html>'));
    expect(await faultOf()).toMatchObject({ code: 'MODEL_FAILED', retryable: true, status: 500, retryAfterMs: null });
    expect(server.requests.length).toBe(before + 1);
  });

  it('401 and 403 are refusals, and the key is in no word of them', async () => {
    for (const status of [401, 403]) {
      server.answers(answersWith(status, { error: { message: `Incorrect API key provided: ${key}.` } }));
      const fault = await faultOf();
      expect(fault).toMatchObject({ code: 'MODEL_REFUSED', retryable: false, status });
      expect(`${fault.message} ${fault.stack ?? ''} ${JSON.stringify(fault)}`).not.toContain('canary');
    }
  });

  it('404 and 400 are not retryable and say why', async () => {
    server.answers(answersWith(404, { error: { message: 'The model `some-model` does not exist' } }));
    expect(await faultOf()).toMatchObject({
      code: 'MODEL_FAILED',
      retryable: false,
      status: 404,
      message: expect.stringContaining('does not exist') as string,
    });
    server.answers(answersWith(400, { error: { message: 'blocked', code: 'content_filter' } }));
    expect(await faultOf()).toMatchObject({ code: 'MODEL_REFUSED', retryable: false });
  });

  it('an answer withheld by a content filter is a refusal; one cut short by it is not', async () => {
    server.answers(streams(chunk({}, 'content_filter'), done));
    expect(await faultOf()).toMatchObject({ code: 'MODEL_REFUSED', retryable: false });
    server.answers(streams(chunk({ content: 'Well,' }), chunk({}, 'content_filter'), done));
    expect((await parts()).at(-1)).toMatchObject({ part: 'finish', reason: 'content_filter' });
  });

  it('a connection cut in the middle of the stream is retryable, and no finish was said', async () => {
    server.answers((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'Half' }), () => setTimeout(() => response.destroy(), 20));
    });
    const said: ModelPart[] = [];
    const fault = await (async () => {
      for await (const part of model.complete(request())) said.push(part);
    })().catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'MODEL_FAILED', retryable: true });
    expect(said).toEqual([{ part: 'text', text: 'Half' }]);
  });

  it('a stream that ends politely but without a reason is retryable too', async () => {
    server.answers(streams(chunk({ content: 'Half' })));
    expect(await faultOf()).toMatchObject({ code: 'MODEL_FAILED', retryable: true });
  });

  it('an error or garbage inside the stream is a fault, whatever follows', async () => {
    server.answers(
      streams(
        chunk({ content: 'Half' }),
        'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n',
        chunk({}, 'stop'),
        done,
      ),
    );
    expect(await faultOf()).toMatchObject({
      code: 'MODEL_FAILED',
      retryable: true,
      message: expect.stringContaining('overloaded') as string,
    });
    server.answers(streams('data: {not json\n\n', chunk({}, 'stop'), done));
    expect(await faultOf()).toMatchObject({ code: 'MODEL_FAILED', retryable: true });
  });

  it('an endpoint that is not there is retryable', async () => {
    expect(await faultOf({ model: { baseUrl: 'http://127.0.0.1:9/v1' } })).toMatchObject({
      code: 'MODEL_FAILED',
      retryable: true,
      status: null,
    });
  });

  it('an address that the guard forbids, a missing payload and a bad setting are told apart', async () => {
    const guarded = createModel({
      fetch: async () => {
        throw new Fault('OUTBOUND_FORBIDDEN', 'that address is not allowed');
      },
      environment: {},
      secret: async () => key,
      blob: async () => null,
      clock: { now: () => 0, sleep: async () => {}, alarm: () => () => {} },
    });
    await expect(async () => {
      for await (const _part of guarded.complete(request())) break;
    }).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      retryable: false,
      message: expect.stringContaining('OUTBOUND_FORBIDDEN') as string,
    });
    expect(
      await faultOf({ messages: [{ role: 'user', content: [{ type: 'text', blob: 'gone', bytes: 1, preview: '' }] }] }),
    ).toMatchObject({ retryable: true });
    expect(await faultOf({ model: { parameters: { compatibility: { nonsense: 1 } } } })).toMatchObject({
      retryable: false,
    });
  });
});

describe('an abort', () => {
  it('ends a stream at once with the reason, and closes the connection', async () => {
    let closed: Promise<void> = Promise.resolve();
    server.answers((response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'Half' }));
    });
    const abort = new AbortController();
    const reason = new Error('superseded');
    const ended = (async () => {
      for await (const part of model.complete(request({ signal: abort.signal })))
        if (part.part === 'text') abort.abort(reason);
    })();
    await expect(ended).rejects.toBe(reason);
    await closed;
  });

  it('before the first byte of the answer ends the request with the reason too', async () => {
    server.answers(() => {});
    const abort = new AbortController();
    const ended = parts({ signal: abort.signal });
    setTimeout(() => abort.abort(new Error('superseded')), 30);
    await expect(ended).rejects.toThrow('superseded');
  });

  it('by a reader that stops reading closes the connection', async () => {
    let closed: Promise<void> = Promise.resolve();
    server.answers((response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'Half' }));
    });
    for await (const part of model.complete(request())) if (part.part === 'text') break;
    await closed;
  });
});
