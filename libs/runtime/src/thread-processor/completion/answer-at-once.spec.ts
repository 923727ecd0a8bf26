import { createManualClock } from '@dormouse/adapter-memory';
import type { Model, ModelConfig, ModelPart, ModelRequest } from '@dormouse/ports';
import { unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { TranscriptWindow } from '../transcript-window.ts';
import { type AnswerAtOnce, createAskAtOnce } from './answer-at-once.ts';

const clock = createManualClock();
const config = { provider: 'demo', name: 'quick' } as ModelConfig;
const finish: ModelPart = { part: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };

function ask(
  complete: Model['complete'],
  about: { readonly model?: ModelConfig | null; readonly atOnce?: Model['answersAtOnce'] } = {},
): Promise<AnswerAtOnce | null> | null {
  const { model = config, atOnce = () => true } = about;
  const askAtOnce = createAskAtOnce({
    model: { complete, answersAtOnce: atOnce },
    requests: { build: async (_order, signal) => ({ tools: [], signal }) as never, modelOf: () => model },
    validateArguments: null,
    answerId: (completionId) => `m:${completionId}`,
    settings: { completionBytesMax: 20 },
  });
  const thread = unopenedThread('acme', 'thr_1');
  const order = { completionId: 'cmp_1', thread, messages: new TranscriptWindow(0, 1_000), promptLength: 0 };
  return askAtOnce(order)?.() ?? null;
}

async function* saying(...texts: readonly string[]): AsyncIterable<ModelPart> {
  for (const text of texts) yield { part: 'text', text };
  yield finish;
}

describe('an answer that is there at once', () => {
  it('is the result under the id of its completion, with what people are shown of it', async () => {
    const answer = await ask(() => saying('It is ', 'sunny.'));
    expect(answer?.result).toMatchObject({
      kind: 'CompletionResult',
      id: 'm:cmp_1',
      text: 'It is sunny.',
      toolCalls: [],
    });
    expect(answer?.deltas.map(({ attempt, offset, text }) => [attempt, offset, text])).toEqual([
      [1, 0, 'It is '],
      [1, 6, 'sunny.'],
    ]);
  });

  it('is not asked for where the model does not answer at once, or is not known', () => {
    const asked = (): never => {
      throw new Error('asked');
    };
    expect(ask(asked, { atOnce: () => false })).toBeNull();
    expect(ask(asked, { model: null })).toBeNull();
    expect(ask(asked, { atOnce: asked })).toBeNull();
  });

  it('O1: is not waited for beyond this turn of the event loop', async () => {
    let isOver = false;
    const turn = new Promise((resolve) => setImmediate(resolve)).then(() => (isOver = true));
    const signals: AbortSignal[] = [];
    async function* slow({ signal }: ModelRequest): AsyncIterable<ModelPart> {
      signals.push(signal);
      await clock.sleep(10);
      yield finish;
    }
    expect(await ask(slow)).toBeNull();
    expect([isOver, signals[0]?.aborted]).toEqual([false, true]);
    await turn;
  });

  it('O2: is null when the model fails, stops in the middle, or says too much', async () => {
    async function* failing(): AsyncIterable<ModelPart> {
      yield { part: 'text', text: 'I' };
      throw new Error('no');
    }
    async function* stopping(): AsyncIterable<ModelPart> {
      yield { part: 'text', text: 'I' };
    }
    expect(await ask(failing)).toBeNull();
    expect(await ask(stopping)).toBeNull();
    expect(await ask(() => saying('more than twenty characters'))).toBeNull();
  });
});
