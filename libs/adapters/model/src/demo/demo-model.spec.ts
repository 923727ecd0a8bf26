import { describe, expect, it } from 'vitest';
import { tenantId, type ModelPart, type ToolDefinition } from '@dormouse/ports';
import type { ModelMessage, ModelToolResult } from '@dormouse/thread';
import { completeDemo } from './demo-model.ts';

const schema = (
  properties: Record<string, unknown>,
  required: readonly string[] = [],
): ToolDefinition['inputSchema'] => ({ type: 'object', properties, required, additionalProperties: false });

const tools: readonly ToolDefinition[] = [
  {
    name: 'clock',
    description: 'Tells the current date and time in a time zone or a city.',
    inputSchema: schema({ zone: { type: 'string', description: 'IANA time zone or a city' } }),
  },
  {
    name: 'weather',
    description: 'Tells the weather of a city: temperature, rain and wind.',
    inputSchema: schema({ city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } }, [
      'city',
    ]),
  },
  {
    name: 'slow_job',
    description: 'Works for a while and then reports.',
    inputSchema: schema({ seconds: { type: 'number', minimum: 0, maximum: 3600, default: 5 } }, ['seconds']),
  },
  {
    name: 'roll_dice',
    description: 'Rolls dice.',
    inputSchema: schema({ count: { type: 'integer', minimum: 1, maximum: 10 }, sides: { type: 'integer' } }, ['count']),
  },
  {
    name: 'note',
    description: 'Keeps a note.',
    inputSchema: schema({ text: { type: 'string' }, pinned: { type: 'boolean' } }, ['text']),
  },
];

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

async function answer(
  messages: readonly ModelMessage[],
  offered = tools,
  instructions = '',
): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = [];
  const all = (): Promise<never> => Promise.reject(new Error('the demo model reads the last messages only'));
  const prompt = {
    length: messages.length,
    last: (count: number) => Promise.resolve(messages.slice(-count)),
    all,
  };
  const model = {
    provider: 'demo',
    name: '',
    baseUrl: null,
    apiKeySecret: null,
    contextWindowTokens: 1_000,
    outputTokensMax: null,
    images: false,
    parameters: {},
  };
  const request = {
    tenant: tenantId('acme'),
    thread: 'thr_1',
    completionId: 'cmp_1',
    ordinal: 0,
    model,
    instructions,
    prompt,
    tools: offered,
    signal: new AbortController().signal,
  };
  for await (const part of completeDemo(request)) parts.push(part);
  return parts;
}

const textOf = (parts: readonly ModelPart[]): string =>
  parts.map((part) => (part.part === 'text' ? part.text : '')).join('');

async function calls(text: string, offered = tools): Promise<readonly string[]> {
  const parts = await answer([user(text)], offered);
  return parts.flatMap((part) => (part.part === 'tool_call' ? [`${part.operation} ${part.arguments}`] : []));
}

async function afterResult(result: Partial<ModelToolResult>): Promise<string> {
  const full: ModelToolResult = {
    toolCallId: 'call_1',
    operation: 'weather',
    outcome: 'result',
    content: [{ type: 'text', text: 'Oslo: 4 °C, rain' }],
    ...result,
  };
  return textOf(await answer([user('Weather in Oslo?'), { role: 'tool', results: [full] }]));
}

describe('the demo model chooses a tool by the words of the message', () => {
  it.each([
    ['What is the weather in Lisbon?', ['weather {"city":"Lisbon"}']],
    ["what's the weather in oslo", ['weather {"city":"oslo"}']],
    ['Temperature in Rio de Janeiro, in fahrenheit please', ['weather {"city":"Rio de Janeiro","unit":"fahrenheit"}']],
    ['What time is it in Tokyo?', ['clock {"zone":"Tokyo"}']],
    ['What time is it?', ['clock {}']],
    ['clock for America/New_York', ['clock {"zone":"America/New_York"}']],
    ['Run a slow job of 3 seconds', ['slow_job {"seconds":3}']],
    ['start a 2-minute slow job', ['slow_job {"seconds":120}']],
    ['a slow job for half a minute', ['slow_job {"seconds":30}']],
    ['run the slow job', ['slow_job {"seconds":5}']],
    ['a slow job of 9 hours', ['slow_job {"seconds":3600}']],
    ['Roll two dice', ['roll_dice {"count":2}']],
    ['roll 3 dice with 20 sides', ['roll_dice {"count":3,"sides":20}']],
    ['Take a note: "buy milk", pinned', ['note {"text":"buy milk","pinned":true}']],
    ['Take a note: “buy milk”', ['note {"text":"buy milk"}']],
    ["Take a note: 'buy milk'", ['note {"text":"buy milk"}']],
  ])('%s', async (text, expected) => {
    expect(await calls(text)).toEqual(expected);
  });

  it('and several tools, in parallel, for a message that asks for several things', async () => {
    expect(await calls("What's the weather in Oslo and Paris?")).toEqual([
      'weather {"city":"Oslo"}',
      'weather {"city":"Paris"}',
    ]);
    expect(await calls('Roll 4 dice and tell me the weather in Rome.')).toEqual([
      'roll_dice {"count":4}',
      'weather {"city":"Rome"}',
    ]);
  });

  it('and of two that fit equally the one that is offered first, whichever is named first', async () => {
    const toolOf = (name: string): ToolDefinition => ({ name, description: '', inputSchema: schema({}) });
    const [rain, wind] = [toolOf('rain'), toolOf('wind')];
    for (const text of ['rain with wind', 'wind with rain']) {
      expect(await calls(text, [rain, wind])).toEqual(['rain {}']);
      expect(await calls(text, [wind, rain])).toEqual(['wind {}']);
    }
  });

  it('and a word that few descriptions have outweighs several that many have', async () => {
    const described = (name: string, description: string): ToolDefinition => ({
      name,
      description,
      inputSchema: schema({}),
    });
    const bank = [
      described('alpha', 'Opens an account for a customer.'),
      described('beta', 'Closes the account of a customer.'),
      described('gamma', 'Moves the account of a customer.'),
      described('delta', 'Computes a balance.'),
    ];
    const parts = await answer([user('customer account balance')], bank);
    expect(parts).toContainEqual(expect.objectContaining({ part: 'tool_call', operation: 'delta' }));
  });

  it('and never one that is not offered, whatever the message says', async () => {
    const parts = await answer([user('weather in Oslo')], []);
    expect(parts.some((part) => part.part === 'tool_call')).toBe(false);
  });
});

describe('the demo model answers', () => {
  it('in a sentence that uses the result', async () => {
    expect(await afterResult({})).toBe('weather says: Oslo: 4 °C, rain');
    expect(await afterResult({ content: [{ type: 'text', text: '{"sky":"clear","wind_ms":3}' }] })).toBe(
      'weather says: sky: clear, wind ms: 3',
    );
  });

  it('differently for every way a call can end', async () => {
    const outcomes = [
      'result',
      'error',
      'interrupted',
      'timed_out',
      'denied',
      'outcome_unknown',
      'still_running',
    ] as const;
    const sentences = await Promise.all(outcomes.map((outcome) => afterResult({ outcome })));
    expect(new Set(sentences).size).toBe(outcomes.length);
  });

  it('with what it can do when nothing matches', async () => {
    const said = textOf(await answer([user('Hello, how are you?')]));
    for (const tool of tools) expect(said).toContain(tool.name);
  });

  it('with what the runtime offers, with or without a tool server', async () => {
    const sleep = { name: 'sleep', description: 'Ends the turn. It goes on later.', inputSchema: schema({}) };
    for (const offered of [[sleep], [...tools, sleep]])
      expect(textOf(await answer([user('Hello, how are you?')], offered))).toContain('- sleep: Ends the turn.');
  });

  it('in a few chunks, and the same again when it is asked again', async () => {
    const once = await answer([user('Hello')]);
    expect(once.filter((part) => part.part === 'text').length).toBeGreaterThan(2);
    expect(once.at(-1)).toMatchObject({ part: 'finish', reason: 'stop' });
    expect(await answer([user('Hello')])).toEqual(once);
  });

  it('only to the last messages: an older question is not answered twice', async () => {
    const parts = await answer([
      user('Weather in Oslo?'),
      { role: 'assistant', text: 'Rain.', toolCalls: [] },
      user('thanks'),
    ]);
    expect(parts.some((part) => part.part === 'tool_call')).toBe(false);
  });
});

describe('the demo model counts what it answers (D6)', () => {
  const long = 'blah '.repeat(400);
  const instructions = 'Be kind to everybody.'; // 6 tokens
  const spoken: ModelMessage = { role: 'assistant', text: long, toolCalls: [] };
  const result = (toolCallId: string, text: string): ModelMessage => ({
    role: 'tool',
    results: [{ toolCallId, operation: 'weather', outcome: 'result', content: [{ type: 'text', text }] }],
  });
  async function tokens(...messages: readonly ModelMessage[]): Promise<number> {
    const finish = (await answer(messages, tools, instructions)).find((part) => part.part === 'finish');
    return finish?.usage.inputTokens ?? -1;
  }

  it.each<readonly [string, readonly ModelMessage[], number]>([
    ['a question, with what is asked along with it', [user('Hello you'), user('again')], 6 + 4],
    ['a question, and nothing before it', [user(long), spoken, user('Hello you')], 6 + 3],
    ['the results, and not the question', [user(long), spoken, result('call_1', 'Oslo: 4 °C')], 6 + 3],
    ['a note', [user(long), spoken, user('[timer] It is noon.')], 6 + 5],
    ['an event with its note', [spoken, result('call_event_1', 'It snows'), user('[event] of 1')], 6 + 3 + 2],
  ])('%s', async (_what, messages, expected) => {
    expect(await tokens(...messages)).toBe(expected);
  });
});
