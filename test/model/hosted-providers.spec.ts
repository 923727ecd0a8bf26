// OpenAI and Anthropic as an agent's model, against a server that is as strict as they are.
import { createModel, type ProviderEnvironment } from '@dormouse/adapter-model';
import { type ModelConfig, ModelFault, type ModelPart, type ModelRequest } from '@dormouse/ports';
import { modelOf, modelRequestOf } from '@dormouse/testing';
import type { ModelMessage } from '@dormouse/thread';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProviderServer, startProviderServer } from './provider-server.ts';

const key = 'sk-canary-0123456789abcdef';
let server: ProviderServer;
beforeAll(async () => {
  server = await startProviderServer(key);
});
afterEach(() => {
  expect(server.refusals.splice(0)).toEqual([]);
});
afterAll(() => server.close());

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const tools: ModelRequest['tools'] = [
  { name: 'weather', description: 'Weather of a city', inputSchema: { type: 'object', required: ['city'] } },
  { name: 'deploy.service/v2', description: 'Deploys', inputSchema: {} },
];
const call = (toolCallId: string, operation: string, given: string) => ({
  toolCallId,
  operation,
  arguments: JSON.parse(given) as Record<string, unknown>,
});
const result = (toolCallId: string, operation: string, text: string) =>
  ({ toolCallId, operation, outcome: 'result', content: [{ type: 'text', text }] }) as const;

interface Asked {
  readonly messages?: readonly ModelMessage[];
  readonly model?: Partial<ModelConfig>;
  readonly tools?: ModelRequest['tools'];
  readonly secrets?: Readonly<Record<string, string>>;
  readonly environment?: ProviderEnvironment;
}

async function parts(provider: string, asked: Asked = {}): Promise<readonly ModelPart[]> {
  const { messages = [user('hello')], model: fields, secrets = { [provider]: key }, environment } = asked;
  const model = createModel({
    fetch: globalThis.fetch,
    secret: async (_tenant, name) => secrets[name] ?? null,
    environment: environment ?? {},
    blob: async () => null,
    clock: { now: () => 0, sleep: async () => {}, alarm: () => () => {} },
  });
  const config = modelOf({
    provider,
    name: 'some-model',
    baseUrl: server.url,
    outputTokensMax: 512,
    images: true,
    ...fields,
  });
  const said: ModelPart[] = [];
  const request = modelRequestOf(messages, { model: config, instructions: 'Be brief.', tools: asked.tools ?? [] });
  for await (const part of model.complete(request)) said.push(part);
  return said;
}

const textOf = (said: readonly ModelPart[], kind = 'text'): string =>
  said.flatMap((part) => (part.part === kind && 'text' in part ? [part.text] : [])).join('');

async function faultOf(provider: string, asked?: Asked): Promise<ModelFault> {
  const fault: unknown = await parts(provider, asked).then(
    () => null,
    (error: unknown) => error,
  );
  if (!(fault instanceof ModelFault)) throw new Error(`expected a ModelFault, got ${String(fault)}`);
  expect(fault.message).not.toContain(key);
  return fault;
}

const apis: readonly (readonly [string, Partial<ModelConfig>])[] = [
  ['openai', {}],
  ['openai', { parameters: { api: 'chat' } }],
  ['anthropic', {}],
];

describe.each(apis)('%s %o', (provider, model) => {
  it('answers in words, as they come, with the reason and what it counted', async () => {
    const said = await parts(provider, { model });
    expect(textOf(said)).toBe('heard: hello');
    expect(said.length).toBeGreaterThan(2);
    expect(said.at(-1)).toMatchObject({
      ...{ part: 'finish', reason: 'stop', usage: { inputTokens: 11, outputTokens: 7 } },
      details: { responseId: expect.any(String), responseModel: 'some-model' },
    });
  });

  it('is offered tools by names it takes, and calls two at once', async () => {
    const asked = [user('call weather {"city":"Oslo"}\ncall deploy_service_v2_00b10c72 {}')];
    const wire = await parts(provider, { model, tools, messages: asked });
    const names = JSON.stringify(server.requests.at(-1)?.body['tools']);
    expect(names).toContain('"weather"');
    expect(names).not.toContain('deploy.service/v2');
    expect(wire.filter(({ part }) => part === 'tool_call')).toMatchObject([
      { operation: 'weather', arguments: '{"city":"Oslo"}' },
      { operation: 'deploy.service/v2', arguments: '{}' },
    ]);
    expect(wire.at(-1)).toMatchObject({ part: 'finish', reason: 'tool_calls' });
  });

  it('reads results, placeholders, images and blank messages in a history that the provider takes', async () => {
    const png = 'iVBORw0KGgo=';
    const messages: readonly ModelMessage[] = [
      user(' '),
      {
        role: 'assistant',
        text: '',
        toolCalls: [call('call_1', 'weather', '{"city":"Oslo"}'), call('call_2', 'deploy.service/v2', '{}')],
      },
      {
        role: 'tool',
        results: [
          {
            ...result('call_1', 'weather', '2 °C'),
            content: [
              { type: 'text', text: '2 °C' },
              { type: 'image', mediaType: 'image/png', data: png },
            ],
          },
          { toolCallId: 'call_2', operation: 'deploy.service/v2', outcome: 'still_running', content: [] },
        ],
      },
      { role: 'assistant', text: 'It is cold.', toolCalls: [] },
      user('and now?'),
      user('hello?'),
    ];
    expect(textOf(await parts(provider, { model, tools, messages }))).toContain('hello?');
  });

  it('hands back the results of a call', async () => {
    const messages: readonly ModelMessage[] = [
      user('weather?'),
      { role: 'assistant', text: '', toolCalls: [call('call_1', 'weather', '{"city":"Oslo"}')] },
      { role: 'tool', results: [result('call_1', 'weather', '2 °C')] },
    ];
    expect(textOf(await parts(provider, { model, tools, messages }))).toBe('results: 2 °C');
  });

  it('begins with an event, in a child that a subscription opened', async () => {
    const messages: readonly ModelMessage[] = [
      { role: 'assistant', text: '', toolCalls: [call('call_1', 'weather', '{}')] },
      { role: 'tool', results: [result('call_1', 'weather', 'it rains')] },
    ];
    expect(textOf(await parts(provider, { model, tools, messages }))).toBe('results: it rains');
  });

  it('a prompt beyond the window is an overflow, which is not tried again', async () => {
    const openai = {
      error: { message: "This model's maximum context length is 128000 tokens.", code: 'context_length_exceeded' },
    };
    const anthropic = {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    };
    server.refuseNext(400, provider === 'openai' ? openai : anthropic);
    expect(await faultOf(provider, { model })).toMatchObject({
      code: 'CONTEXT_OVERFLOW',
      retryable: false,
      status: 400,
    });
    server.refuseNext(413, { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } });
    expect(await faultOf(provider, { model })).toMatchObject({ code: 'CONTEXT_OVERFLOW', retryable: false });
  });

  it.each([
    [429, 'MODEL_FAILED', true],
    [529, 'MODEL_FAILED', true],
    [503, 'MODEL_FAILED', true],
    [400, 'MODEL_FAILED', false],
    [403, 'MODEL_REFUSED', false],
  ])('a %i is %s, worth another try: %s', async (status, code, retryable) => {
    server.refuseNext(
      status,
      { error: { message: 'rate limit of 30000 tokens per minute: too many tokens' } },
      { 'retry-after': '3' },
    );
    const expected = status === 400 ? { retryable } : { code, retryable, status };
    expect(await faultOf(provider, { model })).toMatchObject(expected);
  });

  it('a wrong key is refused', async () => {
    expect(await faultOf(provider, { model, secrets: { [provider]: 'sk-other-1234567' } })).toMatchObject({
      code: 'MODEL_REFUSED',
      status: 401,
    });
  });

  it('without a key the next step is said, and nothing is sent', async () => {
    const before = server.requests.length;
    const fault = await faultOf(provider, { model, secrets: {} });
    expect(fault).toMatchObject({ code: 'MODEL_FAILED', retryable: false });
    expect(fault.message).toContain(`dormouse secrets set ${provider}`);
    expect(server.requests.length).toBe(before);
  });

  it('H1 the key of the environment goes to the standard address and nowhere else', async () => {
    const here = { [provider]: { key, baseUrl: server.url } };
    expect(textOf(await parts(provider, { model: { ...model, baseUrl: null }, secrets: {}, environment: here }))).toBe(
      'heard: hello',
    );
    const elsewhere = { [provider]: { key, baseUrl: null } };
    const before = server.requests.length;
    expect((await faultOf(provider, { model, secrets: {}, environment: elsewhere })).message).toContain(
      'may not be sent',
    );
    expect(server.requests.length).toBe(before);
  });

  it('H2 a secret that the agent names comes before the one of the provider, and that before the environment', async () => {
    const environment = { [provider]: { key: 'sk-env-12345678', baseUrl: server.url } };
    const named = { ...model, apiKeySecret: 'mine' };
    const secrets = { mine: key, [provider]: 'sk-wrong-1234567' };
    expect(textOf(await parts(provider, { model: named, secrets, environment }))).toBe('heard: hello');
    expect(textOf(await parts(provider, { model, secrets: { [provider]: key }, environment }))).toBe('heard: hello');
  });
});

describe('parameters', () => {
  it('are the options of the provider, in either spelling', async () => {
    await parts('openai', { model: { name: 'o3', parameters: { reasoning_effort: 'low' } } });
    expect(server.requests.at(-1)?.body).toMatchObject({ reasoning: { effort: 'low' } });
    await parts('openai', { model: { parameters: { temperature: 0.5, nothing: null } } });
    expect(server.requests.at(-1)?.body).toMatchObject({ temperature: 0.5 });
  });

  it('N1 thinking is asked for, and not while results are handed back', async () => {
    const model = { outputTokensMax: 4_096, parameters: { thinking: { type: 'enabled', budgetTokens: 1_024 } } };
    const said = await parts('anthropic', { model, messages: [user('think about it')] });
    expect(textOf(said, 'reasoning')).toBe('Let me think.');
    const messages: readonly ModelMessage[] = [
      user('weather?'),
      { role: 'assistant', text: '', reasoning: 'Let me think.', toolCalls: [call('call_1', 'weather', '{}')] },
      { role: 'tool', results: [result('call_1', 'weather', '2 °C')] },
    ];
    expect(textOf(await parts('anthropic', { model, tools, messages }))).toBe('results: 2 °C');
  });
});
