import { createManualClock } from '@dormouse/adapter-memory';
import type { Model, ModelConfig, ModelPart, ModelRequest } from '@dormouse/ports';
import { unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { TranscriptWindow } from '../transcript-window.ts';
import { type AnswerAtOnce, createAskAtOnce } from './answer-at-once.ts';

const clock = createManualClock();
const config = { provider: 'demo', name: 'quick' } as ModelConfig;
const finish: ModelPart = { part: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };

interface About {
  readonly model?: ModelConfig | null;
  readonly atOnce?: Model['answersAtOnce'];
  /** How long its request takes. */
  readonly buildMs?: number;
}

type Ask = () => Promise<AnswerAtOnce | null> | null;

function asker(complete: Model['complete'], about: About = {}): Ask {
  const { model = config, atOnce = () => true, buildMs = 0 } = about;
  const askAtOnce = createAskAtOnce({
    model: { complete, answersAtOnce: atOnce },
    requests: {
      build: async (_order, signal) => {
        if (buildMs > 0) await clock.sleep(buildMs);
        return { tools: [], signal } as never;
      },
      modelOf: () => model,
    },
    validateArguments: null,
    answerId: (completionId) => `m:${completionId}`,
    settings: { completionBytesMax: 20 },
  });
  const thread = unopenedThread('acme', 'thr_1');
  const order = { completionId: 'cmp_1', thread, messages: new TranscriptWindow(0, 1_000), promptLength: 0 };
  return () => askAtOnce(order)?.() ?? null;
}

const ask = (complete: Model['complete'], about: About = {}): ReturnType<Ask> => asker(complete, about)();

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

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
    const turn = nextTurn().then(() => (isOver = true));
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

  it('O1: is not asked for any more when its request took too long', async () => {
    let asked = 0;
    const late = ask(
      () => {
        asked += 1;
        return saying('late');
      },
      { buildMs: 10 },
    );
    expect(await late).toBeNull();
    await clock.advance(10);
    await nextTurn();
    expect(asked).toBe(0);
  });

  it('O1: shares its signal with what is asked in the same turn, and with nothing else', async () => {
    const signals: AbortSignal[] = [];
    let isSlow = false;
    const askOnce = asker(async function* ({ signal }) {
      signals.push(signal);
      if (isSlow) await clock.sleep(10);
      yield finish;
    });
    await Promise.all([askOnce(), askOnce()]);
    await nextTurn();
    await askOnce();
    await nextTurn();
    isSlow = true;
    await askOnce();
    expect(signals[1]).toBe(signals[0]);
    expect(new Set(signals).size).toBe(3);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false, true]);
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
