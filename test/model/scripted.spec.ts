import { describe, expect, it } from 'vitest';
import { createManualClock } from '@dormouse/adapter-memory';
import { createModel, modelSettingProblems } from '@dormouse/adapter-model';
import type { ModelConfig, ModelPart, ModelRequest } from '@dormouse/ports';
import { modelOf, modelRequestOf } from '@dormouse/testing';
import type { ModelMessage } from '@dormouse/thread';

const clock = createManualClock();
const model = createModel({
  fetch: globalThis.fetch,
  environment: {},
  secret: () => Promise.reject(new Error('no secret is needed')),
  blob: () => Promise.resolve(null),
  clock,
});

const config = (script: unknown): ModelConfig => modelOf({ parameters: { script } });

function request(script: unknown, ordinal: number, signal = new AbortController().signal): ModelRequest {
  const messages: readonly ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'the last message' }] }];
  return modelRequestOf(messages, { completionId: `cmp_${ordinal}`, ordinal, model: config(script), signal });
}

async function play(asked: ModelRequest): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.complete(asked)) parts.push(part);
  return parts;
}

const script = [
  [
    { reasoning: 'Let me see.' },
    { text: 'One moment.' },
    { tool_call: { name: 'weather', arguments: { city: 'Oslo' } } },
    { tool_call: { name: 'clock' } },
  ],
  [{ tool_call: { name: 'weather', arguments: 'not json' } }],
  [{ text: 'Rain.' }],
];

describe('the scripted model', () => {
  it('plays the n-th list for the n-th completion', async () => {
    const first = await play(request(script, 0));
    expect(first.filter((part) => part.part !== 'tool_input')).toMatchObject([
      { part: 'reasoning', text: 'Let me see.' },
      { part: 'text', text: 'One moment.' },
      { part: 'tool_call', operation: 'weather', arguments: '{"city":"Oslo"}' },
      { part: 'tool_call', operation: 'clock', arguments: '{}' },
      { part: 'finish', reason: 'tool_calls' },
    ]);
    const ids = first.flatMap((part) => (part.part === 'tool_call' ? [part.providerCallId] : []));
    expect(new Set(ids).size).toBe(2);
    expect(await play(request(script, 2))).toMatchObject([
      { part: 'text', text: 'Rain.' },
      { part: 'finish', reason: 'stop' },
    ]);
  });

  it('says arguments that are no JSON as they are', async () => {
    expect(await play(request(script, 1))).toContainEqual(
      expect.objectContaining({ part: 'tool_call', arguments: 'not json' }),
    );
  });

  it('repeats the last message it sees past the end, and without a script', async () => {
    expect((await play(request(script, 3)))[0]).toEqual({ part: 'text', text: 'the last message' });
    expect((await play(request(undefined, 0)))[0]).toEqual({ part: 'text', text: 'the last message' });
  });

  it('waits by the clock it was given', async () => {
    let ended = false;
    const playing = play(request([[{ wait_ms: 5_000 }, { text: 'late' }]], 0)).then((parts) => {
      ended = true;
      return parts;
    });
    await clock.advance(4_999);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(await playing).toMatchObject([{ text: 'late' }, { part: 'finish' }]);
  });

  it('stops waiting when it is aborted, with the reason', async () => {
    const abort = new AbortController();
    const playing = play(request([[{ wait_ms: 60_000 }]], 0, abort.signal));
    await clock.advance(10);
    abort.abort(new Error('superseded'));
    await expect(playing).rejects.toThrow('superseded');
  });

  it.each([
    [429, 'MODEL_FAILED', true],
    [500, 'MODEL_FAILED', true],
    [503, 'MODEL_FAILED', true],
    [400, 'MODEL_FAILED', false],
    [401, 'MODEL_REFUSED', false],
    [403, 'MODEL_REFUSED', false],
  ])('fails with status %i as %s, retryable: %s', async (status, code, retryable) => {
    await expect(play(request([[{ text: 'Half' }, { fail: { status } }]], 0))).rejects.toMatchObject({
      code,
      retryable,
      status,
    });
  });

  it('refuses a script it cannot read, at once and by pointer', async () => {
    await expect(play(request([[{ txet: 'x' }]], 0))).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: false });
    expect(modelSettingProblems(config([[{ text: 'x' }], [{ txet: 'x' }]]))).toMatchObject([
      { pointer: '/parameters/script/1/0' },
    ]);
  });
});

describe('settings of a model', () => {
  const endpoint = {
    ...config(undefined),
    provider: 'openai-compatible',
    name: 'm',
    baseUrl: 'https://llm.example/v1',
  };

  it('are judged before anything is asked', () => {
    expect(modelSettingProblems({ ...endpoint, parameters: { compatibility: { short_call_ids: true } } })).toEqual([]);
    expect(modelSettingProblems({ ...endpoint, provider: 'nobody' })).toMatchObject([{ pointer: '/provider' }]);
    expect(modelSettingProblems({ ...endpoint, name: '', baseUrl: null })).toMatchObject([
      { pointer: '/name' },
      { pointer: '/base_url' },
    ]);
    expect(modelSettingProblems({ ...endpoint, baseUrl: 'ftp://x' })).toMatchObject([{ pointer: '/base_url' }]);
    expect(modelSettingProblems({ ...endpoint, parameters: { compatibility: { short_call_ids: 1 } } })).toMatchObject([
      { pointer: '/parameters/compatibility/short_call_ids' },
    ]);
  });
});
