import type { Model, ModelConfig, ModelPart, RequestAtHand } from '@dormouse/ports';
import { type CompletionResult, unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { TranscriptWindow } from '../transcript-window.ts';
import { createAskAtOnce } from './answer-at-once.ts';
import type { ValidateArguments } from './call-arguments.ts';

const config = { provider: 'demo', name: 'quick' } as ModelConfig;
const work = { name: 'work', description: '', inputSchema: {} };
const finish: ModelPart = { part: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
const call: ModelPart = { part: 'tool_call', providerCallId: 'p1', operation: 'work', arguments: '{}' };

interface About {
  readonly model?: ModelConfig | null;
  readonly atOnce?: Model['answersAtOnce'];
  /** Whether everything that its request needs is in memory. */
  readonly isAtHand?: boolean;
  readonly validate?: ValidateArguments;
}

/** Null where it is not asked. */
function ask(
  answer: (request: RequestAtHand) => readonly ModelPart[] | null,
  { model = config, atOnce = () => answer, isAtHand = true, validate }: About = {},
): CompletionResult | null {
  const askAtOnce = createAskAtOnce({
    model: { answersAtOnce: atOnce },
    requests: { atHand: () => (isAtHand ? ({ tools: [work] } as never) : null), modelOf: () => model },
    validateArguments: validate ?? null,
    answerId: (completionId) => `m:${completionId}`,
    settings: { completionBytesMax: 20 },
  });
  const thread = unopenedThread('acme', 'thr_1');
  const order = { completionId: 'cmp_1', thread, messages: new TranscriptWindow(0, 1_000), promptLength: 0 };
  return askAtOnce(order);
}

const saying =
  (...texts: readonly string[]) =>
  (): readonly ModelPart[] => [...texts.map((text): ModelPart => ({ part: 'text', text })), finish];

const never = (): never => {
  throw new Error('asked');
};

describe('an answer that is there at once', () => {
  it('is the result under the id of its completion', () => {
    expect(ask(saying('It is ', 'sunny.'))).toMatchObject({
      kind: 'CompletionResult',
      id: 'm:cmp_1',
      text: 'It is sunny.',
      toolCalls: [],
    });
  });

  it('is not asked for where the model does not answer at once, or is not known', () => {
    expect(ask(never, { atOnce: () => null })).toBeNull();
    expect(ask(never, { model: null })).toBeNull();
    expect(ask(saying('ok'), { atOnce: never })).toBeNull();
  });

  it('O1: is not asked for where something would have to be read first', () => {
    let asked = 0;
    const counting = (): readonly ModelPart[] => {
      asked += 1;
      return [finish];
    };
    expect(ask(counting, { isAtHand: false })).toBeNull();
    expect(asked).toBe(0);
    expect(ask(counting)).not.toBeNull();
  });

  it('O1: does not wait for a schema', () => {
    const calling = (): readonly ModelPart[] => [call, finish];
    const judged = (validate: ValidateArguments): unknown => ask(calling, { validate })?.toolCalls;
    expect(judged(() => null)).toMatchObject([{ operation: 'work', problem: null }]);
    expect(judged(() => 'arguments: no')).toMatchObject([{ operation: 'work', problem: 'arguments: no' }]);
    let begun = 0;
    const slow = async (): Promise<null> => {
      begun += 1;
      return null;
    };
    expect(judged(() => slow)).toBeUndefined();
    expect(begun).toBe(0);
  });

  it('O2: is null when the model fails, has to be asked, stops in the middle, or says too much', () => {
    expect(ask(never)).toBeNull();
    expect(ask(() => null)).toBeNull();
    expect(ask(() => [{ part: 'text', text: 'I' }])).toBeNull();
    expect(ask(saying('more than twenty characters'))).toBeNull();
  });
});
